import fc from "fast-check";
import { expect, test } from "vitest";
import { buildShards } from "../../../src/campaign-book/build.ts";
import { domainKey, findEntry, keywordKey, SHARD_HEADER } from "../../../src/campaign-book/format.ts";
import { findInLines, indexLines } from "../../../src/campaign-book/shard-lines.ts";

const name = fc.oneof(
	fc.constantFrom("a", "ab", "a b", "a-b", "b", "z", "é", "\ud83d\ude00", "\uffee", "shoes.example", "shoes.example.org"),
	fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).filter((text) => !/\p{Cc}/u.test(text)),
);
const key = fc.oneof(name.map(domainKey), name.map(keywordKey));

test("unit: an entry is found by its line as by a search through the shard, in shards as they are built", () => {
	fc.assert(
		fc.property(fc.uniqueArray(key, { maxLength: 30 }), fc.array(key, { maxLength: 10 }), (present, asked) => {
			const brand = {
				id: 1,
				domain: "shoes.example",
				aliases: [],
				active: true,
				blockedCountries: [],
				iabCategories: [],
				campaigns: [],
			};
			const shard = buildShards(
				present.filter((of) => of.startsWith("d ")).map((of) => ({ key: of, brandId: 1 })),
				new Map([[1, brand]]),
				0,
			).get(0);
			const text = shard ?? SHARD_HEADER;
			const lines = indexLines(text);
			for (const one of [...present, ...asked, "", "d ", "k", "book 1"]) {
				expect(findInLines(text, lines, one)).toBe(one === "" ? null : findEntry(text, one));
			}
		}),
		{ numRuns: 500 },
	);
});
