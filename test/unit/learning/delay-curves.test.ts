/** What is known of clicks by their age: curves stated, and curves learned from conversions. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DelayRow, OTHER_PUBLISHERS } from "../../../src/learning/cohorts.ts";
import { curveFault, DEFAULT_CURVES, LAG_EDGES, readStatedCurve } from "../../../src/learning/delay-curve.ts";
import { learnCurves } from "../../../src/learning/platform-delays.ts";
import { maturities, maturitiesOf } from "../../support/maturities.ts";

const TODAY = 20_000;

/** Days of clicks that each bring 100 conversions, by how many have come after this many days. */
function rowsOf(
	days: number,
	arrived: (lag: number) => number,
	reversedAfter: { lag: number; count: number } | null = null,
	publisher = OTHER_PUBLISHERS,
): DelayRow[] {
	const rows: DelayRow[] = [];
	for (let day = TODAY - days; day < TODAY; day++) {
		for (let lag = 0; lag < TODAY - day; lag++) {
			const arrivals = 100 * (arrived(lag) - (lag === 0 ? 0 : arrived(lag - 1)));
			const reversals = reversedAfter?.lag === lag ? reversedAfter.count : 0;
			rows.push({ publisher, day, lag, arrivals, reversals });
		}
	}
	return rows;
}

