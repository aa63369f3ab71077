/** Cap and step of publishing: neither blocks the other, whatever is aimed at. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isGuardMoved } from "../../../src/learning/guards.ts";
import { levelRules, nextPublished, type Published, renumberPublished, UNPUBLISHED } from "../../../src/learning/publish-step.ts";
import { DEFAULT_SETTINGS } from "../../../src/learning/settings.ts";
import type { FactorLevel } from "../../../src/lib/enums.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/time.ts";

/** As of a factor that may move as far as a whole price. */
const RULES = { ...DEFAULT_SETTINGS, finishes: false };
const START = Date.UTC(2026, 0, 1);

/** Every hour's factor, for targets by day. */
function runHours(targets: readonly number[]): number[] {
	let published: Published = UNPUBLISHED;
	const factors: number[] = [];
	for (let hour = 0; hour < targets.length * 24; hour++) {
		published = nextPublished(published, targets[Math.floor(hour / 24)] ?? 1, START + hour * HOUR_MS, RULES) ?? published;
		factors.push(published.factor);
	}
	return factors;
}

describe("unit: guards", () => {
	it.each([
		[0.995, false],
		[0.99, true],
		[1.02, false],
		[1.03, true],
	])("one that is to be %d of what is in force, by steps of three in a hundred: put there is %j", (part, isMoved) => {
		expect(isGuardMoved({ caution: 0.8, overpaid: 0.5 }, { caution: 0.8 * part, overpaid: 0.5 }, 0.0299)).toBe(isMoved);
	});
});

