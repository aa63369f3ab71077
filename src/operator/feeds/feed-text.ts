/** Reads a feed's records, of CSV or newline-delimited JSON, plain or gzip, a chunk at a time. */
import { parseJson } from "../../lib/json.ts";
import { type CsvStyle, findCsvStyle, linesOf, MAX_RECORD_LENGTH, parseCsv } from "./csv.ts";
import { decodeFeed } from "./decode-feed.ts";
import { squash } from "./feed-columns.ts";

/** A record of a feed: the line it begins on, and its value under a squashed column name; or why it cannot be read. */
export type FeedRecord = { line: number; get: (column: string) => unknown } | { line: number; fault: string };

/** The feed as a whole cannot be read on. What came before stays accepted. */
export class FeedError extends Error {
	override readonly name: string = "FeedError";
}

/** There is nothing in the feed. */
export class EmptyFeedError extends FeedError {
	override readonly name = "EmptyFeedError";

	constructor() {
		super("The feed is empty.");
	}
}

export type FeedTextOptions = {
	/** Line of the first record behind the header, where this is a later part of a feed. */
	line: number | null;
	/** Null: its first bytes tell. */
	encoding: string | null;
	/** Told the column names of a CSV feed. @throws FeedError where they will not do */
	onColumns: (names: readonly string[], squashed: ReadonlySet<string>) => void;
	/** Told, ahead of the last records, of the one within which the feed ends: most likely what followed was lost on its way. */
	onCutOff?: ((line: number) => void) | undefined;
};

/**
 * Yields the records of each chunk. What the feed is, its first bytes tell: gzip by its magic number, JSON by a brace.
 * @throws FeedError
 */
export async function* readFeedRecords(stream: ReadableStream<Uint8Array>, options: FeedTextOptions): AsyncGenerator<FeedRecord[]> {
	let read: RecordReader | null = null;
	let rest = "";
	for await (const chunk of readText(stream, options.encoding)) {
		const text = rest + chunk;
		read ??= openReader(text, options);
		if (read === null) {
			if (text.length > MAX_RECORD_LENGTH) throw new FeedError("The feed has no line ends: it is neither CSV nor JSON lines.");
			rest = text;
			continue;
		}
		const { records, end } = read(text, false);
		rest = text.slice(end);
		if (rest.length > MAX_RECORD_LENGTH) throw new FeedError(tooLong(read));
		yield records;
	}
	read ??= openReader(`${rest}\n`, options);
	if (read === null) throw new EmptyFeedError();
	const { records, isCutOff } = read(rest, true);
	const last = records.at(-1);
	if (isCutOff && last !== undefined) options.onCutOff?.(last.line);
	yield records;
}

function tooLong(read: RecordReader): string {
	return `The record that begins on line ${read.line()} has more than ${MAX_RECORD_LENGTH} characters: does a quote never close there?`;
}

/** Reads the complete records at the start of a text, and says where they end; of the last text, whether it ends within a record. */
type RecordReader = ((text: string, isLast: boolean) => { records: FeedRecord[]; end: number; isCutOff: boolean }) & { line: () => number };

/** How a zip archive begins. */
const ZIP = "PK\u0003\u0004";

/** The reader for a feed that begins so; null while that cannot be told. */
function openReader(text: string, options: FeedTextOptions): RecordReader | null {
	const start = text.search(/\S/);
	if (start === -1) return null;
	if (text[start] === "{") return readJsonLines(options.line ?? 1);
	if (text[start] === "[") throw new FeedError("The feed is a JSON list. Write one JSON object a line instead, or CSV.");
	if (text[start] === "<") throw new FeedError("The feed is XML, or a page of the web. Write CSV, or one JSON object a line.");
	if (text.startsWith(ZIP)) throw new FeedError("The feed is a zip archive. Unpack it; it may be gzip instead.");
	const style = findCsvStyle(text);
	return style === null ? null : readCsv(style, options);
}

function readJsonLines(firstLine: number): RecordReader {
	let line = firstLine;
	return Object.assign(
		(text: string, isLast: boolean) => {
			const records: FeedRecord[] = [];
			let isCutOff = false;
			let at = 0;
			for (;;) {
				let end = text.indexOf("\n", at);
				if (end === -1) {
					if (!isLast) break;
					end = text.length;
				}
				const written = text.slice(at, end).trim();
				isCutOff = end === text.length && written !== "" && parseJson(written) === undefined;
				if (written !== "") records.push(readJsonLine(written, line));
				line++;
				at = end + 1;
				if (at > text.length || (isLast && at === text.length)) break;
			}
			return { records, end: Math.min(at, text.length), isCutOff };
		},
		{ line: () => line },
	);
}

