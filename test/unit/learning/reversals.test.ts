/** What is taken back of single sources, and what that makes of prices. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CellHistory } from "../../../src/learning/cohorts.ts";
import { clickCurves, DEFAULT_CURVES, MaturityTables, maturityAt } from "../../../src/learning/delay-curve.ts";
import { balanceOf } from "../../../src/learning/guards.ts";
import { learnNight } from "../../../src/learning/night.ts";
import { learnCurves } from "../../../src/learning/platform-delays.ts";
import { noReversals, type ReversalSums, reversalLevels } from "../../../src/learning/reversals.ts";
import { DEFAULT_SETTINGS, HISTORY_DAYS } from "../../../src/learning/settings.ts";
import { sizeClassOf } from "../../../src/learning/size-class.ts";
import { pairKey, sharedFactor } from "../../../src/learning/traffic.ts";

const TODAY = 20_000;
const DAYS = 90;
const PAYOUT = 10_000_000;
const EPC = 300_000;
const STANDS_DAYS = 25;

/** Of so many clicks a day, the sales of each: those older than 25 days are taken back, or none. */
function cellOf(publisher: string, source: string, clicks: number, sales: number, isTakenBack: boolean): CellHistory {
	const days = Array.from({ length: DAYS }, (_, age) => TODAY - 1 - age);
	const stands = (day: number) => !isTakenBack || TODAY - day <= STANDS_DAYS;
	return {
		cell: { campaign: "c", publisher, source, keyword: "", link: "homepage" },
		clicks: days.map((day) => ({ day, clicks, paidMicros: clicks * EPC })),
		earnings: days.filter(stands).map((day) => {
			return { day, sizeClass: sizeClassOf(PAYOUT), conversions: sales, netMicros: sales * PAYOUT };
		}),
		takenBack: days.filter((day) => !stands(day)).map((day) => ({ day, conversions: sales })),
	};
}

function learn(cells: readonly CellHistory[]) {
	const delays = cells.flatMap(({ cell: { publisher }, earnings, takenBack }) => [
		...[...earnings, ...takenBack].map(({ day, conversions }) => ({ publisher, day, lag: 0, arrivals: conversions, reversals: 0 })),
		...takenBack.map(({ day, conversions }) => ({ publisher, day, lag: STANDS_DAYS, arrivals: 0, reversals: conversions })),
	]);
	const terms = { id: "c", platform: "p", epcMicros: EPC, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map<string, number>() };
	const learned = learnNight({
		today: TODAY,
		settings: DEFAULT_SETTINGS,
		curves: new Map([["p", learnCurves(delays, TODAY)]]),
		campaigns: [{ terms, settings: DEFAULT_SETTINGS, lastBreak: null, cells }],
	});
	const own = learned.campaigns.get("c");
	return {
		learned,
		/** What is believed of a cell, as a part of the operator's number. */
		believed: ({ cell }: CellHistory) =>
			(own?.factors.campaign.factor ?? 1) * (own?.factors.publishers.get(cell.publisher)?.factor ?? 1) * sharedFactor(learned.shared, cell),
		balance: own?.balance,
	};
}

/** Honest clicks earn the operator's number: three of a hundred buy. */
const others = ["a", "b", "c"].map((name) => cellOf(name, name, 100, 3, false));
const own = cellOf("fraudster", "own", 100, 3, false);
const madeUp = cellOf("fraudster", "made up", 100, 15, true);

describe("unit: sales that one source makes up, and that are taken back after 25 days", () => {
	const { believed, learned } = learn([...others, own, madeUp]);

	it("are no earnings while they stand", () => {
		expect(believed(madeUp)).toBeLessThan(0.2);
		expect(learned.shared.sources.get(pairKey("fraudster", "made up"))?.reversalLevel).toBeGreaterThan(1.5);
	});

	it("cost other publishers nothing, and other sources of the same publisher little", () => {
		for (const cell of others) expect(Math.abs(believed(cell) - 1)).toBeLessThan(0.06);
		expect(believed(own)).toBeGreaterThan(0.85);
		expect(believed(own)).toBeLessThan(1.15);
	});

	it("do not cover what their clicks were paid", () => {
		const balance = learn([...others, own, madeUp]).balance;
		const honest = learn([...others, own]).balance;
		// Of 28 days, 25 have sales that stand: five times what the clicks were paid.
		const projected = (balance?.projectedMicros ?? 0) - (honest?.projectedMicros ?? 0);
		const paid = (balance?.paidMicros ?? 0) - (honest?.paidMicros ?? 0);
		expect(projected).toBeLessThan(paid / 2);
	});
});

it("unit: where nothing is taken back no source is read otherwise than its publisher", () => {
	const { learned, believed } = learn([...others, own]);
	for (const { reversalLevel } of learned.shared.sources.values()) expect(reversalLevel).toBeLessThanOrEqual(1);
	for (const cell of [...others, own]) expect(Math.abs(believed(cell) - 1)).toBeLessThan(0.05);
});

describe("unit: the levels of a publisher's sources", () => {
	const sums = (came: number, taken: number): ReversalSums => ({ came, awaited: came * 0.1, usual: came * 0.1, seen: taken });
	const levels = (sources: Record<string, ReversalSums>) => reversalLevels(new Map(Object.entries(sources)));

	it("are 1 without conversions, and near 1 where as much is taken back as is usual", () => {
		expect(levels({ a: noReversals() }).get("a")).toBe(1);
		expect(levels({ a: sums(1_000, 100), b: sums(4, 0) }).get("a")).toBeCloseTo(1, 1);
	});

	it("of a source of few conversions is as most of its publisher's are, however many one of them has", () => {
		const usual = levels({ a: sums(40, 4), b: sums(40, 4), c: sums(40, 4), few: sums(1, 0) });
		const beside = levels({ a: sums(40, 4), b: sums(40, 4), c: sums(40, 4), few: sums(1, 0), bad: sums(5_000, 5_000) });
		expect(beside.get("bad")).toBeGreaterThan(9);
		expect(beside.get("few")).toBeLessThan((usual.get("few") ?? 0) * 3.5);
		expect(beside.get("few")).toBeLessThan(4);
	});

	it("property: whatever is kept, they are numbers, and so is what is read by them", () => {
		const amount = fc.double({ min: -5, max: 10_000, noNaN: true });
		const source = fc.record({ came: amount, awaited: amount, usual: amount, seen: amount });
		fc.assert(
			fc.property(fc.dictionary(fc.string({ maxLength: 3 }), source), fc.nat({ max: HISTORY_DAYS }), (sources, age) => {
				for (const level of levels(sources).values()) {
					expect(level).toBeGreaterThanOrEqual(0);
					const known = maturityAt(clickCurves(DEFAULT_CURVES), age, level);
					expect(known).toBeGreaterThan(0);
					expect(known).toBeLessThanOrEqual(50.000_1);
				}
			}),
			{ numRuns: Number(process.env.PROPERTY_RUNS || 100) },
		);
	});
});

it("unit: what is yet to be taken back of earnings covers no payment", () => {
	const history = cellOf("p", "s", 10, 1, false);
	const curves = clickCurves({ ...DEFAULT_CURVES, arrivals: DEFAULT_CURVES.arrivals.map(() => 1) });
	const tables = new MaturityTables();
	const projected = (level: number) => balanceOf(history, TODAY, tables.of(curves, level), PAYOUT, 0, 0).projectedMicros;
	expect(projected(0)).toBe(28 * PAYOUT);
	expect(projected(5)).toBeLessThan(projected(1) * 0.75);
});
