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

export type CsvRows = {
	rows: string[][];
	/** Rows with a quote in a wrong place. */
	faulty: ReadonlySet<number>;
	/** Those of them that took in lines behind their own: the row has its own alone, undivided but for the delimiter. */
	cut: ReadonlySet<number>;
	end: number;
};

/**
 * Characters that are parsed behind a row that was cut, at least, and as many times as that row has: then twice as many each time. What
 * behind a wrong quote is parsed again stays in proportion to the row that it cost.
 */
const LEAST_WINDOW = 64;
const ROWS_AHEAD = 4;

/**
 * Parses the complete rows at the start of a CSV text; of the last text, what is left is a row too. A quote in a wrong place costs its own
 * line: the field that it opens would take in all lines to the next quote that looks like its end.
 */
export function parseCsv(style: CsvStyle, text: string, isLast: boolean): CsvRows {
	const rows: string[][] = [];
	const faulty = new Set<number>();
	const cut = new Set<number>();
	let end = 0;
	let window = text.length;
	for (;;) {
		const part = text.slice(end, end + window);
		const isWhole = end + window >= text.length;
		const parsed = parsePart(style, part, isWhole && isLast);
		const broken = findBroken(style, part, parsed);
		const sound = broken === null ? parsed.rows : parsed.rows.slice(0, broken.row);
		for (const { row } of parsed.errors) if (row < sound.length) faulty.add(rows.length + row);
		for (const row of sound) rows.push(row);
		if (broken !== null) {
			faulty.add(rows.length);
			cut.add(rows.length);
			rows.push(part.slice(broken.start, broken.end).split(style.delimiter));
			end += broken.end + 1;
			window = Math.max(LEAST_WINDOW, ROWS_AHEAD * (broken.end - broken.start));
		} else {
			end += parsed.end;
			if (isWhole) return { rows, faulty, cut, end };
			window *= 2;
		}
	}
}

/** How many lines a row takes: a quoted field may hold some. */
export function linesOf(cells: readonly string[], newline: string): number {
	let lines = 1;
	for (const cell of cells) {
		for (let at = cell.indexOf(newline); at !== -1; at = cell.indexOf(newline, at + 1)) lines++;
	}
	return lines;
}

type Parsed = { rows: string[][]; errors: { row: number; index: number }[]; end: number };

function parsePart({ delimiter, newline }: CsvStyle, part: string, isLast: boolean, preview = 0): Parsed {
	const parser = new Papa.Parser({ delimiter, newline, preview });
	const { data, errors, meta } = parser.parse(part, 0, !isLast) as Papa.ParseResult<string[]>;
	return { rows: data, errors: errors.map(({ row, index }) => ({ row: row ?? data.length - 1, index: index ?? 0 })), end: meta.cursor };
}

/** The first row that a wrong quote spreads over several lines: where it starts, and the end of the line on which that quote stands. */
function findBroken(style: CsvStyle, part: string, { rows, errors }: Parsed): { row: number; start: number; end: number } | null {
	for (const { row, index } of errors) {
		const lineEnd = part.indexOf(style.newline, index);
		if (lineEnd === -1) return null;
		const cells = rows[row];
		if (cells !== undefined && !cells.some((cell) => cell.includes(style.newline))) continue;
		// A quote at the end of what there is may be in its place once more has come.
		if (cells === undefined && part.trimEnd().endsWith('"')) return null;
		return { row, start: row === 0 ? 0 : parsePart(style, part, false, row).end, end: lineEnd };
	}
	return null;
}
