/** Sales that earned twice: by the amount that granted a claim of them, and again when their platform reported them after all. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";

export type PaidTwice = {
	/** adjustments.id of the amount. */
	adjustment: string;
	amountMicros: number;
	/** When the sale was credited beside it. */
	at: number;
};

/** Such a sale is told of for this time: a person may find that it is another one. */
const TOLD_MS = 30 * DAY_MS;
/** How long after a claim its sale is looked for, and how many of the newest claims are looked at. */
const CLAIMED_WITHIN_MS = 180 * DAY_MS;
const MAX_GRANTED = 500;
/** Clicks of one name that are looked at. */
const MAX_CLICKS = 100;

/** The oldest first; bounded, and of indexes. Of a publisher's click id that several clicks have, nobody can tell which is meant. */
export function paidTwiceQuery(now: number): SQL {
	const named = sql`SELECT id FROM (SELECT id FROM clicks WHERE click_hash = lower(granted.about_id) AND (reason IS NULL OR reason = 'voided') LIMIT ${MAX_CLICKS}) q
		UNION ALL SELECT id FROM (SELECT id FROM clicks WHERE click_hash = lower(granted.about_id) AND reason <> 'voided' LIMIT ${MAX_CLICKS}) q
		UNION ALL SELECT id FROM (SELECT id FROM clicks WHERE publisher_click_id = granted.about_id LIMIT ${MAX_CLICKS}) q
		UNION ALL SELECT id FROM clicks WHERE id = lower(granted.about_id)`;
	const sales = sql`SELECT platform, txnid FROM conversions WHERE click_id IN (${named})
		UNION SELECT platform, txnid FROM conversions WHERE platform IN (SELECT id FROM platforms) AND txnid = granted.about_id`;
	const isOfOneClick = sql`(SELECT count(DISTINCT click_hash) FROM (
			SELECT click_hash, publisher_id FROM clicks WHERE publisher_click_id = granted.about_id LIMIT ${MAX_CLICKS}) q
		WHERE q.publisher_id = granted.publisher_id) <= 1`;
	const creditedAt = sql`(SELECT MAX(e.at) FROM (${sales}) sold CROSS JOIN conversions v CROSS JOIN conversion_events e
		WHERE v.platform = sold.platform AND v.txnid = sold.txnid AND v.publisher_id = granted.publisher_id
			AND v.stage = 'settled' AND v.status = 'approved' AND v.test = 0 AND v.revenue_micros > 0
			AND e.platform = v.platform AND e.txnid = v.txnid AND e.at >= granted.changed_at
			AND (e.details -> 'set' ->> 'stage' = 'settled' OR e.details -> 'set' ->> 'status' = 'approved'))`;
	return sql`SELECT adjustment, "amountMicros", at FROM (
			SELECT a.id AS adjustment, a.amount_micros AS "amountMicros", ${creditedAt} AS at
			FROM (SELECT publisher_id, about_id, changed_at, adjustment_id FROM claims
				WHERE state = 'granted' AND id >= ${leastIdAt(now - CLAIMED_WITHIN_MS)} ORDER BY id DESC LIMIT ${MAX_GRANTED}) granted
			CROSS JOIN adjustments a
			WHERE a.id = granted.adjustment_id AND a.kind = 'amount' AND a.amount_micros > 0 AND ${isOfOneClick}
				AND NOT EXISTS (SELECT 1 FROM adjustments u WHERE u.undoes = a.id)
		) newest WHERE at > ${now - TOLD_MS} ORDER BY at, adjustment`;
}

export function readPaidTwice(db: Database, now: number): Promise<PaidTwice[]> {
	return db.all<PaidTwice>(paidTwiceQuery(now));
}
