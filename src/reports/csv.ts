import Papa from "papaparse";

/** A record of a report as it is answered. Money is a decimal string, counts are numbers. */
export type ReportRecord = Record<string, string | number | null>;

/**
 * Text that a spreadsheet would run as a formula: it begins, maybe after white space, with one of the signs that start one. A plain
 * number with a minus does not.
 */
const FORMULA = /^(?!-\d+(?:\.\d+)?$)(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/;

/** Text that a spreadsheet with another separator would take for two cells, the second of them unescaped. */
function isCutElsewhere(value: unknown): boolean {
	return typeof value === "string" && /[;\t]/.test(value);
}

/**
 * The records as CSV (RFC 4180): a header of `columns`, then a line a record, an empty cell where a record has no such field. An
 * apostrophe before text that would be a formula makes it text again.
 */
export function writeCsv(columns: readonly string[], records: readonly ReportRecord[]): string {
	const rows = records.map((record) => columns.map((column) => record[column] ?? ""));
	return `${Papa.unparse([columns, ...rows], { newline: "\r\n", escapeFormulae: FORMULA, quotes: isCutElsewhere })}\r\n`;
}
