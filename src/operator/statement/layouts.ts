/** How platforms' statements call what is compared: pure. Names are written without what joins their words, in lower case. */
import type { Fault } from "../../http/errors.ts";
import { type DateOrder, STATEMENT_FIELDS, type StatementField } from "../../lib/enums.ts";
import { squash } from "../feeds/feed-columns.ts";

export const LAYOUTS = ["awin", "impact", "cj", "rakuten"] as const;
export type LayoutName = (typeof LAYOUTS)[number] | "mapping";

type Layout = {
	/** Columns, one of each list, by which a statement is told to be of this layout. */
	told: readonly (readonly string[])[];
	columns: Partial<Record<StatementField, readonly string[]>>;
	/** How dates with slashes are written. */
	dateOrder: DateOrder | null;
};

const LAYOUT: Readonly<Record<(typeof LAYOUTS)[number], Layout>> = {
	awin: {
		told: [
			["clickref", "clickrefs", "clickref1", "clickrefsclickref"],
			["transactiondate", "date"],
			["commission", "commissionamount", "commissionamountamount"],
		],
		columns: {
			txnid: ["transactionid", "id"],
			cid: ["clickref", "clickrefs", "clickref1", "clickrefsclickref"],
			date: ["transactiondate", "date"],
			payout: ["commission", "commissionamount", "commissionamountamount"],
			sales: ["saleamount", "saleamountamount", "transactionvalue", "salevalue"],
			currency: ["currency", "commissionamountcurrency", "commissioncurrency"],
			status: ["commissionstatus", "transactionstatus", "status"],
		},
		dateOrder: "dmy",
	},
	impact: {
		told: [["actionid"], ["actiondate", "eventdate", "creationdate"]],
		columns: {
			txnid: ["actionid"],
			cid: ["subid1", "subid"],
			date: ["actiondate", "eventdate", "creationdate"],
			payout: ["actionearnings", "earnings", "payout", "totalearnings"],
			sales: ["saleamount", "amount"],
			currency: ["payoutcurrency", "currency"],
			status: ["status", "state"],
		},
		dateOrder: "mdy",
	},
	cj: {
		told: [["commissionid"], ["orderid"], ["eventdate", "postingdate"]],
		columns: {
			// Corrections have ids of their own, and the order's.
			txnid: ["orderid"],
			cid: ["sid", "shopperid"],
			date: ["eventdate"],
			payout: [
				...["commissionamount", "publishercommission", "pubcommissionamount", "pubcommissionamountpubcurrency", "commission"],
				...["pubcommissionamountusd", "publishercommissionusd", "commissionamountusd", "commissionusd"],
			],
			sales: ["saleamount", "saleamountpubcurrency", "saleamountusd"],
			currency: ["currency", "publishercurrency", "pubcurrency"],
			status: ["actionstatus", "status"],
		},
		dateOrder: "mdy",
	},
	rakuten: {
		told: [["memberidu1", "u1"], ["orderid"], ["totalcommission", "commissions", "commission"]],
		columns: {
			txnid: ["orderid"],
			cid: ["memberidu1", "u1"],
			date: ["transactiondate"],
			payout: ["totalcommission", "commissions", "commission"],
			sales: ["sales", "grosssales", "saleamount"],
			currency: ["currency"],
		},
		dateOrder: "mdy",
	},
};

/** What a field is called in files of no layout, beside its own name: as in postbacks. */
const ALSO_NAMED: Partial<Record<StatementField, readonly string[]>> = { date: ["edate"] };

export type Columns = {
	layout: LayoutName;
	dateOrder: DateOrder | null;
	indexes: Partial<Record<StatementField, number>>;
	/** Upper case; that of the payout, where its column's name says so. It goes before a column of currencies, which may be that of other amounts. */
	currency: string | null;
	/** Likewise that of the sale. */
	salesCurrency: string | null;
};
export type ColumnMapping = Partial<Record<StatementField, string | undefined>>;

/** Columns of a header that a fault lists, and characters of each. */
const MAX_LISTED = 50;
const MAX_LISTED_LENGTH = 40;

/**
 * Which column of a header is what: by the mapping, else by the layout that the header tells. Of several that may be it, the first where all
 * rows have the same in them. Lists what is missing, and what there is.
 */
