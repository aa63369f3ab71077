/** Reads a row of a statement. */
import { readTxnid, readWord } from "../../conversions/read-postback.ts";
import { normaliseClickId } from "../../lib/click-id.ts";
import type { StatementField } from "../../lib/enums.ts";
import { isEventTime } from "../../lib/time.ts";
import { currencyOf } from "./currency-marks.ts";
import type { Columns } from "./layouts.ts";
import { faultOfDate, readDate } from "./read-date.ts";
import { readMoney } from "./read-money.ts";

/** What a statement says of one transaction, all its rows taken together. */
export type StatedSale = {
	txnid: string;
	cid: string | null;
	/** Unix milliseconds, of several the first; null where the statement has no date. */
	at: number | null;
	/** Millionths of `currency`: returns of the same transaction are taken off, and what was declined is left out. */
	payoutMicros: number;
	salesMicros: number | null;
	/** Upper case; null where the statement names none. */
	currency: string | null;
	/** A word of the rows that count; null where they have none. */
	status: string | null;
};

/** A row that is not empty, with the line of the file that it begins on. */
export type Row = { cells: readonly string[]; isCut: boolean; line: number };

/** How the rows of a statement are to be read. */
export type RowReading = {
	columns: Columns;
	delimiter: string;
	/** Fields of the header. */
	width: number;
	/** Dates that a postback of then could not have are faults. */
	now: number;
	/** What amounts are in where nothing says so. */
	byDefault: string;
};

/** How spreadsheets have long numbers shown, and save them. */
const ROUNDED = /^\d(?:[.,]\d+)?E\+\d{1,3}$/i;

/** @returns the transaction id, where it has one, and what is said of it or what is wrong with the row */
export function readRow({ cells, isCut }: Row, reading: RowReading): { txnid: string | null; read: StatedSale | string } {
	const { indexes, currency } = reading.columns;
	const cellOf = (field: StatementField) => {
		const index = indexes[field];
		if (field === "currency" && currency !== null) return currency;
		// As formulas, that spreadsheets leave them as they are.
		const cell = index === undefined ? "" : (cells[index] ?? "").trim().replace(/^="(.*)"$/s, "$1");
		return cell === "" ? null : cell;
	};
	const id = cellOf("txnid");
	const txnid = id === null || ROUNDED.test(id) ? null : readTxnid(id);
	const count = isWhole(cells, reading) ? filledOf(cells) : cells.length;
	const fault = faultOfRow(count, reading.width, isCut, id);
	if (fault !== null) return { txnid, read: fault };
	return { txnid, read: txnid === null ? "has no transaction id that could be one" : readSale(txnid, cellOf, reading) };
}

/** A comma within, so that it was quoted, or a point that parts no thousands. */
const UNPARTED = /,|\.(?!\d{3}(?!\d))/;

/**
 * Whether no amount of a row can have been parted by its own comma: its marks say so, or no digits stand behind it. Some exports end rows,
 * but not the header, with delimiters: what is empty there counts then for nothing.
 */
function isWhole(cells: readonly string[], { delimiter, columns }: RowReading): boolean {
	const { payout, sales } = columns.indexes;
	const amounts = [payout, sales].filter((at) => at !== undefined);
	return delimiter !== "," || amounts.every((at) => UNPARTED.test(cells[at] ?? "") || !/^\s*\d/.test(cells[at + 1] ?? ""));
}

/** How many fields a row has up to the last that is not empty. */
function filledOf(cells: readonly string[]): number {
	return cells.findLastIndex((cell) => cell.trim() !== "") + 1;
}

/** What is wrong with a row whatever its fields say, or null. */
function faultOfRow(count: number, width: number, isCut: boolean, id: string | null): string | null {
	if (isCut) return "has a quote in a wrong place";
	if (count > width) return `has ${count} fields, but the header has ${width}: is an amount or a text not quoted?`;
	if (id === null || !ROUNDED.test(id)) return null;
	return `${JSON.stringify(id.slice(0, 40))} is an id that a spreadsheet has rounded: take the file as it was exported`;
}

/** A row, or what is wrong with it. */
function readSale(
	txnid: string,
	cellOf: (field: StatementField) => string | null,
	{ columns: { dateOrder, salesCurrency }, now, byDefault }: RowReading,
): StatedSale | string {
	const payout = cellOf("payout");
	const paid = payout === null ? null : readMoney(payout);
	if (paid === null) return `${JSON.stringify(payout?.slice(0, 40) ?? "")} is no amount`;
	const told = currencyOf(paid, readWord(cellOf("currency") ?? "")?.toUpperCase() ?? null, byDefault);
	if ("fault" in told) return `${JSON.stringify(payout?.slice(0, 40) ?? "")} ${told.fault}`;
	const { currency } = told;
	const date = cellOf("date");
	const at = date === null ? null : readDate(date, dateOrder, now);
	if (date !== null && at === null) return `${JSON.stringify(date.slice(0, 40))} ${faultOfDate(date, dateOrder, now)}`;
	if (at !== null && !isEventTime(at, now)) return `${JSON.stringify(date?.slice(0, 40) ?? "")} is before 2000, or more than a day ahead`;
	const [cid, sales] = [cellOf("cid"), cellOf("sales")];
	const isOther = salesCurrency !== null && salesCurrency !== (currency ?? byDefault);
	return {
		txnid,
		cid: cid === null ? null : normaliseClickId(cid),
		at,
		payoutMicros: paid.micros,
		salesMicros: sales === null || isOther ? null : readSales(sales, currency, byDefault),
		currency,
		status: readWord(cellOf("status") ?? ""),
	};
}

/** What was sold for; null where that cannot be read, or is in another currency than what was paid for it. */
function readSales(text: string, currency: string | null, byDefault: string): number | null {
	const sold = readMoney(text);
	const told = sold === null ? null : currencyOf(sold, currency, byDefault);
	if (sold === null || told === null || "fault" in told) return null;
	return (told.currency ?? byDefault) === (currency ?? byDefault) ? sold.micros : null;
}
