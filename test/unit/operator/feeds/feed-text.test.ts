/** A feed's text comes back record by record, whatever the chunks it arrives in, with the line each begins on. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { squash } from "../../../../src/operator/feeds/feed-columns.ts";
import { FeedError, type FeedTextOptions, readFeedRecords } from "../../../../src/operator/feeds/feed-text.ts";

function streamOf(bytes: Uint8Array, cuts: readonly number[] = []): ReadableStream<Uint8Array> {
	const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
	const chunks = [...places, bytes.length].map((end, at) => bytes.subarray(places[at - 1] ?? 0, end));
	return new ReadableStream({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(chunk);
			controller.close();
		},
	});
}

type Read = { line: number; cells?: unknown[]; fault?: string };

async function read(
	text: string | Uint8Array,
	names: readonly string[],
	cuts: readonly number[] = [],
	options: Partial<FeedTextOptions> = {},
) {
	const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
	const found: Read[] = [];
	for await (const records of readFeedRecords(streamOf(bytes, cuts), { line: null, encoding: null, onColumns: () => {}, ...options })) {
		for (const record of records) {
			found.push("fault" in record ? record : { line: record.line, cells: names.map((name) => record.get(squash(name))) });
		}
	}
	return found;
}

const NAMES = ["id", "Product Name", "g:price"];
const cell = fc.string({
	unit: fc.constantFrom("a", "é", "日", "😀", '"', ",", ";", "\t", "|", "\n", "\r\n", " ", "'", "0"),
	maxLength: 8,
});
const row = fc.tuple(fc.integer({ min: 1, max: 99 }).map(String), cell, cell);
const cuts = fc.array(fc.nat(), { maxLength: 6 });

const utf16 = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"));
const swapped = (text: string) => new Uint8Array(Buffer.from(text, "utf16le").swap16());
/** How spreadsheets save a text, with a byte order mark or without. */
const ENCODINGS = [
	(text: string) => new TextEncoder().encode(text),
	(text: string) => new TextEncoder().encode(`\u{feff}${text}`),
	utf16,
	swapped,
	(text: string) => utf16(`\u{feff}${text}`),
	(text: string) => swapped(`\u{feff}${text}`),
];

function writeCsv(rows: readonly (readonly string[])[], delimiter: string, newline: string): string {
	return rows.map((cells) => `${cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(delimiter)}${newline}`).join("");
}

