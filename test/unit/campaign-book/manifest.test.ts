import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Manifest, parseManifest, parsePauses } from "../../../src/campaign-book/format.ts";
import { SLOT_BITS } from "../../../src/campaign-book/slots.ts";

describe("unit: parseManifest", () => {
	const manifest: Manifest = {
		format: 1,
		version: 3,
		publishedAt: 1_790_000_000_000,
		bits: 1,
		shards: "abcdefghijklmnopqrstuvwx",
		publishers: [],
	};

	test("reads a manifest of its own format", () => {
		expect(parseManifest(JSON.stringify(manifest))).toEqual(manifest);
	});

	test.each<[string, string | null]>([
		["nothing", null],
		["an empty text", ""],
		["broken JSON", JSON.stringify(manifest).slice(0, -1)],
		["null", "null"],
		["a list", "[]"],
		["text", '"book"'],
		["no format", JSON.stringify({ ...manifest, format: undefined })],
		["a later format", JSON.stringify({ ...manifest, format: 2 })],
		["a format in text", JSON.stringify({ ...manifest, format: "1" })],
		["no version", JSON.stringify({ ...manifest, version: undefined })],
		["a version that is no integer", JSON.stringify({ ...manifest, version: 1.5 })],
		["no time", JSON.stringify({ ...manifest, publishedAt: "today" })],
		["negative bits", JSON.stringify({ ...manifest, bits: -1 })],
		["more bits than slots", JSON.stringify({ ...manifest, bits: SLOT_BITS + 1 })],
		["bits that are no integer", JSON.stringify({ ...manifest, bits: 0.5 })],
		["a shard too few", JSON.stringify({ ...manifest, shards: "abcdefghijkl" })],
		["half a version", JSON.stringify({ ...manifest, shards: "abcdefghijklmnopqrstuvw" })],
		["shards that are no text", JSON.stringify({ ...manifest, shards: ["a", "b"] })],
		["publishers that are no list", JSON.stringify({ ...manifest, publishers: {} })],
	])("refuses %s", (_, text) => {
		expect(parseManifest(text)).toBeNull();
	});

	test("never throws, whatever the text", () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
				expect(parseManifest(text)).toBeNull();
			}),
		);
	});
});

describe("unit: parsePauses", () => {
	test("reads pauses of its own format and refuses all else", () => {
		expect(parsePauses('{"format":1,"campaigns":[5001]}')).toEqual({ format: 1, campaigns: [5001] });
		for (const text of [
			"",
			"null",
			"[]",
			"{}",
			'{"format":2,"campaigns":[]}',
			'{"format":1}',
			'{"format":1,"campaigns":{}}',
			'{"format":1,',
		]) {
			expect(parsePauses(text)).toBeNull();
		}
	});
});
