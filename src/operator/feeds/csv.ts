/** CSV as feeds write it: how a text is delimited, and its rows. */
import Papa from "papaparse";

/** Longest record, in characters: a quote that never closes would take in the rest of the feed. */
export const MAX_RECORD_LENGTH = 1_000_000;

export type CsvStyle = { delimiter: string; newline: "\n" | "\r" };
const DELIMITERS = [",", "\t", ";", "|"];

/** How a CSV text separates fields and lines, by its first line; null while that line is not complete. */
export function findCsvStyle(text: string): CsvStyle | null {
	const begin = text.trimStart();
	// A return at the end may be the first half of a line end.
	const newline = begin.includes("\n") ? "\n" : /\r./s.test(begin) ? "\r" : null;
	if (newline === null) return null;
	const header = begin.split(newline, 1)[0] ?? "";
	const counts = DELIMITERS.map((delimiter) => header.replaceAll(/"[^"]*"/g, "").split(delimiter).length);
	return { delimiter: DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",", newline };
}

export type CsvRows = { rows: string[][]; faulty: ReadonlySet<number>; end: number };

/** Parses the complete rows at the start of a CSV text; of the last text, what is left is a row too. */
export function parseCsv({ delimiter, newline }: CsvStyle, text: string, isLast: boolean): CsvRows {
	const parser = new Papa.Parser({ delimiter, newline });
	const { data, errors, meta } = parser.parse(text, 0, !isLast) as Papa.ParseResult<string[]>;
	return { rows: data, faulty: new Set(errors.map(({ row }) => row ?? data.length - 1)), end: meta.cursor };
}
