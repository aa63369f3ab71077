import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { putBounded } from "../../../src/lib/bounded-map.ts";

describe("unit: a bounded map", () => {
	test("the oldest entry goes first, and one that is put again is the newest", () => {
		const map = new Map([
			["a", 1],
			["b", 2],
		]);
		expect(putBounded(map, "a", 3, 2)).toBe(3);
		expect([...map]).toEqual([
			["b", 2],
			["a", 3],
		]);
		putBounded(map, "c", 4, 2);
		expect([...map]).toEqual([
			["a", 3],
			["c", 4],
		]);
	});

	test("it holds the last so many keys that were put, each with its last value", () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer())), fc.integer({ min: 1, max: 6 }), (puts, maxEntries) => {
				const map = new Map<number, number>();
				for (const [key, value] of puts) putBounded(map, key, value, maxEntries);
				const latestFirst = new Map<number, number>();
				for (const [key, value] of puts.toReversed()) if (!latestFirst.has(key)) latestFirst.set(key, value);
				expect([...map].reverse()).toEqual([...latestFirst].slice(0, maxEntries));
			}),
		);
	});
});