describe("unit: CSV", () => {
	it("any fields come back as they were, each record with its line", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(row, { maxLength: 12 }),
				fc.constantFrom(",", ";", "\t", "|"),
				fc.constantFrom("\n", "\r\n"),
				cuts,
				fc.boolean(),
				fc.constantFrom(...ENCODINGS),
				async (rows, delimiter, newline, cuts, packed, encode) => {
					const text = encode(writeCsv([NAMES, ...rows], delimiter, newline));
					const expected: Read[] = [];
					let line = 2;
					for (const cells of rows) {
						expected.push({ line, cells });
						line += 1 + cells.join("").split("\n").length - 1;
					}
					expect(await read(packed ? gzipSync(text) : text, NAMES, cuts)).toEqual(expected);
				},
			),
			{ numRuns: 300 },
		);
	});

	it("skips blank lines, takes bare fields, a byte order mark, a last line without its end, and short rows", async () => {
		const text = '\u{feff}id,Product Name,g:price\r\n\r\n1,5" pipe,2\r\n2, spaced \n\n3';
		expect(await read(text, NAMES)).toEqual([
			{ line: 3, cells: ["1", '5" pipe', "2"] },
			{ line: 4, cells: ["2", " spaced ", undefined] },
			{ line: 6, cells: ["3", undefined, undefined] },
		]);
	});

	it("rejects the record at fault alone where a row is too long or a quote is misplaced", async () => {
		expect(await read('id,Product Name,g:price\n1,a,2,3\n2,"b" c",2\n3,d,"2"\n', NAMES)).toEqual([
			{ line: 2, fault: "has 4 fields, but the header has 3" },
			{ line: 3, fault: "has a quote in a wrong place" },
			{ line: 4, cells: ["3", "d", "2"] },
		]);
	});

	it.each([
		["that nothing ends", "shoes"],
		["that a later one seems to end", 'shoes 5"'],
	])("a quote in a wrong place, %s, costs its own line, whatever the chunks", async (_name, later) => {
		const name = '"Best" shoes';
		const lines = (from: number) => Array.from({ length: 50 }, (_, at) => `${from + at}\t${at === 40 ? later : "a"}\t2\n`).join("");
		const text = `id\tProduct Name\tg:price\n${lines(1)}51\t${name}\t2\n${lines(52)}102\t${name}\t2\n103\tb\t2`;
		await fc.assert(
			fc.asyncProperty(cuts, async (cuts) => {
				const records = await read(text, ["id"], cuts);
				expect(records.map(({ line, cells, fault }) => `${line} ${fault ?? cells?.[0]}`)).toEqual(
					Array.from({ length: 103 }, (_, at) => `${at + 2} ${at === 50 || at === 101 ? "has a quote in a wrong place" : at + 1}`),
				);
			}),
			{ numRuns: 50 },
		);
	});

	it("a quote in a wrong place costs its own line, also in a feed of megabytes", async () => {
		const rows = Array.from({ length: 60_000 }, (_, at) => `${at}\t${at % 1_000 === 7 ? '"Best" ' : ""}${"shoes ".repeat(6)}\t2\n`);
		for (const cuts of [[], [100_000, 500_000, 900_000, 1_400_000]]) {
			const records = await read(`id\tProduct Name\tg:price\n${rows.join("")}`, ["id"], cuts);
			expect(records.length).toBe(rows.length);
			expect(records.filter(({ fault }) => fault !== undefined).map(({ line }) => line % 1_000)).toEqual(Array(60).fill(9));
		}
	});

	it.each([
		["alone", '"a"b'],
		["behind a field", 'x,"a"b'],
		["of a delimiter", '","x'],
	])(
		"wrong quotes on every line, %s, do not have each parsed again with all that follows",
		async (_name, faulty) => {
			const lines = 20_000;
			const began = performance.now();
			const records = await read(`id,name\n${`${faulty}\n`.repeat(lines)}`, ["id"]);
			expect(records.length).toBe(lines);
			expect(records.every(({ fault }) => fault === "has a quote in a wrong place")).toBe(true);
			expect(performance.now() - began).toBeLessThan(5_000);
		},
		60_000,
	);

	it("says where a quote never closes instead of taking in the rest", async () => {
		const text = `id,Product Name,g:price\n1,a,2\n2,"${"x,\n".repeat(400_000)}`;
		await expect(read(text, NAMES, [100_000, 500_000, 900_000, 1_100_000])).rejects.toThrow(/line 3 has more than/);
	});

	it("counts lines from where a later part begins", async () => {
		expect(await read("id,Product Name\n1,a\n2,b\n", ["id"], [], { line: 500 })).toMatchObject([{ line: 500 }, { line: 501 }]);
	});
});

describe("unit: newline-delimited JSON", () => {
	it("any objects come back as they were, each with its line", async () => {
		const value = fc.oneof(
			fc.string({ unit: "grapheme", maxLength: 10 }),
			fc.double({ noNaN: true, noDefaultInfinity: true }),
			fc.boolean(),
			fc.constant(null),
		);
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(value, value, value), { minLength: 1, maxLength: 12 }),
				cuts,
				fc.boolean(),
				fc.boolean(),
				async (rows, cuts, packed, ended) => {
					const lines = rows.map((cells) => JSON.stringify(Object.fromEntries(NAMES.map((name, at) => [name, cells[at]]))));
					const text = lines.join("\n") + (ended ? "\n" : "");
					const expected = rows.map((cells, at) => ({ line: at + 1, cells: JSON.parse(JSON.stringify(cells)) as unknown[] }));
					expect(await read(packed ? gzipSync(text) : text, NAMES, cuts)).toEqual(expected);
				},
			),
			{ numRuns: 200 },
		);
	});

	it("rejects the line at fault alone", async () => {
		expect(await read('{"id":"1"}\n\n{"id":\n[1]\n"x"\n{"id":"2"}', ["id"])).toEqual([
			{ line: 1, cells: ["1"] },
			{ line: 3, fault: "is not JSON" },
			{ line: 4, fault: "is not a JSON object" },
			{ line: 5, fault: "is not a JSON object" },
			{ line: 6, cells: ["2"] },
		]);
	});

	it.each([
		["an empty feed", ""],
		["white space", " \n\n "],
		["a JSON list", '[{"id":"1"}]'],
		["XML", '<?xml version="1.0"?>\n<rss></rss>\n'],
		["a zip archive", "PK\u0003\u0004\u0014\u0000\n"],
		["broken gzip", new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3])],
		["gzip that ends too early", gzipSync('{"id":"1"}\n'.repeat(1_000)).subarray(0, 60)],
	])("%s is refused as a whole", async (_name, text) => {
		await expect(read(text, ["id"])).rejects.toThrow(FeedError);
	});
});
