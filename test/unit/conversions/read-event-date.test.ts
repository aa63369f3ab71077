import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEventDate } from "../../../src/conversions/read-event-date.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");

describe("unit: edate", () => {
	test.each([
		["2026-11-10", "2026-11-10T00:00:00.000Z"],
		["2026-11-10T12:34:56Z", "2026-11-10T12:34:56.000Z"],
		["2026-11-10t12:34:56z", "2026-11-10T12:34:56.000Z"],
		["2026-11-10 12:34:56", "2026-11-10T12:34:56.000Z"],
		["2026-11-10T12:34", "2026-11-10T12:34:00.000Z"],
		["2026-11-10T12:34:56.7894", "2026-11-10T12:34:56.789Z"],
		["2026-11-10T12:34:56+02:00", "2026-11-10T10:34:56.000Z"],
		["2026-11-10T12:34:56-0530", "2026-11-10T18:04:56.000Z"],
		["2026-11-10T12:34:56+02", "2026-11-10T10:34:56.000Z"],
		["2026-11-10 12:34:56 +0200", "2026-11-10T10:34:56.000Z"],
		["2026-11-10 12:34:56 UTC", "2026-11-10T12:34:56.000Z"],
		["1794312000", "2026-11-10T12:00:00.000Z"],
		["1794312000123", "2026-11-10T12:00:00.123Z"],
		["2000-01-01", "2000-01-01T00:00:00.000Z"],
		["2024-02-29", "2024-02-29T00:00:00.000Z"],
		["2026-11-21T12:00:00Z", "2026-11-21T12:00:00.000Z"],
	])("%s is %s", (text, iso) => {
		expect(new Date(readEventDate(text, NOW) ?? Number.NaN).toISOString()).toBe(iso);
	});

	test("an offset whose plus sign was not escaped, and so came as a space, is an offset", () => {
		for (const text of ["2026-11-10T12:34:56 02:00", "2026-11-10 12:34:56  0200", "2026-11-10 12:34:56  02"]) {
			expect(readEventDate(text, NOW)).toBe(Date.parse("2026-11-10T10:34:56Z"));
		}
	});

	test.each([
		...[
			"",
			"yesterday",
			"2026-13-01",
			"2026-02-30",
			"2026-11-10T24:00:00",
			"2026-11-10T12:60:00",
			"2026-11-10T12:00:60",
			"10/11/2026",
			"20261110",
		],
		...[
			"179431200",
			"17943120000",
			"1794312000.5",
			"2026-11-10T12:00:00+19:00",
			"2026-11-10T",
			"2026-11-10 12:34:56   0200",
			"2026-11-10 12:34:56  Z",
			"2026-1-1",
			"+2026-11-10",
			"0",
			"-1794312000",
		],
	])("%s is no date", (text) => {
		expect(readEventDate(text, NOW)).toBeNull();
	});

	test.each(["1999-12-31T23:59:59Z", "0946684799", "2026-11-21T12:00:01Z", "2027-01-01", "1794312000000000"])(
		"%s is implausible: before 2000, or over a day ahead",
		(text) => {
			expect(readEventDate(text, NOW)).toBeNull();
		},
	);

	test("any plausible time survives in each of its spellings", () => {
		fc.assert(
			fc.property(fc.integer({ min: Date.UTC(2001, 8, 9, 2), max: NOW }), (at) => {
				const iso = new Date(at).toISOString();
				expect(readEventDate(iso, NOW)).toBe(at);
				expect(readEventDate(iso.replace("T", " ").replace("Z", ""), NOW)).toBe(at);
				expect(readEventDate(String(at), NOW)).toBe(at);
				expect(readEventDate(String(Math.floor(at / 1000)), NOW)).toBe(Math.floor(at / 1000) * 1000);
			}),
		);
	});

	test("any offset is the same in each spelling, with its plus sign escaped or not", () => {
		const minutes = fc.integer({ min: -14 * 60, max: 14 * 60 });
		fc.assert(
			fc.property(fc.integer({ min: Date.UTC(2001, 8, 9, 2), max: NOW }), minutes, fc.constantFrom("", ":"), (at, offset, colon) => {
				const local = new Date(at + offset * 60_000).toISOString().replace("Z", "");
				const two = (value: number) => String(value).padStart(2, "0");
				const digits = `${two(Math.trunc(Math.abs(offset) / 60))}${colon}${two(Math.abs(offset) % 60)}`;
				for (const between of ["", " "]) {
					const text = `${local}${between}${offset < 0 ? "-" : "+"}${digits}`;
					expect(readEventDate(text, NOW)).toBe(at);
					expect(readEventDate(text.replaceAll("+", " "), NOW)).toBe(at);
				}
			}),
		);
	});

	test("never throws, whatever the text", () => {
		fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => Number.isSafeInteger(readEventDate(text, NOW) ?? 0)));
	});
});
