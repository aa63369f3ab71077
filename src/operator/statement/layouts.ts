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
};
export type ColumnMapping = Partial<Record<StatementField, string | undefined>>;

/** Columns of a header that a fault lists, and characters of each. */
const MAX_LISTED = 50;
const MAX_LISTED_LENGTH = 40;

/** Which column of a header is what: by the mapping, else by the layout that the header tells. Lists what is missing, and what there is. */
export function findColumns(
	header: readonly string[],
	mapping: ColumnMapping,
	dateOrder: DateOrder | null,
): Columns | { missing: Fault[] } {
	const names = header.map(squash);
	const indexOf = (candidates: readonly string[]) => candidates.map((name) => names.indexOf(name)).find((at) => at >= 0);
	const layout = LAYOUTS.find((name) => LAYOUT[name].told.every((candidates) => indexOf(candidates) !== undefined));
	const known = layout === undefined ? null : LAYOUT[layout];
	const indexes: Columns["indexes"] = {};
	const missing: Fault[] = [];
	for (const field of STATEMENT_FIELDS) {
		const own = mapping[field];
		const index = indexOf(own === undefined ? (known?.columns[field] ?? [field, ...(ALSO_NAMED[field] ?? [])]) : [squash(own)]);
		if (index !== undefined) indexes[field] = index;
		else if (own !== undefined) missing.push({ path: `mapping.${field}`, message: `there is no column ${own}` });
		else if (field === "txnid" || field === "payout") missing.push({ path: `mapping.${field}`, message: "no column is known to be it" });
	}
	if (missing.length > 0) return { missing: [...missing, { path: "", message: `the columns are ${listColumns(header)}` }] };
	const currency = mapping.currency === undefined && names[indexes.payout ?? -1]?.endsWith("usd") === true ? "USD" : null;
	return { layout: layout ?? "mapping", dateOrder: dateOrder ?? known?.dateOrder ?? null, indexes, currency };
}

function listColumns(header: readonly string[]): string {
	const shown = header.slice(0, MAX_LISTED).map((name) => {
		const plain = name.trim();
		return plain.length <= MAX_LISTED_LENGTH ? plain : `${plain.slice(0, MAX_LISTED_LENGTH - 1)}…`;
	});
	return `${shown.join(", ")}${header.length > shown.length ? ` and ${header.length - shown.length} more` : ""}`;
}
