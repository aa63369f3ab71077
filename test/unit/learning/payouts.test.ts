/** How payouts count: up to a multiple of the campaign's mean, what is above shared, what is absurd not at all. */
import { describe, expect, it } from "vitest";
import type { EarningRow } from "../../../src/learning/cohorts.ts";
import {
	addLoading,
	countedPayout,
	loadingOf,
	logMean,
	measurePayouts,
	NO_LOADING,
	networkPayout,
	payoutSizes,
} from "../../../src/learning/payouts.ts";
import { sizeClassOf } from "../../../src/learning/size-class.ts";

const USD = 1_000_000;

function earned(...payouts: number[]): EarningRow[] {
	return payouts.map((usd) => ({ day: 1, sizeClass: sizeClassOf(usd * USD), conversions: 1, netMicros: usd * USD }));
}

/** Of one cell's rows. */
function sizesOf(earnings: readonly EarningRow[]) {
	return payoutSizes([{ earnings }]);
}

describe("unit: payouts", () => {
	it("a payout of a million does not set what it is measured by", () => {
		const usual = earned(...Array(20).fill(10));
		const before = measurePayouts(sizesOf(usual), 10 * USD, USD);
		const after = measurePayouts(sizesOf([...usual, ...earned(1_000_000)]), 10 * USD, USD);
		expect(countedPayout(sizeClassOf(1_000_000 * USD), 1_000_000 * USD, after.capMicros)).toBe(0);
		expect(after.capMicros / before.capMicros).toBeLessThan(2);
		expect(after.phiMicros / before.phiMicros).toBeLessThan(1.5);
	});

	it("a payout of a million counts as a large one once a person has confirmed it", () => {
		const million = { ...earned(1_000_000)[0], sizeClass: sizeClassOf(1_000_000 * USD, true) } as EarningRow;
		const sizes = sizesOf([...earned(...Array(20).fill(10)), million]);
		const { capMicros } = measurePayouts(sizes, 10 * USD, USD);
		expect(countedPayout(million.sizeClass, 1_000_000 * USD, capMicros)).toBe(capMicros);
		const sums = { ...NO_LOADING };
		addLoading(sums, sizes, capMicros);
		expect(sums.pooledMicros).toBe(7 * capMicros);
	});

	it("a payout counts up to five times the mean, which small ones beside large ones do not pull down", () => {
		const { capMicros } = measurePayouts(sizesOf(earned(...Array(400).fill(1), ...Array(400).fill(19))), 10 * USD, USD);
		expect(capMicros / USD).toBeCloseTo(5 * 10, 0);
	});

	it("a campaign's first payout may be a large one", () => {
		const { capMicros } = measurePayouts(sizesOf(earned(400)), 10 * USD, USD);
		expect(countedPayout(sizeClassOf(400 * USD), 400 * USD, capMicros)).toBeGreaterThan(50 * USD);
	});

	it("what is above the cap is shared by all, up to a limit", () => {
		const sizes = sizesOf(earned(...Array(99).fill(10), 200));
		const { capMicros } = measurePayouts(sizes, 10 * USD, USD);
		const sums = { ...NO_LOADING };
		addLoading(sums, sizes, capMicros);
		const loading = loadingOf(sums);
		expect(loading).toBeGreaterThan(0.05);
		expect(loading).toBeLessThanOrEqual(0.15);
		expect(loadingOf(NO_LOADING)).toBe(0);
	});

	describe("of a campaign that pays for leads, and for sales that are far larger", () => {
		const usualOf = (leads: number, sales: number, sale: number) => {
			const sizes = sizesOf([...earned(...Array(leads).fill(0.1)), ...earned(...Array(sales).fill(sale))]);
			return countedPayout(sizeClassOf(sale * USD), sale * USD, measurePayouts(sizes, 10 * USD, USD).capMicros) / USD;
		};

		it("a sale counts whole once it is a twelfth of many conversions", () => {
			expect(usualOf(220, 20, 30)).toBe(30);
			expect(usualOf(2_200, 200, 30)).toBe(30);
		});

		it("it counts the less the rarer it is", () => {
			const counted = [220, 330, 440, 880].map((leads) => usualOf(leads, 20, 30));
			expect(counted).toEqual(counted.toSorted((a, b) => b - a));
			expect(counted[1]).toBeGreaterThan(6);
			expect(counted[3]).toBeLessThan(2);
		});

		it("it counts the less the fewer there are, up to twenty", () => {
			const counted = [8, 12, 16, 20, 40].map((sales) => usualOf(11 * sales, sales, 30) / 30);
			expect(counted.map((part) => Math.round(16 * part))).toEqual([4, 8, 12, 16, 16]);
		});

		it("few, or what is larger than a thousand times the mean, may be mistakes, and count nothing", () => {
			expect(usualOf(440, 4, 30)).toBe(0);
			expect(usualOf(2_200, 200, 1_000)).toBe(0);
		});
	});

	it("amounts that are a hundred times too large for a day do not count", () => {
		const sizes = sizesOf([...earned(...Array(400).fill(10)), ...earned(...Array(15).fill(1_000))]);
		const { capMicros } = measurePayouts(sizes, 10 * USD, USD);
		expect(countedPayout(sizeClassOf(1_000 * USD), 1_000 * USD, capMicros)).toBe(0);
	});

	it("a heavy tail weighs more a conversion, so it is learned from more slowly", () => {
		const flat = measurePayouts(sizesOf(earned(...Array(40).fill(10))), 10 * USD, USD);
		const tailed = measurePayouts(sizesOf(earned(...Array(20).fill(2), ...Array(20).fill(18))), 10 * USD, USD);
		expect(tailed.phiMicros / flat.phiMicros).toBeGreaterThan(1.4);
	});

	it("what was taken back is gone", () => {
		const [row] = earned(10);
		if (row === undefined) throw new Error("no row");
		const sizes = sizesOf([row, { ...row, conversions: -1, netMicros: -row.netMicros }]);
		expect(sizes.size).toBe(0);
		expect(logMean(sizes)).toBeNull();
		expect(networkPayout([sizes])).toBeNull();
	});
});
