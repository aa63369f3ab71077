import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holdsMoreValuesThan } from "../../../src/openrtb/count-values.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Names and values below a value, with one more for each empty list and object. */
function countBelow(value: unknown): number {
	if (typeof value !== "object" || value === null) return 0;
	const within = Object.values(value);
	if (within.length === 0) return 1;
	const names = Array.isArray(value) ? 0 : within.length;
	return within.reduce((sum: number, one) => sum + 1 + countBelow(one), names);
}

describe("unit: names and values of a JSON text", () => {
	test("are counted outside texts, however the JSON is written", () => {
		const json = fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t"));
		fc.assert(
			fc.property(json, ([value, indent]) => {
				const bytes = utf8(JSON.stringify(value, null, indent));
				const count = countBelow(value);
				expect(holdsMoreValuesThan(bytes, count)).toBe(false);
				if (count > 0) expect(holdsMoreValuesThan(bytes, count - 1)).toBe(true);
			}),
			{ numRuns: 2_000 },
		);
	});

	test.each(["", '"', '"\\', '"[[[', '"\\"[[', "}}]]", "   ", "12"])("%j, though no JSON of any list or object, holds none", (text) => {
		expect(holdsMoreValuesThan(utf8(text), 0)).toBe(false);
	});

	test.each(["[", "{", ",", ":", '"\\\\"[', '"",'])("%j holds one, JSON or not", (text) => {
		expect(holdsMoreValuesThan(utf8(text), 0)).toBe(true);
		expect(holdsMoreValuesThan(utf8(text), 1)).toBe(false);
	});
});
