/** What a publisher was credited with, for reports of single rows with `detail=1`. */
import { type SQL, sql } from "drizzle-orm";
import { type AsOf, replacedSince, unchangedSince } from "./as-of.ts";
import { PAID_CONVERSION } from "./counted.ts";
import { sumOf } from "./exact-sum.ts";
import { REVENUE_DETAILS } from "./sums.ts";

export const CREDIT_DETAILS = [...REVENUE_DETAILS, "credited_revenue"] as const;

/**
 * What the callbacks of a conversion `v` come to, sent or not: credits less cancellations. These take turns, and each cancellation is of the
 * credit before it, so that the last one says it all. Micro-dollars.
 */
const PRESENT: SQL = sql`coalesce((SELECT CASE k.status WHEN 'approved' THEN k.payout_micros ELSE 0 END FROM callbacks k
	WHERE k.platform = v.platform AND k.txnid = v.txnid ORDER BY k.seq DESC LIMIT 1), 0)`;
/** Of a row of the history; earlier versions did not write it. */
const REPLACED: SQL = sql`coalesce(v.credited_micros, ${PRESENT})`;

/** @param isReplaced whether `v` is a row of `conversion_history` */
export function creditedOf(isReplaced: boolean): SQL {
	return isReplaced ? REPLACED : PRESENT;
}

/** Of all conversions of a click that count, as an exact sum. */
export function creditedOfClick(clickId: SQL, asOf: AsOf): SQL {
	const present = sql`SELECT ${PRESENT} AS micros FROM conversions v WHERE click_id = ${clickId} AND ${PAID_CONVERSION}${unchangedSince(asOf)}`;
	if (asOf === null) return sql`(SELECT ${sumOf(sql`micros`)} FROM (${present}))`;
	return sql`(SELECT ${sumOf(sql`micros`)} FROM (${present} UNION ALL
		SELECT ${REPLACED} FROM conversion_history v WHERE click_id = ${clickId} AND pricing_model = 'CPA' AND ${replacedSince(asOf)}))`;
}