export function findColumns(
	header: readonly string[],
	rows: readonly (readonly string[])[],
	mapping: ColumnMapping,
	dateOrder: DateOrder | null,
): Columns | { missing: Fault[] } {
	const columns = header.map(readName);
	const layout = LAYOUTS.find((name) => LAYOUT[name].told.every((candidates) => find(columns, candidates).length > 0));
	const known = layout === undefined ? null : LAYOUT[layout];
	const indexes: Columns["indexes"] = {};
	const missing: Fault[] = [];
	for (const field of STATEMENT_FIELDS) {
		const own = mapping[field];
		const found = own === undefined ? find(columns, known?.columns[field] ?? [field, ...(ALSO_NAMED[field] ?? [])]) : findOwn(columns, own);
		const [index, ...others] = found;
		const path = `mapping.${field}`;
		const differs = (cells: readonly string[]) => others.some((at) => cells[at]?.trim() !== cells[index ?? -1]?.trim());
		// What something was sold for in several currencies: that in which it is paid, else none of them.
		const currencies = new Set(found.map((at) => columns[at]?.currency ?? null));
		if (others.length > 0 && field === "sales" && !currencies.has(null) && currencies.size === found.length) {
			const paid = columns[indexes.payout ?? -1]?.currency;
			const sold = found.find((at) => columns[at]?.currency === paid);
			if (sold !== undefined) indexes.sales = sold;
		} else if (others.length > 0 && rows.some(differs)) {
			const list = listColumns(found.map((at) => header[at] ?? ""));
			const isNamed = new Set(found.map((at) => columns[at]?.written)).size > 1;
			const advice = isNamed ? "name one as it is written, or leave out the others" : "leave out the others";
			missing.push({ path, message: `several columns may be it: ${list}: ${advice}` });
		} else if (index !== undefined) indexes[field] = index;
		else if (own !== undefined) missing.push({ path, message: `there is no column ${own}` });
		else if (field === "txnid" || field === "payout") missing.push({ path, message: "no column is known to be it" });
	}
	if (missing.length > 0) {
		const isTitle = header.filter((name) => name.trim() !== "").length === 1;
		const advice = isTitle ? ": remove what stands above the line that names them" : "";
		return { missing: [...missing, { path: "", message: `the columns are ${listColumns(header)}${advice}` }] };
	}
	const currency = mapping.currency === undefined ? (columns[indexes.payout ?? -1]?.currency ?? null) : null;
	const salesCurrency = columns[indexes.sales ?? -1]?.currency ?? null;
	// A column that is named for its date need not be the layout's.
	const order = dateOrder ?? (mapping.date === undefined ? (known?.dateOrder ?? null) : null);
	return { layout: layout ?? "mapping", dateOrder: order, indexes, currency, salesCurrency };
}

/** A column's name: as it is written but for letter case, squashed, and squashed without the currency that stands behind it. */
type ColumnName = { written: string; squashed: string; bare: string; currency: string | null };

/** Currencies whose codes are words that may stand in brackets. */
const WORDS: ReadonlySet<string> = new Set(["ALL", "TOP"]);

function readName(name: string): ColumnName {
	const written = name.trim().toLowerCase();
	const squashed = squash(name);
	const [, before = "", code = ""] = /^(.*)[([]([A-Z]{3})[)\]]$/s.exec(name.trim()) ?? [];
	if (!WORDS.has(code) && Intl.supportedValuesOf("currency").includes(code))
		return { written, squashed, bare: squash(before), currency: code };
	return { written, squashed, bare: squashed, currency: squashed.endsWith("usd") ? "USD" : null };
}

/** The columns that are called by the first of some names: by the whole name, or else without its currency. */
function find(columns: readonly ColumnName[], candidates: readonly string[]): number[] {
	const called = (part: "squashed" | "bare") => candidates.map((name) => where(columns, (column) => column[part] === name));
	return [...called("squashed"), ...called("bare")].find((found) => found.length > 0) ?? [];
}

/** Those that a mapping names: one that is written so goes before others that are only spelt alike. */
function findOwn(columns: readonly ColumnName[], own: string): number[] {
	const written = where(columns, (column) => column.written === own.trim().toLowerCase());
	return written.length > 0 ? written : find(columns, [squash(own)]);
}

function where(columns: readonly ColumnName[], isSought: (column: ColumnName) => boolean): number[] {
	return columns.flatMap((column, at) => (isSought(column) ? [at] : []));
}

function listColumns(header: readonly string[]): string {
	const shown = header.slice(0, MAX_LISTED).map((name) => {
		const plain = name.trim();
		return plain.length <= MAX_LISTED_LENGTH ? plain : `${plain.slice(0, MAX_LISTED_LENGTH - 1)}…`;
	});
	return `${shown.join(", ")}${header.length > shown.length ? ` and ${header.length - shown.length} more` : ""}`;
}
