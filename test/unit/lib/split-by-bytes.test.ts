import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitByBytes } from "../../../src/lib/split-by-bytes.ts";

describe("unit: parts of a list for one parameter each", () => {
	it("every item comes once, in order, and no part is longer than allowed unless one item is", () => {
		fc.assert(
			fc.property(fc.array(fc.string({ maxLength: 60, unit: "binary" })), fc.integer({ min: 10, max: 100 }), (items, most) => {
				const parts = splitByBytes(items, most);
				expect(parts.flat()).toEqual(items);
				for (const part of parts) expect(part.length === 1 || Buffer.byteLength(JSON.stringify(part)) <= most + 2).toBe(true);
			}),
		);
	});
});
