/** Reads a platform's statement: pure. */
import type { StatedPlatform } from "../../conversions/restate.ts";
import type { Fault } from "../../http/errors.ts";
import type { DateOrder } from "../../lib/enums.ts";
import { findCsvStyle, linesOf, parseCsv } from "../feeds/csv.ts";
import { joinRows } from "./join-rows.ts";
import { type ColumnMapping, findColumns, type LayoutName } from "./layouts.ts";
import { type Row, type RowReading, readRow, type StatedSale } from "./read-row.ts";

/** Rows of one statement: a longer period is compared in parts. */
export const MAX_STATEMENT_ROWS = 20_000;

type RowFault = { line: number; message: string };
export type Statement = {
	layout: LayoutName;
	rowCount: number;
	/** Without those of {@link Statement.unread}. */
	sales: StatedSale[];
	faults: RowFault[];
	/** Transactions of which a row is at fault: what all their rows come to is not known. */
	unread: ReadonlySet<string>;
};

/** A byte order mark, empty lines, and what tells a spreadsheet how fields are separated. */
const BEFORE_HEADER = /^\uFEFF?(?:[^\S\r\n]*[\r\n]+)*(?:sep=.[\r\n]+)?/i;

/** @param now dates that a postback of then could not have are faults of their rows @returns the faults of the file as a whole, where it cannot be read */
export function readStatement(
	text: string,
	mapping: ColumnMapping,
	order: DateOrder | null,
	now: number,
	platform: StatedPlatform,
): Statement | { faults: Fault[] } {
	const { delimiter, rows } = parseRows(text);
	const [header, ...records] = rows;
	if (header === undefined || records.length === 0) return { faults: [{ path: "", message: "there are no rows below a header" }] };
	if (records.length > MAX_STATEMENT_ROWS)
		return { faults: [{ path: "", message: `there are more than ${MAX_STATEMENT_ROWS} rows: split it by days` }] };
	const columns = findColumns(
		header.cells,
		records.map(({ cells }) => cells),
		mapping,
		order,
	);
	if ("missing" in columns) return { faults: columns.missing };
	const reading = { columns, delimiter, width: header.cells.length, now, byDefault: platform.currency };
	const { rowsOf, faults, unread } = groupRows(records, reading);
	const sales = [...rowsOf.values()].map((rows) => joinRows(rows, platform));
	return { layout: columns.layout, rowCount: records.length, sales, faults, unread };
}

/** The rows that are not empty, the header the first of them. */
function parseRows(text: string): { delimiter: string; rows: Row[] } {
	const plain = text.replace(BEFORE_HEADER, "");
	const style = findCsvStyle(plain);
	if (style === null) return { delimiter: "", rows: [] };
	const { rows, cut } = parseCsv(style, `${plain}${style.newline}`, true);
	let line = linesOf([text.slice(0, text.length - plain.length)], style.newline);
	const placed = rows.map((cells, at) => {
		const row = { cells, isCut: cut.has(at), line };
		line += linesOf(cells, style.newline);
		return row;
	});
	return { delimiter: style.delimiter, rows: placed.filter(({ cells }) => cells.some((cell) => cell.trim() !== "")) };
}

type Grouped = Pick<Statement, "faults" | "unread"> & { rowsOf: ReadonlyMap<string, readonly [StatedSale, ...StatedSale[]]> };

/** Rows by transaction. Those of one that has a row at fault are left out. */
function groupRows(records: readonly Row[], reading: RowReading): Grouped {
	const faults: RowFault[] = [];
	const unread = new Set<string>();
	const rowsOf = new Map<string, [StatedSale, ...StatedSale[]]>();
	for (const record of records) {
		const { txnid, read } = readRow(record, reading);
		const before = txnid === null ? undefined : rowsOf.get(txnid);
		const isMixed = typeof read !== "string" && before !== undefined && before[0].currency !== read.currency;
		const sale = isMixed ? "is in another currency than other rows of its transaction" : read;
		if (typeof sale !== "string") {
			if (before === undefined) rowsOf.set(sale.txnid, [sale]);
			else before.push(sale);
		} else {
			faults.push({ line: record.line, message: sale });
			if (txnid !== null) unread.add(txnid);
		}
	}
	for (const txnid of unread) rowsOf.delete(txnid);
	return { rowsOf, faults, unread };
}
