/** What a statement and the ledger say differently: pure. */
import type { Conversion } from "../../conversions/conversion.ts";
import type { Postback } from "../../conversions/message.ts";
import { type StatedPlatform, statusOf } from "../../conversions/restate.ts";
import { readStatus } from "../../conversions/status-map.ts";
import type { ConversionStatus } from "../../lib/enums.ts";
import type { StatedSale } from "./read-row.ts";

export const DIFFERENCE_KINDS = ["missing_here", "missing_there", "other_amount", "other_status", "two_ids", "unknown_status"] as const;
type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export type Difference = {
	kind: DifferenceKind;
	txnid: string;
	/** The other id of a sale that has two. */
	otherTxnid: string | null;
	ours: Conversion | null;
	theirs: StatedSale | null;
	/** What says the same as the statement; null where nothing that could be settled does. */
	postback: Postback | null;
};

/** A conversion that a sale of another id may be. */
export type SameClick = { txnid: string; cid: string; payoutMicros: number; currency: string };

export type Ledger = {
	platform: StatedPlatform;
	conversionOf: (txnid: string) => Conversion | null;
	/** Conversions of the platform that name this click. */
	ofClick: (cid: string) => readonly SameClick[];
	/** Conversions that count, or are held, of the statement's days. */
	counted: readonly Conversion[];
};

/**
 * One difference a transaction: another amount goes before another status, as one postback says both.
 * @param unread transactions that are in the statement, but of which nobody can tell what it says
 */
export function compareStatement(sales: readonly StatedSale[], ledger: Ledger, unread: ReadonlySet<string> = new Set()): Difference[] {
	const stated = new Set([...sales.map(({ txnid }) => txnid), ...unread]);
	const otherIds = findOtherIds(sales, ledger, stated);
	const ofStated = sales.flatMap((theirs) => compareSale(theirs, ledger, otherIds.get(theirs.txnid)));
	// A sale under two ids is there, under its other one.
	const others = new Set(ofStated.map(({ otherTxnid }) => otherTxnid));
	const missingThere = ledger.counted
		.filter(({ txnid }) => !stated.has(txnid) && !others.has(txnid))
		.map((ours): Difference => ({ kind: "missing_there", txnid: ours.txnid, otherTxnid: null, ours, theirs: null, postback: null }));
	return [...ofStated, ...missingThere];
}

/**
 * The ids that sales have here, by those that the statement has of them: sales of one click and amount. One conversion is one sale; of
 * several that it may be, one that the statement counts, and that names its currency.
 */
function findOtherIds(sales: readonly StatedSale[], ledger: Ledger, stated: ReadonlySet<string>): Map<string, string> {
	const found = new Map<string, string>();
	const taken = new Set(stated);
	const unknown = sales.filter(({ txnid }) => ledger.conversionOf(txnid) === null);
	const isCancelled = (sale: StatedSale) => saidOf(sale, ledger.platform, true) === "cancelled";
	// A sale of no currency may be any of one amount: it comes after those that name theirs.
	const rankOf = (sale: StatedSale) => (isCancelled(sale) ? 2 : 0) + (sale.currency === null ? 1 : 0);
	for (const sale of unknown.toSorted((a, b) => rankOf(a) - rankOf(b))) {
		const other = sale.cid === null ? undefined : ledger.ofClick(sale.cid).find((same) => isAmount(sale, same) && !taken.has(same.txnid));
		if (other === undefined) continue;
		taken.add(other.txnid);
		found.set(sale.txnid, other.txnid);
	}
	return found;
}

function compareSale(theirs: StatedSale, ledger: Ledger, otherTxnid: string | undefined): Difference[] {
	const { platform } = ledger;
	const { txnid } = theirs;
	const ours = ledger.conversionOf(txnid);
	const status = ours === null ? null : statusOf({ ...ours, verdict: null }, platform);
	const wasPaid = ours === null || ours.payoutMicros !== 0 || status === "cancelled";
	const said = saidOf(theirs, platform, wasPaid);
	const base = { txnid, otherTxnid: null, ours, theirs };
	if (ours === null) {
		if (otherTxnid !== undefined) return [{ ...base, kind: "two_ids", otherTxnid, postback: null }];
		// What was never here, and was cancelled, is missed by nobody.
		return said === "cancelled" ? [] : [{ ...base, kind: "missing_here", postback: toPostback(theirs, null, platform) }];
	}
	if (said === null) return [{ ...base, kind: "unknown_status", postback: null }];
	if (said === "cancelled" && status === "cancelled") return [];
	const isUnclear = said !== "cancelled" && !isAmount(theirs, ours) && isOfNoCurrency(theirs, ours, platform);
	const postback = isUnclear ? null : toPostback(theirs, ours, platform);
	if (said !== "cancelled" && status !== "cancelled" && !isAmount(theirs, ours)) return [{ ...base, kind: "other_amount", postback }];
	const isTold = theirs.status !== null || said === "cancelled" || status === "cancelled";
	return isTold && said !== status ? [{ ...base, kind: "other_status", postback }] : [];
}

/**
 * How a statement says that a sale stands: by its word; less than nothing that is left of it, or nothing of what was paid, is a return.
 * Null for a word of no map.
 */
function saidOf({ status, payoutMicros }: StatedSale, { statusMap }: StatedPlatform, wasPaid: boolean): ConversionStatus | null {
	const { status: said, unknown } = readStatus(status, statusMap);
	if (payoutMicros < 0 || (payoutMicros === 0 && wasPaid)) return "cancelled";
	return unknown ? null : said;
}

/** A statement that names no currency is of whatever the sale is known in. */
function isAmount({ payoutMicros, currency }: StatedSale, known: Pick<SameClick, "payoutMicros" | "currency">): boolean {
	return payoutMicros === known.payoutMicros && (currency === null || currency === known.currency);
}

/** Whether nobody can tell what another amount is in: the statement names nothing, and a postback named another than its platform's. */
function isOfNoCurrency({ currency }: StatedSale, ours: Conversion, platform: StatedPlatform): boolean {
	return currency === null && ours.currency !== (ours.defaultCurrency ?? platform.currency);
}

/**
 * What is known here stays: the click, and the day, which platforms date by clocks of their own. So do currency and word where the
 * statement has none; but not a word that cancels, which is not what the statement says.
 */
function toPostback(theirs: StatedSale, ours: Conversion | null, { statusMap }: StatedPlatform): Postback | null {
	const [cid, eventAt] = [ours?.cid ?? theirs.cid, ours?.eventAt ?? theirs.at];
	if (cid === null || eventAt === null) return null;
	const { txnid, payoutMicros, salesMicros } = theirs;
	const known = ours?.networkStatus ?? null;
	const status = theirs.status ?? (readStatus(known, statusMap).status === "cancelled" ? null : known);
	return {
		txnid,
		cid,
		eventAt,
		payoutMicros,
		salesMicros: salesMicros === null ? null : Math.max(0, salesMicros),
		currency: theirs.currency ?? ours?.currency ?? null,
		status,
		s2: null,
		s3: null,
		surl: null,
	};
}
