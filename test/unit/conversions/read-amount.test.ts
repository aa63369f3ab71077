import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_AMOUNT_MICROS, readAmount } from "../../../src/conversions/read-amount.ts";

describe("unit: amounts of postbacks", () => {
	test.each([
		["12.34", 12_340_000],
		["0", 0],
		["-0.00", 0],
		["+3", 3_000_000],
		[".5", 500_000],
		["5.", 5_000_000],
		["-1.25", -1_250_000],
		[" 7 ", 7_000_000],
		["007", 7_000_000],
		["0.0000005", 1],
		["0.0000004999", 0],
		["-0.0000015", -2],
		["9000000000", MAX_AMOUNT_MICROS],
	])("%s is read exactly, rounded half up past the sixth place", (text, micros) => {
		expect(readAmount(text)).toBe(micros);
	});

	test.each([
		"",
		"abc",
		"NaN",
		"Infinity",
		"-Infinity",
		"0x10",
		"1e3",
		"1E-2",
		"1,234.56",
		"12,50",
		"$5",
		"5 USD",
		"1.2.3",
		"--1",
		".",
		"+",
		"١٢",
		"9000000000.000001",
		"9".repeat(40),
	])("%s is no amount", (text) => {
		expect(readAmount(text)).toBeNull();
	});

	test("any amount with up to six places survives", () => {
		fc.assert(
			fc.property(
				fc.maxSafeInteger().filter((micros) => Math.abs(micros) <= MAX_AMOUNT_MICROS),
				(micros) => {
					const digits = Math.abs(micros).toString().padStart(7, "0");
					const text = `${micros < 0 ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
					expect(readAmount(text)).toBe(micros);
				},
			),
		);
	});

	test("never throws, whatever the text", () => {
		fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => Number.isSafeInteger(readAmount(text) ?? 0)));
	});
});
