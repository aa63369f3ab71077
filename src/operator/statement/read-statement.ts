/** Reads a platform's statement: pure. */
import { MAX_AMOUNT_MICROS, readAmount } from "../../conversions/read-amount.ts";
import { readTxnid, readWord } from "../../conversions/read-postback.ts";
import type { StatedPlatform } from "../../conversions/restate.ts";
import { readStatus } from "../../conversions/status-map.ts";
import type { Fault } from "../../http/errors.ts";
import { normaliseClickId } from "../../lib/click-id.ts";
import type { DateOrder, StatementField } from "../../lib/enums.ts";
import { isEventTime } from "../../lib/time.ts";
import { findCsvStyle, linesOf, parseCsv } from "../feeds/csv.ts";
import { currencyOf, type Marks } from "./currency-marks.ts";
import { type ColumnMapping, type Columns, findColumns, type LayoutName } from "./layouts.ts";
import { faultOfDate, readDate } from "./read-date.ts";

/** Rows of one statement: a longer period is compared in parts. */
export const MAX_STATEMENT_ROWS = 20_000;

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
/** How spreadsheets have long numbers shown, and save them. */
const ROUNDED = /^\d(?:[.,]\d+)?E\+\d{1,3}$/i;

/** @param now dates that a postback of then could not have are faults of their rows @returns the faults of the file as a whole, where it cannot be read */
export function readStatement(
	text: string,
	mapping: ColumnMapping,
	order: DateOrder | null,
	now: number,
	platform: StatedPlatform,
): Statement | { faults: Fault[] } {
	const plain = text.replace(BEFORE_HEADER, "");
	const style = findCsvStyle(plain);
	const { rows, cut } = style === null ? { rows: [], cut: new Set<number>() } : parseCsv(style, `${plain}${style.newline}`, true);
	const newline = style?.newline ?? "\n";
	let line = linesOf([text.slice(0, text.length - plain.length)], newline);
	const [first, ...records] = rows
		.map((cells, at) => {
			const row = { cells, isCut: cut.has(at), line };
			line += linesOf(cells, newline);
			return row;
		})
		.filter(({ cells }) => cells.some((cell) => cell.trim() !== ""));
	const header = first?.cells;
	if (header === undefined || records.length === 0) return { faults: [{ path: "", message: "there are no rows below a header" }] };
	if (records.length > MAX_STATEMENT_ROWS)
		return { faults: [{ path: "", message: `there are more than ${MAX_STATEMENT_ROWS} rows: split it by days` }] };
	const columns = findColumns(
		header,
		records.map(({ cells }) => cells),
		mapping,
		order,
	);
	if ("missing" in columns) return { faults: columns.missing };
	const { layout, dateOrder, indexes, currency, salesCurrency } = columns;
	const faults: RowFault[] = [];
	const unread = new Set<string>();
	const rowsOf = new Map<string, [StatedSale, ...StatedSale[]]>();
	for (const { cells, isCut, line } of records) {
		const cellOf = (field: StatementField) => {
			const index = indexes[field];
			if (field === "currency" && currency !== null) return currency;
			// As formulas, that spreadsheets leave them as they are.
			const cell = index === undefined ? "" : (cells[index] ?? "").trim().replace(/^="(.*)"$/s, "$1");
			return cell === "" ? null : cell;
		};
		const id = cellOf("txnid");
		const txnid = id === null || ROUNDED.test(id) ? null : readTxnid(id);
		const read =
			faultOfRow(isWhole(cells, style?.delimiter, indexes) ? filledOf(cells) : cells.length, header.length, isCut, id) ??
			(txnid === null
				? "has no transaction id that could be one"
				: readSale(txnid, cellOf, dateOrder, now, { byDefault: platform.currency, salesCurrency }));
		const before = txnid === null ? undefined : rowsOf.get(txnid);
		const isMixed = typeof read !== "string" && before !== undefined && before[0].currency !== read.currency;
		const fault = isMixed ? "is in another currency than other rows of its transaction" : read;
		if (typeof fault !== "string") {
			if (before === undefined) rowsOf.set(fault.txnid, [fault]);
			else before.push(fault);
		} else {
			faults.push({ line, message: fault });
			if (txnid !== null) unread.add(txnid);
		}
	}
	for (const txnid of unread) rowsOf.delete(txnid);
	const sales = [...rowsOf.values()].map((rows) => join(rows, platform));
	return { layout, rowCount: records.length, sales, faults, unread };
}

/** A comma within, so that it was quoted, or a point that parts no thousands. */
const UNPARTED = /,|\.(?!\d{3}(?!\d))/;

/**
 * Whether no amount of a row can have been parted by its own comma: its marks say so, or no digits stand behind it. Some exports end rows,
 * but not the header, with delimiters: what is empty there counts then for nothing.
 */