function readJsonLine(written: string, line: number): FeedRecord {
	const value = parseJson(written);
	if (value === undefined) return { line, fault: "is not JSON" };
	if (typeof value !== "object" || value === null || Array.isArray(value)) return { line, fault: "is not a JSON object" };
	const cells = new Map<string, unknown>();
	for (const [name, cell] of Object.entries(value)) {
		const column = squashKnown(name);
		if (!cells.has(column)) cells.set(column, cell);
	}
	return { line, get: (column) => cells.get(column) };
}

const SQUASHED_KEPT = 1_000;
const squashed = new Map<string, string>();

function squashKnown(name: string): string {
	const known = squashed.get(name);
	if (known !== undefined) return known;
	const column = squash(name);
	if (squashed.size < SQUASHED_KEPT) squashed.set(name, column);
	return column;
}

function readCsv(style: CsvStyle, { line: firstLine, onColumns }: FeedTextOptions): RecordReader {
	let columns: ReadonlyMap<string, number> | null = null;
	let width = 0;
	let line = 1;
	const { newline } = style;

	function readHeader(names: readonly string[]): ReadonlyMap<string, number> {
		const found = new Map<string, number>();
		for (const [index, name] of names.entries()) {
			const column = squash(name);
			if (column !== "" && !found.has(column)) found.set(column, index);
		}
		onColumns(names, new Set(found.keys()));
		width = names.length;
		return found;
	}

	return Object.assign(
		(text: string, isLast: boolean) => {
			const { rows, faulty, end } = parseCsv(style, text, isLast);
			const unended = isLast && !text.endsWith(newline) ? rows.length - 1 : -1;
			let isCutOff = false;
			const records: FeedRecord[] = [];
			for (const [at, cells] of rows.entries()) {
				const begins = line;
				line += linesOf(cells, newline);
				if (newline === "\n") trimReturn(cells);
				if (cells.length === 1 && (cells[0] ?? "").trim() === "") continue;
				if (columns === null) {
					columns = readHeader(cells);
					line = firstLine ?? line;
					continue;
				}
				const known = columns;
				isCutOff = at === unended && (faulty.has(at) || cells.length < width);
				if (faulty.has(at)) records.push({ line: begins, fault: "has a quote in a wrong place" });
				else if (cells.length > width) records.push({ line: begins, fault: `has ${cells.length} fields, but the header has ${width}` });
				else records.push({ line: begins, get: (column) => cells[known.get(column) ?? -1] });
			}
			return { records, end, isCutOff };
		},
		{ line: () => line },
	);
}

function trimReturn(cells: string[]): void {
	const last = cells.at(-1);
	if (last?.endsWith("\r")) cells[cells.length - 1] = last.slice(0, -1);
}

/** The text of a feed, unpacked where it is gzip. */
async function* readText(stream: ReadableStream<Uint8Array>, encoding: string | null): AsyncGenerator<string> {
	try {
		yield* decodeFeed(await unpack(stream), encoding);
	} catch (error) {
		if (error instanceof FeedError || !(error instanceof TypeError)) throw error;
		throw new FeedError("The feed is not sound gzip, or ends too early. Compress and send it again.");
	}
}

async function unpack(stream: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
	const reader = stream.getReader();
	const head: Uint8Array[] = [];
	let size = 0;
	while (size < 2) {
		const { done, value } = await reader.read();
		if (done) break;
		head.push(value);
		size += value.length;
	}
	const [first = 0, second = 0] = head.flatMap((bytes) => [...bytes.subarray(0, 2)]);
	const whole = new ReadableStream<Uint8Array>({
		async pull(controller) {
			const queued = head.shift();
			if (queued !== undefined) return controller.enqueue(queued);
			const { done, value } = await reader.read();
			if (done) controller.close();
			else controller.enqueue(value);
		},
		cancel: (reason) => reader.cancel(reason),
	});
	return first === 0x1f && second === 0x8b
		? whole.pipeThrough(new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>)
		: whole;
}