describe("unit: delay curves", () => {
	it.each([
		["no point", [], "needs at least one"],
		[
			"days that do not rise",
			[
				{ days: 2, part: 0.5 },
				{ days: 2, part: 0.6 },
			],
			"days of a delay curve must rise",
		],
		["a day of zero", [{ days: 0, part: 0.5 }], "days of a delay curve must rise"],
		[
			"parts that fall",
			[
				{ days: 1, part: 0.5 },
				{ days: 2, part: 0.4 },
			],
			"parts of a delay curve must rise",
		],
		[
			"parts that stay",
			[
				{ days: 1, part: 0.5 },
				{ days: 2, part: 0.5 },
			],
			"parts of a delay curve must rise",
		],
		["a part above one", [{ days: 1, part: 1.1 }], "parts of a delay curve must rise"],
		["nothing but zeros", [{ days: 1, part: 0 }], "must rise above 0"],
		["not a number", [{ days: 1, part: Number.NaN }], "parts of a delay curve must rise"],
	])("a stated curve with %s is refused", (_, curve, fault) => {
		expect(curveFault(curve)).toContain(fault);
	});

	it("a stated curve is read by days: a day's clicks are of every age of a day", () => {
		expect(
			curveFault([
				{ days: 1, part: 0.5 },
				{ days: 2, part: 1 },
			]),
		).toBeNull();
		const curve = readStatedCurve([
			{ days: 1, part: 0.5 },
			{ days: 2, part: 1 },
		]);
		expect(curve[0]).toBeCloseTo(0.25, 2);
		expect(curve[1]).toBeCloseTo(0.75, 2);
		expect(curve[2]).toBe(1);
	});

	it("without conversions the default stands", () => {
		const { arrivals, reversals } = learnCurves([], TODAY);
		for (const [at, part] of DEFAULT_CURVES.arrivals.entries()) expect(arrivals[at]).toBeCloseTo(part, 9);
		for (const [at, part] of DEFAULT_CURVES.reversals.entries()) expect(reversals[at]).toBeCloseTo(part, 9);
	});

	it("a slow platform is found out, from days that are too young to show all", () => {
		const slow = (lag: number) => Math.min(1, (lag + 1) / 31);
		const { arrivals } = learnCurves(rowsOf(100, slow), TODAY);
		for (const edge of LAG_EDGES) expect(Math.abs((arrivals[edge] ?? 0) - slow(edge))).toBeLessThan(0.02);
	});

	it("a platform that is slow so far is expected to be slow in what its history is too short to show", () => {
		const slow = (lag: number) => Math.min(1, (lag + 1) / 31);
		const { arrivals } = learnCurves(rowsOf(16, slow), TODAY);
		expect(DEFAULT_CURVES.arrivals[7]).toBeGreaterThan(0.8);
		expect(arrivals[7]).toBeLessThan(0.4);
		expect(arrivals[14]).toBeLessThan(0.75);
	});

	it("reversals that come late are known before all of them have come", () => {
		const { reversals } = learnCurves(
			rowsOf(100, () => 1, { lag: 20, count: 30 }),
			TODAY,
		);
		expect(reversals.at(-1)).toBeGreaterThan(0.27);
		expect(reversals.at(-1)).toBeLessThan(0.33);
	});

	it("once more is taken back of the newest clicks, what the older earned counts for less", () => {
		const before = rowsOf(100, () => 1, { lag: 5, count: 10 });
		const tripled = before.map((row) => (row.day >= TODAY - 20 && row.lag === 5 ? { ...row, reversals: 30 } : row));
		const [usual, now] = [learnCurves(before, TODAY), learnCurves(tripled, TODAY)];
		expect(usual.reversals.at(-1)).toBeCloseTo(0.1, 1);
		expect(now.reversals.at(-1)).toBeGreaterThan(0.22);
		expect(maturities(usual)[60]).toBeCloseTo(1, 1);
		expect(maturities(now)[60]).toBeGreaterThan(1.1);
	});

	it("a publisher whose sales are all taken back tells nothing of the others' clicks, and more of its sales no more", () => {
		const honest = Array.from({ length: 8 }, (_, at) => rowsOf(60, () => 1, { lag: 12, count: 10 }, `honest ${at}`)).flat();
		const fraud = rowsOf(60, () => 1, { lag: 10, count: 100 }, "fraud");
		const tenfold = fraud.map((row) => ({ ...row, arrivals: row.arrivals * 10, reversals: row.reversals * 10 }));
		const [before, after, worse] = [honest, [...honest, ...fraud], [...honest, ...tenfold]].map((rows) => learnCurves(rows, TODAY));
		for (const age of [0, 10, 20, 60]) {
			const own = maturitiesOf(before, "honest 0")[age] ?? 0;
			expect(Math.abs((maturitiesOf(after, "honest 0")[age] ?? 0) / own - 1)).toBeLessThan(0.02);
		}
		expect(maturitiesOf(after, "fraud")[0]).toBeCloseTo(2, 1);
		expect(after?.reversals.at(-1)).toBeLessThan(0.3);
		expect(worse?.reversals.at(-1)).toBeCloseTo(after?.reversals.at(-1) ?? 0, 9);
	});

	it("sales of one publisher that are taken back at once are not taken to be its platform's way", () => {
		// Four sales a day of each.
		const honest = ["a", "b", "c", "d", "e"]
			.flatMap((publisher) => rowsOf(100, () => 1, { lag: 12, count: 10 }, publisher))
			.map((row) => ({ ...row, arrivals: row.arrivals / 25, reversals: row.reversals / 25 }));
		const voided: DelayRow[] = [];
		for (let day = TODAY - 30; day < TODAY - 2; day++) {
			voided.push({ publisher: "f", day, lag: 0, arrivals: 5, reversals: 0 });
			voided.push({ publisher: "f", day, lag: TODAY - 2 - day, arrivals: 0, reversals: 5 });
		}
		const [before, after] = [honest, [...honest, ...voided]].map((rows) => learnCurves(rows, TODAY));
		expect(before?.reversals.at(-1)).toBeCloseTo(0.1, 1);
		expect(after?.reversals.at(-1)).toBeLessThan(0.25);
		// Of a publisher that is new nothing else is known, and what another's clicks have earned is known as before.
		const known = (curves: typeof after) => [maturities(curves ?? DEFAULT_CURVES), maturitiesOf(curves, "a")];
		for (const [at, parts] of known(after).entries()) {
			for (const age of [0, 14, 60]) expect(Math.abs((parts[age] ?? 0) / (known(before)[at]?.[age] ?? 0) - 1)).toBeLessThan(0.15);
		}
	});

	describe("three times as much taken back of the clicks of the last 20 days, of which a part has come", () => {
		const SINCE = 20;
		/** Four sales a day, of which a tenth is taken back in 5 to 24 days, or three times as many of the newest clicks. */
		const salesOf = (publisher: string, triples: boolean): DelayRow[] =>
			Array.from({ length: 100 }, (_, at) => TODAY - 100 + at).flatMap((day) => {
				const part = triples && day >= TODAY - SINCE ? 0.3 : 0.1;
				const taken = Array.from({ length: 20 }, (_, at) => ({ publisher, day, lag: at + 5, arrivals: 0, reversals: (4 * part) / 20 }));
				return [{ publisher, day, lag: 0, arrivals: 4, reversals: 0 }, ...taken.filter(({ lag }) => day + lag < TODAY)];
			});
		const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
		const curvesOf = (triples: (publisher: string) => boolean) =>
			learnCurves(
				names.flatMap((publisher) => salesOf(publisher, triples(publisher))),
				TODAY,
			);

		it("is known of the platform, and of each of its publishers", () => {
			const curves = curvesOf(() => true);
			expect(curves.reversals.at(-1)).toBeGreaterThan(0.2);
			// What older clicks have earned is 0.9 of what came, and 0.7 is to be left of what comes.
			for (const name of names) expect(maturitiesOf(curves, name)[60]).toBeGreaterThan(1.12);
		});

		it("is not taken for the platform's way where it is one publisher's", () => {
			const curves = curvesOf((publisher) => publisher === "a");
			expect(curves.reversals.at(-1)).toBeLessThan(0.14);
			expect(maturitiesOf(curves, "b")[60]).toBeLessThan(1.04);
		});
	});

	it("a publisher whose sales come at once does not make the others' clicks look ripe, and one of few sales is read by its platform", () => {
		const slow = (lag: number) => Math.min(1, (lag + 1) / 31);
		const honest = Array.from({ length: 8 }, (_, at) => rowsOf(60, slow, null, `honest ${at}`)).flat();
		const fast = rowsOf(60, () => 1, null, "fast").map((row) => ({ ...row, arrivals: row.arrivals * 100 }));
		const few = { publisher: "few", day: TODAY - 40, lag: 2, arrivals: 1, reversals: 0 };
		const curves = learnCurves([...honest, ...fast, few], TODAY);
		const known = (publisher: string, age: number) => maturitiesOf(curves, publisher)[age] ?? 0;
		for (const edge of [0, 5, 14]) {
			expect(Math.abs(known("honest 0", edge) - slow(edge))).toBeLessThan(0.05);
			expect(known("fast", edge)).toBeGreaterThan(0.9);
			expect(Math.abs((curves.arrivals[edge] ?? 0) - slow(edge))).toBeLessThan(0.25);
			expect(Math.abs(known("few", edge) - (curves.arrivals[edge] ?? 0))).toBeLessThan(0.1);
		}
	});

	it("whatever comes, curves rise to one and reversals stay below it", () => {
		const row = fc.record({
			publisher: fc.constantFrom("p", "q"),
			day: fc.integer({ min: TODAY - 119, max: TODAY }),
			lag: fc.integer({ min: 0, max: 130 }),
			arrivals: fc.integer({ min: -2, max: 50 }),
			reversals: fc.integer({ min: -2, max: 50 }),
		});
		fc.assert(
			fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
				const curves = learnCurves(rows, TODAY);
				for (const curve of [curves.arrivals, curves.reversals]) {
					for (const [at, part] of curve.entries()) {
						expect(part).toBeGreaterThanOrEqual(curve[at - 1] ?? 0);
						expect(part).toBeLessThanOrEqual(1);
					}
				}
				expect(curves.arrivals.at(-1)).toBe(1);
				for (const part of [curves, ...Object.values(curves.ofPublishers ?? {})].flatMap(maturities)) expect(part).toBeGreaterThan(0);
			}),
			{
				numRuns: Number(process.env.PROPERTY_RUNS || 40),
				// More taken back than came.
				examples: [
					[
						[
							{ publisher: "p", day: TODAY - 2, lag: 0, arrivals: -2, reversals: 3 },
							{ publisher: "p", day: TODAY - 119, lag: 0, arrivals: 0, reversals: 45 },
						],
					],
				],
			},
		);
	});
});