function isWhole(cells: readonly string[], delimiter: string | undefined, { payout, sales }: Columns["indexes"]): boolean {
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
	order: DateOrder | null,
	now: number,
	{ byDefault, salesCurrency }: { byDefault: string; salesCurrency: string | null },
): StatedSale | string {
	const payout = cellOf("payout");
	const paid = payout === null ? null : readMoney(payout);
	if (paid === null) return `${JSON.stringify(payout?.slice(0, 40) ?? "")} is no amount`;
	const told = currencyOf(paid, readWord(cellOf("currency") ?? "")?.toUpperCase() ?? null, byDefault);
	if ("fault" in told) return `${JSON.stringify(payout?.slice(0, 40) ?? "")} ${told.fault}`;
	const { currency } = told;
	const date = cellOf("date");
	const at = date === null ? null : readDate(date, order);
	if (date !== null && at === null) return `${JSON.stringify(date.slice(0, 40))} ${faultOfDate(date)}`;
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

/** What words of rows that count may mean, what goes before the others first. */
const MEANINGS = ["unknown", "pending", "approved"] as const;

/**
 * A transaction's rows as one, in whatever order they stand. Beside others, rows whose word cancels count only as far as together they take
 * something off. Of words that mean different things one that nobody knows holds, else one that is pending.
 */
function join(rows: readonly [StatedSale, ...StatedSale[]], { statusMap }: StatedPlatform): StatedSale {
	if (rows.length === 1) return rows[0];
	const meaningOf = ({ status }: StatedSale) => {
		const { status: meaning, unknown } = readStatus(status, statusMap);
		return unknown ? "unknown" : meaning;
	};
	const { cancelled = [], kept = [] } = Object.groupBy(rows.toSorted(compareRows), (row) =>
		meaningOf(row) === "cancelled" ? "cancelled" : "kept",
	);
	const [counted, left] = kept.length === 0 ? [cancelled, []] : [kept, cancelled];
	const meaning = MEANINGS.find((one) => counted.some((row) => meaningOf(row) === one)) ?? "cancelled";
	const within = (micros: number) => Math.max(-MAX_AMOUNT_MICROS, Math.min(MAX_AMOUNT_MICROS, micros));
	const total = (field: "payoutMicros" | "salesMicros") =>
		within(addUp(counted.map((row) => row[field])) + Math.min(0, addUp(left.map((row) => row[field]))));
	return {
		...rows[0],
		cid: [...counted, ...left].find(({ cid }) => cid !== null)?.cid ?? null,
		at: [...counted, ...left].find(({ at }) => at !== null)?.at ?? null,
		payoutMicros: total("payoutMicros"),
		salesMicros: counted.some(({ salesMicros }) => salesMicros === null) ? null : total("salesMicros"),
		status: counted.find((row) => row.status !== null && meaningOf(row) === meaning)?.status ?? null,
	};
}

function addUp(amounts: readonly (number | null)[]): number {
	return amounts.reduce<number>((sum, micros) => sum + (micros ?? 0), 0);
}

/** By day, then by all that is taken from a single row. */
function compareRows(a: StatedSale, b: StatedSale): number {
	const parts = ({ at, cid, status, payoutMicros }: StatedSale) => [at ?? Number.MAX_VALUE, cid ?? "", status ?? "", payoutMicros] as const;
	const [ofA, ofB] = [parts(a), parts(b)];
	const differing = ofA.findIndex((part, index) => part !== ofB[index]);
	if (differing < 0) return 0;
	return (ofA[differing] ?? "") < (ofB[differing] ?? "") ? -1 : 1;
}

/**
 * An amount as exports write it: with a currency sign or code, thousands separators, a decimal comma, and, where it is below zero, a sign
 * on either side or brackets. Null where it has no one reading: `1,234` may be above a thousand or below two.
 */
export function readMoney(text: string): (Marks & { micros: number }) | null {
	const written = text.replaceAll(/[\s']/g, "").replace(/(?<![A-Z])US\$/, "USD");
	const [, before = "", digits = "", behind = ""] = /^([^\d.,]*)([\d.,]+)([^\d.,]*)$/.exec(written) ?? [];
	const beside = `${before}#${behind}`;
	const [code = null, ...codes] = new Set(beside.match(/[A-Z]{3}/g));
	const [symbol = null, ...symbols] = new Set(beside.match(/\p{Sc}/gu));
	const around = beside.replaceAll(/[A-Z]{3}|\p{Sc}/gu, "").replaceAll("\u2212", "-");
	if (codes.length > 0 || symbols.length > 0 || !/^(?:[+-]?#|#-|-?\(-?#\))$/.test(around)) return null;
	const decimal = toDecimal(digits);
	const micros = decimal === null ? null : readAmount(decimal);
	if (micros === null) return null;
	return { micros: micros !== 0 && /[-(]/.test(around) ? -micros : micros, code, symbol };
}

function toDecimal(text: string): string | null {
	const [comma, point] = [text.lastIndexOf(","), text.lastIndexOf(".")];
	if (comma === -1) return text;
	if (point === -1) {
		if (/^\d+,\d{1,2}$/.test(text)) return text.replace(",", ".");
		return /^\d{1,3}(,\d{3}){2,}$/.test(text) ? text.replaceAll(",", "") : null;
	}
	const [thousands, mark] = comma < point ? [",", "."] : [".", ","];
	const [whole = "", fraction = "", ...more] = text.split(mark);
	const groups = whole.split(thousands);
	const isGrouped = groups.every((group, at) => (at === 0 ? /^\d{1,3}$/ : /^\d{3}$/).test(group));
	return more.length === 0 && isGrouped && /^\d+$/.test(fraction) ? `${groups.join("")}.${fraction}` : null;
}
