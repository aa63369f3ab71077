/** Cap and step of publishing: neither blocks the other, whatever is aimed at. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextPublished, type Published, UNPUBLISHED } from "../../../src/learning/publish-step.ts";
import { DEFAULT_SETTINGS } from "../../../src/learning/settings.ts";
import { DAY_MS, HOUR_MS } from "../../../src/lib/time.ts";

const START = Date.UTC(2026, 0, 1);

/** Every hour's factor, for targets by day. */
function runHours(targets: readonly number[]): number[] {
	let published: Published = UNPUBLISHED;
	const factors: number[] = [];
	for (let hour = 0; hour < targets.length * 24; hour++) {
		published = nextPublished(published, targets[Math.floor(hour / 24)] ?? 1, START + hour * HOUR_MS, DEFAULT_SETTINGS) ?? published;
		factors.push(published.factor);
	}
	return factors;
}

describe("unit: publishing factors", () => {
	it("a factor arrives at a target far away, up and down, a day's limit at a time", () => {
		expect(runHours(Array(12).fill(3)).at(-1)).toBeGreaterThan(3 / 1.06);
		expect(runHours(Array(12).fill(0.1)).at(-1)).toBeLessThan(0.1 * 1.06);
		expect(runHours([3])[0]).toBe(1.25);
		expect(runHours([0.1])[0]).toBe(0.6);
	});

	it("less than a step is not published", () => {
		expect(nextPublished(UNPUBLISHED, 1.059, START, DEFAULT_SETTINGS)).toBeNull();
		expect(nextPublished(UNPUBLISHED, 1.06, START, DEFAULT_SETTINGS)?.factor).toBe(1.06);
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

	it("what is kept to decide stays short", () => {
		let published: Published = UNPUBLISHED;
		for (let hour = 0; hour < 500; hour++) {
			published = nextPublished(published, hour % 2 === 0 ? 5 : 0.2, START + hour * HOUR_MS, DEFAULT_SETTINGS) ?? published;
			expect(published.before.length).toBeLessThanOrEqual(24);
			expect(published.before.every(({ until }) => until > published.at - DAY_MS)).toBe(true);
		}
	});
});
