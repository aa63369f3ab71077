import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	formatPrice,
	formatUsd,
	MAX_EPC_MICROS,
	MICROS_PER_USD,
	PRICE_SCALE,
	parseDecimal,
	parseMicros,
	priceOf,
	priceToMicros,
	priceToUsd,
	SHARE_SCALE,
} from "../../../src/lib/money.ts";

/** EPC × share, half up to four decimals, in integers of any size. */
function modelPrice(epcMicros: bigint, sharePpm: bigint): bigint {
	const unit = (BigInt(MICROS_PER_USD) / BigInt(PRICE_SCALE)) * BigInt(SHARE_SCALE);
	return (2n * epcMicros * sharePpm + unit) / (2n * unit);
}

const epc = fc.integer({ min: 0, max: MAX_EPC_MICROS });
const share = fc.integer({ min: 0, max: SHARE_SCALE });

describe("unit: priceOf", () => {
	test.each([
		["the example: 0.42 at 80 % is 0.3360", 420_000, 800_000, 3360],
		["a half rounds up: 0.0201 at 50 % is 0.01005, so 0.0101", 20_100, 500_000, 101],
		["just below a half rounds down: 0.020099 at 50 %", 20_099, 500_000, 100],
		["where doubles fail: 1.005 at 1 % is 0.01005, so 0.0101", 1_005_000, 10_000, 101],
		["under half of the last place is nothing", 60, 800_000, 0],
		["half of the last place is 0.0001", 50, 1_000_000, 1],
		["a third: 0.3 at 33.3333 %", 300_000, 333_333, 1000],
		["no share, no price", 420_000, 0, 0],
		["the largest EPC, all of it", MAX_EPC_MICROS, SHARE_SCALE, 10_000_000],
	])("%s", (_, epcMicros, sharePpm, price) => {
		expect(priceOf(epcMicros, sharePpm)).toBe(price);
	});

	test("is exact for every EPC and share (against integers of any size)", () => {
		fc.assert(
			fc.property(epc, share, (epcMicros, sharePpm) => {
				expect(BigInt(priceOf(epcMicros, sharePpm))).toBe(modelPrice(BigInt(epcMicros), BigInt(sharePpm)));
			}),
			{ numRuns: 5_000 },
		);
	});

	test("is exact at and beside every half", () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 5_000_000 }), fc.integer({ min: -3, max: 3 }), (half, step) => {
				const epcMicros = Math.min(MAX_EPC_MICROS, Math.max(0, (2 * half + 1) * 100 + step));
				expect(BigInt(priceOf(epcMicros, 500_000))).toBe(modelPrice(BigInt(epcMicros), 500_000n));
			}),
			{ numRuns: 2_000 },
		);
	});

	test("never falls when the EPC rises", () => {
		fc.assert(fc.property(epc, epc, share, (a, b, sharePpm) => priceOf(Math.min(a, b), sharePpm) <= priceOf(Math.max(a, b), sharePpm)));
	});
});

describe("unit: a price at the edges", () => {
	test("is a JSON number without trailing zeros, or a string with exactly four decimals", () => {
		expect(JSON.stringify(priceToUsd(3360))).toBe("0.336");
		expect(JSON.stringify(priceToUsd(10_000))).toBe("1");
		expect(JSON.stringify(priceToUsd(1))).toBe("0.0001");
		expect(formatPrice(3360)).toBe("0.3360");
		expect(formatPrice(10_000)).toBe("1.0000");
		expect(formatPrice(1)).toBe("0.0001");
		expect(formatPrice(10_000_000)).toBe("1000.0000");
	});

	test("reads back as itself, in every form", () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 10_000_000 }), (price) => {
				const written = formatPrice(price);
				expect(written).toMatch(/^\d+\.\d{4}$/);
				expect(parseDecimal(written, 4)).toBe(price);
				expect(parseDecimal(JSON.stringify(priceToUsd(price)), 4)).toBe(price);
				expect(priceToMicros(price)).toBe(price * 100);
				expect(parseMicros(written)).toBe(priceToMicros(price));
			}),
			{ numRuns: 2_000 },
		);
	});
});

describe("unit: parseDecimal", () => {
	test.each([
		["0.4200", 420_000],
		["250.00", 250_000_000],
		["5", 5_000_000],
		["0", 0],
		["-0", 0],
		["-0.000001", -1],
		["0.000001", 1],
		["0.4200000000", 420_000],
		[" 1.5 ", 1_500_000],
		["007", 7_000_000],
	])("reads %s as %d micro-dollars", (text, micros) => {
		expect(parseMicros(text)).toBe(micros);
	});

	test.each([
		"",
		" ",
		".",
		".5",
		"5.",
		"+1",
		"1e3",
		"0x10",
		"1,000.00",
		"1.2.3",
		"0.0000001",
		"NaN",
		"Infinity",
		"$1",
		"1 000",
		"--1",
		"١",
	])("refuses %j", (text) => {
		expect(parseMicros(text)).toBeNull();
	});

	test("refuses amounts past what a double holds exactly", () => {
		expect(parseMicros("999999999999")).toBeNull();
		expect(parseMicros("9007199254.740991")).toBe(Number.MAX_SAFE_INTEGER);
		expect(parseMicros("9007199254.740992")).toBeNull();
	});

	test("is exact for every decimal it takes (against integers of any size)", () => {
		const decimal = fc.record({
			negative: fc.boolean(),
			whole: fc.bigInt({ min: 0n, max: 9_999_999_999n }),
			fraction: fc.stringMatching(/^\d{0,8}$/),
		});
		fc.assert(
			fc.property(decimal, fc.integer({ min: 0, max: 6 }), ({ negative, whole, fraction }, digits) => {
				const text = `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
				const kept = fraction.slice(0, digits).padEnd(digits, "0");
				const lost = /[1-9]/.test(fraction.slice(digits));
				const scaled = BigInt(`${whole}${kept}`) * (negative ? -1n : 1n);
				const readable = !lost && scaled <= BigInt(Number.MAX_SAFE_INTEGER) && scaled >= BigInt(-Number.MAX_SAFE_INTEGER);
				const read = parseDecimal(text, digits);
				expect(read === null ? null : BigInt(read)).toBe(readable ? scaled : null);
			}),
			{ numRuns: 2_000 },
		);
	});

	test("refuses any other text without throwing", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), (text) => {
				const read = parseMicros(text);
				if (read !== null) expect(text.trim()).toMatch(/^-?\d+(\.\d+)?$/);
			}),
		);
	});
});

describe("unit: formatUsd", () => {
	test.each([
		[0, "0.0000"],
		[100, "0.0001"],
		[336_000, "0.3360"],
		[12_500_000, "12.5000"],
		[-12_500_000, "-12.5000"],
		[1_234_567_890_100, "1234567.8901"],
		[1, "0.000001"],
		[1_234_560, "1.23456"],
		[9_007_199_254_740_991, "9007199254.740991"],
	])("%d micro-dollars are %s", (micros, text) => {
		expect(formatUsd(micros)).toBe(text);
	});

	test("loses nothing: reading it back gives the amount", () => {
		fc.assert(
			fc.property(fc.integer({ min: -1e12, max: 1e12 }), (micros) => {
				expect(formatUsd(micros)).toMatch(/^-?\d+\.\d{4,6}$/);
				expect(parseMicros(formatUsd(micros))).toBe(micros);
			}),
		);
	});
});
