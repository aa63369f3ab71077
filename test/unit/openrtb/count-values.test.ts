import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ESCAPES_A_VALUE, holdsMoreValuesThan } from "../../../src/openrtb/count-values.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Names and values below a value, with one more for each empty list and object. */
function countBelow(value: unknown): number {
	if (typeof value !== "object" || value === null) return 0;
	const within = Object.values(value);
	if (within.length === 0) return 1;
	const names = Array.isArray(value) ? 0 : within.length;
	return within.reduce((sum: number, one) => sum + 1 + countBelow(one), names);
}

/** Escapes of the texts and names of a value. */
function countEscapes(value: unknown): number {
	if (typeof value === "string") return (JSON.stringify(value).match(/\\./g) ?? []).length;
	if (typeof value !== "object" || value === null) return 0;
	const names = Array.isArray(value) ? [] : Object.keys(value);
	return [...names, ...Object.values(value)].reduce((sum: number, one) => sum + countEscapes(one), 0);
}

describe("unit: names and values of a JSON text", () => {
	test("are counted outside texts, however the JSON is written", () => {
		const json = fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t"));
		fc.assert(
			fc.property(json, ([value, indent]) => {
				const bytes = utf8(JSON.stringify(value, null, indent));
				const count = countBelow(value) + Math.floor(countEscapes(value) / ESCAPES_A_VALUE);
				expect(holdsMoreValuesThan(bytes, count)).toBe(false);
				if (count > 0) expect(holdsMoreValuesThan(bytes, count - 1)).toBe(true);
			}),
			{ numRuns: 2_000 },
		);
	});

	test.each(["", '"', '"\\', '"[[[', '"\\"[[', "}}]]", "   ", "12"])("%j, though no JSON of any list or object, holds none", (text) => {
		expect(holdsMoreValuesThan(utf8(text), 0)).toBe(false);
	});

	test("eight escapes of texts count as one, wherever they are; what is escaped does not", () => {
		expect(ESCAPES_A_VALUE).toBe(8);
		const holding = (escapes: number) => utf8(`["${'\\"'.repeat(5)}",{"a":"${"\\n".repeat(escapes - 5)}"}]`);
		// Four without the escapes: bracket, brace, comma and colon.
		expect(holdsMoreValuesThan(holding(7), 4)).toBe(false);
		expect(holdsMoreValuesThan(holding(8), 4)).toBe(true);
		expect(holdsMoreValuesThan(holding(15), 5)).toBe(false);
		expect(holdsMoreValuesThan(holding(16), 5)).toBe(true);
	});

	test("what is nested over 32 deep counts as four, and beside it what comes after as ever", () => {
		const nested = (depth: number) => utf8(`[${"[".repeat(depth - 1)}${"]".repeat(depth - 1)},{}]`);
		expect(holdsMoreValuesThan(nested(32), 33)).toBe(true);
		expect(holdsMoreValuesThan(nested(32), 34)).toBe(false);
		expect(holdsMoreValuesThan(nested(34), 41)).toBe(true);
		expect(holdsMoreValuesThan(nested(34), 42)).toBe(false);
	});

	test.each(["[", "{", ",", ":", '"\\\\"[', '"",'])("%j holds one, JSON or not", (text) => {
		expect(holdsMoreValuesThan(utf8(text), 0)).toBe(true);
		expect(holdsMoreValuesThan(utf8(text), 1)).toBe(false);
	});
});
