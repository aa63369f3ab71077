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
