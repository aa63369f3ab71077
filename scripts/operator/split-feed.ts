/** Cuts a feed into parts that can be sent and taken over one by one. */
import { findCsvStyle, MAX_RECORD_LENGTH, parseCsv } from "../../src/operator/feeds/csv.ts";
import { decodeFeed } from "../../src/operator/feeds/decode-feed.ts";
import { Failure } from "../local/failure.ts";

export type FeedPart = {
	/** The text of whole records; that of CSV begins with the feed's header. */
	text: string;
	/** Line of the feed on which the first record behind the header stands. */
	line: number;
};

/**
 * Yields the parts of a feed, each of about `size` characters. Records are never cut; where that cannot be told, as in a
 * feed that is neither CSV nor lines of JSON, or has a quote that never closes, what was read is one part, and the server says what is
 * wrong with it.
 * @param encoding null: its first bytes tell
 * @throws Failure where more is asked for behind such a part
 */
export async function* splitFeed(chunks: AsyncIterable<Uint8Array>, size: number, encoding: string | null): AsyncGenerator<FeedPart> {
	let rest = "";
	let splitter: Splitter | null = null;
	for await (const text of decodeFeed(chunks, encoding)) {
		rest += text;
		if (rest.length < size) continue;
		splitter ??= openSplitter(rest, false);
		const end = splitter?.endOf(rest) ?? 0;
		if (end === 0 && rest.length > size + MAX_RECORD_LENGTH) {
			yield (splitter ?? openSplitter(rest, true)).cut(rest);
			throw new Failure(`The feed has a record of more than ${MAX_RECORD_LENGTH} characters, and was read no further.`);
		}
		if (splitter === null || end === 0) continue;
		yield splitter.cut(rest.slice(0, end));
		rest = rest.slice(end);
	}
	splitter ??= openSplitter(rest, true);
	if (rest !== "" || splitter.isFirst()) yield splitter.cut(rest);
}

type Splitter = {
	/** Where the last whole record of a text ends. */
	endOf: (text: string) => number;
	cut: (text: string) => FeedPart;
	isFirst: () => boolean;
};

/** Null while the begin of a feed does not tell what it is. */
function openSplitter(begin: string, isWhole: true): Splitter;
function openSplitter(begin: string, isWhole: false): Splitter | null;
function openSplitter(begin: string, isWhole: boolean): Splitter | null {
	const isJson = begin.trimStart().startsWith("{");
	const style = isJson ? null : findCsvStyle(begin);
	if (!isJson && style === null && !isWhole) return null;
	const newline = style?.newline ?? "\n";
	let header: string | null = null;
	let line = 1;
	return {
		endOf: (text) => (style === null ? (isJson ? text.lastIndexOf("\n") + 1 : 0) : parseCsv(style, text, false).end),
		cut(text) {
			const isFirst = header === null;
			if (header === null) header = style === null ? "" : text.slice(0, headerEnd(text, newline));
			const part = { text: isFirst ? text : header + text, line: isFirst ? line + countOf(header, newline) : line };
			line += countOf(text, newline);
			return part;
		},
		isFirst: () => header === null,
	};
}

/** Behind the first line that is not blank; a header has no line ends within its names. */
function headerEnd(text: string, newline: string): number {
	const start = text.search(/\S/);
	const end = text.indexOf(newline, Math.max(0, start));
	return end === -1 ? text.length : end + 1;
}

function countOf(text: string, sought: string): number {
	let count = 0;
	for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + 1)) count++;
	return count;
}
