/** The parts of a feed hold all of its records once, with their lines. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitFeed } from "../../../../scripts/operator/split-feed.ts";
import { readFeedRecords } from "../../../../src/operator/feeds/feed-text.ts";

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function recordsOf(text: string, line: number | null): Promise<string[]> {
	const stream = new Blob([text]).stream();
	const found: string[] = [];
	for await (const records of readFeedRecords(stream, { line, encoding: null, onColumns: () => {} })) {
		for (const record of records)
			found.push(`${record.line} ${"fault" in record ? record.fault : JSON.stringify([record.get("id"), record.get("name")])}`);
	}
	return found;
}

async function check(text: string, partSize: number, chunkSize: number): Promise<void> {
	const found: string[] = [];
	for await (const part of splitFeed(chunksOf(new TextEncoder().encode(text), chunkSize), partSize, null)) {
		found.push(...(await recordsOf(part.text, part.line)));
	}
	expect(found).toEqual(await recordsOf(text, null));
}

const name = fc.string({ unit: fc.constantFrom("a", "é", "😀", '"', ",", "\n", " "), maxLength: 6 });
const sizes = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 40 }));

describe("unit: parts of a feed", () => {
	it("of CSV: cut between records, each with the header", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(name, { minLength: 1, maxLength: 15 }),
				sizes,
				fc.constantFrom("\n", "\r\n"),
				fc.boolean(),
				fc.constantFrom('""', '"'),
				async (names, [part, chunk], newline, blank, quote) => {
					const rows = names.map((text, at) => `${at + 1},"${text.replaceAll('"', quote)}"${newline}`);
					await check(`${blank ? newline : ""}id,name${newline}${rows.join("")}`, part, chunk);
				},
			),
			{ numRuns: 300 },
		);
	});

	it("of lines of JSON: cut between lines", async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 15 }), sizes, fc.boolean(), async (names, [part, chunk], ended) => {
				const lines = names.map((text, at) => JSON.stringify({ id: String(at + 1), name: text }));
				await check(lines.join("\n") + (ended ? "\n" : ""), part, chunk);
			}),
			{ numRuns: 200 },
		);
	});

	it.each([
		["a quote that never closes", 'id,name\n1,"'],
		["no line end", ""],
		["a line of JSON without an end", '{"id":"'],
	])("with %s: the server is sent what was read, without reading on to the end", async (_, begin) => {
		const chunk = new TextEncoder().encode("x".repeat(100_000));
		let chunks = 0;
		async function* endless(): AsyncGenerator<Uint8Array> {
			yield new TextEncoder().encode(begin);
			for (; chunks < 1_000; chunks++) yield chunk;
		}
		let last = "";
		const readAll = async () => {
			for await (const { text } of splitFeed(endless(), 1_000_000, null)) last = text;
		};
		await expect(readAll()).rejects.toThrow("more than 1000000 characters");
		expect(chunks).toBeLessThan(30);
		await expect(recordsOf(last, 2)).rejects.toThrow(/more than 1000000 characters|neither CSV nor JSON lines/);
	});
});