describe("unit: publishing factors", () => {
	it("a factor arrives at a target far away, up and down, a day's limit at a time", () => {
		expect(runHours(Array(12).fill(3)).at(-1)).toBeGreaterThan(3 / 1.06);
		expect(runHours(Array(12).fill(0.1)).at(-1)).toBeLessThan(0.1 * 1.06);
		expect(runHours([3])[0]).toBe(1.25);
		expect(runHours([0.1])[0]).toBe(0.6);
	});

	it("less than a step is not published", () => {
		expect(nextPublished(UNPUBLISHED, 1.059, START, RULES)).toBeNull();
		expect(nextPublished(UNPUBLISHED, 1.06, START, RULES)?.factor).toBe(1.06);
	});

	it("limits that the operator narrows hold it back, and move it nowhere that it is not going", () => {
		const risen = nextPublished(UNPUBLISHED, 3, START, RULES) ?? UNPUBLISHED;
		expect(risen.factor).toBe(1.25);
		expect(nextPublished(risen, 3, START + HOUR_MS, { ...RULES, rise: 1.1 })).toBeNull();
		expect(nextPublished(risen, 3, START + DAY_MS, { ...RULES, rise: 1.1 })?.factor).toBeCloseTo(1.375, 9);
		const fallen = nextPublished(UNPUBLISHED, 0.1, START, RULES) ?? UNPUBLISHED;
		expect(fallen.factor).toBe(0.6);
		for (const target of [0.1, 0.7])
			expect(nextPublished(fallen, target, START + HOUR_MS, { ...RULES, fall: 0.9 })?.factor ?? 0.6).toBeLessThanOrEqual(
				Math.max(0.6, target),
			);
	});

	it("no day moves it by more than the limits, and it always arrives", () => {
		const target = fc.double({ min: 0.02, max: 50, noNaN: true });
		fc.assert(
			fc.property(fc.array(target, { minLength: 1, maxLength: 12 }), target, (targets, last) => {
				const factors = runHours([...targets, ...Array(40).fill(last)]);
				for (const [hour, factor] of factors.entries()) {
					const day = factors.slice(Math.max(0, hour - 23), hour);
					expect(factor).toBeLessThanOrEqual(Math.min(...day, hour < 24 ? 1 : factor) * DEFAULT_SETTINGS.rise * (1 + 1e-9));
					expect(factor).toBeGreaterThanOrEqual(Math.max(...day, hour < 24 ? 1 : factor) * DEFAULT_SETTINGS.fall * (1 - 1e-9));
				}
				expect(Math.abs(Math.log((factors.at(-1) ?? 0) / last))).toBeLessThanOrEqual(Math.log(1.06) + 1e-9);
			}),
			{ numRuns: Number(process.env.PROPERTY_RUNS || 25) },
		);
	});

	const LEVELS = ["price", "campaign_publisher", "publisher", "source", "link"] as const satisfies readonly FactorLevel[];

	it("the factors of a price move it together by no more than a day's limits, and each arrives, however small a step a day it has", () => {
		const target = fc.double({ min: 0.02, max: 50, noNaN: true });
		const rules = fc.record({
			rise: fc.double({ min: 1.07, max: 3, noNaN: true }),
			fall: fc.double({ min: 0.2, max: 0.93, noNaN: true }),
			publishStep: fc.constant(0.06),
		});
		fc.assert(
			fc.property(fc.tuple(target, target, target, target, target), rules, (targets, given) => {
				const published: Published[] = LEVELS.map(() => UNPUBLISHED);
				const prices = [1];
				for (let hour = 0; hour < 24 * 1_200; hour += 6) {
					for (const [at, level] of LEVELS.entries()) {
						const before = published[at] ?? UNPUBLISHED;
						published[at] = nextPublished(before, targets[at] ?? 1, START + hour * HOUR_MS, levelRules(given, level)) ?? before;
					}
					prices.push(published.reduce((product, { factor }) => product * factor, 1));
					const day = prices.slice(-4);
					const price = day.at(-1) ?? 0;
					expect(price).toBeLessThanOrEqual(Math.min(...day) * given.rise * (1 + 1e-9));
					expect(price).toBeGreaterThanOrEqual(Math.max(...day) * given.fall * (1 - 1e-9));
				}
				for (const [at, { factor }] of published.entries()) {
					expect(Math.abs(Math.log(factor / (targets[at] ?? 0)))).toBeLessThanOrEqual(Math.log(1.06) + 1e-9);
				}
			}),
			{ numRuns: Number(process.env.PROPERTY_RUNS || 5) },
		);
	});

	it("a campaign's number that is three times too low is mended on the seventh day, and one that is three times too high on the sixth", () => {
		const daysTo = (target: number) => {
			let published: Published = UNPUBLISHED;
			for (let day = 1; ; day++) {
				published = nextPublished(published, target, START + day * DAY_MS, levelRules(DEFAULT_SETTINGS, "price")) ?? published;
				if (Math.abs(Math.log(published.factor / target)) < Math.log(1.06)) return day;
			}
		};
		expect(daysTo(3)).toBe(7);
		expect(daysTo(1 / 3)).toBe(6);
	});

	it("where its number is changed a price stays, with what its limits are reckoned from; one never published sets out where it goes", () => {
		const published: Published = { factor: 2, at: START, before: [{ factor: 1.6, until: START }], isUnderWay: true };
		expect(renumberPublished(published, 1, 3)).toEqual({ ...published, factor: 1, before: [{ factor: 0.8, until: START }] });
		expect([0.4, 0.7, 1.5].map((target) => renumberPublished(UNPUBLISHED, 0.5, target).factor)).toEqual([0.5, 0.7, 1]);
		expect([0.4, 1.5, 4].map((target) => renumberPublished(UNPUBLISHED, 2, target).factor)).toEqual([1, 1.5, 2]);
	});

	it("what is kept to decide stays short", () => {
		let published: Published = UNPUBLISHED;
		for (let hour = 0; hour < 500; hour++) {
			published = nextPublished(published, hour % 2 === 0 ? 5 : 0.2, START + hour * HOUR_MS, RULES) ?? published;
			expect(published.before.length).toBeLessThanOrEqual(24);
			expect(published.before.every(({ until }) => until > published.at - DAY_MS)).toBe(true);
		}
	});
});
