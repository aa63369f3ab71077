/** Conversion money: what is credited is whole ten-thousandths of a dollar, rounded half up. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shareOf, toUsdMicros, USD_NANOS } from "../../../src/conversions/exchange.ts";
import { formatUsd } from "../../../src/lib/money.ts";

describe("unit: amounts in USD", () => {
	it.each([
		[12_340_000, USD_NANOS, 12_340_000],
		[12_345_649, USD_NANOS, 12_345_600],
		[12_345_650, USD_NANOS, 12_345_700],
		[-12_345_650, USD_NANOS, -12_345_600],
		[10_000_000, 1_100_000_000, 11_000_000],
		[1, 1, 0],
		[Number.MAX_SAFE_INTEGER, 2_000_000_000, null],
	])("%d millionths at %d billionths are %s micro-dollars", (micros, usdNanos, usd) => {
		expect(toUsdMicros(micros, usdNanos)).toBe(usd);
	});

	it("the publisher's part is rounded half up", () => {
		expect(shareOf(12_345_600, 800_000)).toBe(9_876_500);
		expect(shareOf(100, 500_000)).toBe(100);
		expect(shareOf(100, 499_999)).toBe(0);
	});

	it("any amount is nearest in ten-thousandths, and shown whole with four decimals", () => {
		const amount = fc.integer({ min: -1e12, max: 1e12 });
		fc.assert(
			fc.property(amount, fc.integer({ min: 1, max: 5_000_000_000 }), (micros, usdNanos) => {
				const usd = toUsdMicros(micros, usdNanos) ?? Number.NaN;
				const error = BigInt(usd) * BigInt(USD_NANOS) - BigInt(micros) * BigInt(usdNanos);
				expect(error > -50n * BigInt(USD_NANOS) && error <= 50n * BigInt(USD_NANOS)).toBe(true);
				expect(formatUsd(usd)).toMatch(/^-?\d+\.\d{4}$/);
			}),
		);
	});
});
