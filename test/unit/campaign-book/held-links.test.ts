import { describe, expect, test } from "vitest";
import { HeldChunks } from "../../../src/campaign-book/packed/held-chunks.ts";
import { LinksChunk, packLinks } from "../../../src/campaign-book/packed/links.ts";
import type { BrandWire } from "../../../src/campaign-book/wire.ts";

const MEGABYTE = 1024 * 1024;

function chunkOf(version: string, bytes: number): LinksChunk {
	const brand = { i: 1, d: "shoes.example", c: [{ i: 301, h: `https://track.example/${"x".repeat(bytes)}` }] } as unknown as BrandWire;
	const packed = packLinks(new Map([["d shoes.example", [brand]]]));
	return new LinksChunk(version, packed.slice().buffer);
}

describe("links in memory", () => {
	test("past 4 MiB those used longest ago go, and what has come last stays however large it is", () => {
		const held = new HeldChunks(0);
		const hold = (index: number, version: string, bytes: number) =>
			held.hold({ kind: "l", bits: 3, index, version }, chunkOf(version, bytes));
		const kept = () => [0, 1, 2, 3].map((index) => held.versionOf({ kind: "l", index }));
		hold(0, "a", MEGABYTE);
		hold(1, "b", MEGABYTE);
		hold(2, "c", MEGABYTE);
		expect(held.links(0)?.version).toBe("a");
		hold(3, "d", 1.5 * MEGABYTE);
		expect(kept()).toEqual(["a", null, "c", "d"]);
		hold(2, "e", 1.4 * MEGABYTE);
		expect(kept()).toEqual(["a", null, "e", "d"]);
		hold(1, "f", 5 * MEGABYTE);
		expect(kept()).toEqual([null, "f", null, null]);
		expect(held.links(0)).toBeUndefined();
		expect(held.bytes).toBe(held.links(1)?.size);
	});
});
