/** The network's own sums of a day against the rows they were made of, of some publishers; compared in the database as `daily-sums.ts` does. */
import { type SQL, sql } from "drizzle-orm";
import { anyClickWithin } from "../db/clicks-within.ts";
import { DAY_MS } from "../lib/time.ts";
import { areThere, conversionsOfEvents } from "./day-rows.ts";
import { MAX_DIFFERING } from "./differing-rows.ts";
import { type PublisherPage, pageOf } from "./parts.ts";

const STORED = sql`n.campaign_id, n.publisher_id, n.brand_id, n.platform, n.country, n.kind, n.reason, 1 AS side, n.click_count, n.click_revenue_micros,
	n.click_gross_micros, n.approved_count, n.pending_count, n.cancelled_count, n.conversion_revenue_micros, n.pending_revenue_micros,
	n.gross_micros, n.pending_gross_micros, n.sales_micros`;

const CLICK = sql`c.campaign_id, coalesce(c.publisher_id, ''), c.brand_id, coalesce(c.platform, ''), coalesce(c.country, ''), c.kind,
	coalesce(c.reason, ''), -1, 1, CASE WHEN c.reason IS NULL THEN c.revenue_micros ELSE 0 END,
	CASE WHEN c.reason IS NULL THEN coalesce(c.gross_micros, c.bid_micros) ELSE 0 END, 0, 0, 0, 0, 0, 0, 0, 0`;

/** Paid clicks of publishers paid by clicks, and all others: those are in one index of publishers each. */
const IS_PAID = sql`c.reason IS NULL AND c.pricing_model = 'CPC'`;
const IS_OTHER = sql`(c.reason IS NOT NULL OR c.pricing_model = 'CPA')`;

/** Of some conversions `v` of the page and their clicks `c`, which are asked for by id: they may be on other nodes (decision 0034). */
function conversionsOf(page: PublisherPage, some: SQL): SQL {
	const these = sql`v.publisher_id = p.id AND ${some} AND v.stage = 'settled' AND v.test = 0`;
	return sql`SELECT v.campaign_id, v.publisher_id, v.brand_id, v.platform, coalesce(c.country, ''), coalesce(c.kind, ''), '', -1, 0, 0, 0,
		CASE WHEN v.status = 'approved' THEN 1 ELSE 0 END, CASE WHEN v.status = 'pending' THEN 1 ELSE 0 END, CASE WHEN v.status = 'cancelled' THEN 1 ELSE 0 END,
		CASE WHEN v.status <> 'cancelled' THEN coalesce(v.revenue_micros, 0) ELSE 0 END,
		CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END,
		CASE WHEN v.status <> 'cancelled' THEN coalesce(v.gross_micros, 0) ELSE 0 END,
		CASE WHEN v.status = 'pending' THEN coalesce(v.gross_micros, 0) ELSE 0 END,
		CASE WHEN v.status <> 'cancelled' THEN coalesce(v.sales_usd_micros, 0) ELSE 0 END
		FROM ${pageOf(page)} CROSS JOIN conversions v
		LEFT JOIN (SELECT id, country, kind FROM clicks
			WHERE id IN (SELECT v.click_id FROM ${pageOf(page)} CROSS JOIN conversions v WHERE ${these})) c ON c.id = v.click_id
		WHERE ${these}`;
}

/**
 * @param day YYYY-MM-DD
 * @param page the first has unpaid clicks of no publisher, too
 */
export function networkDifferences(day: string, page: PublisherPage): SQL {
	const from = Date.parse(day);
	const isOfDay = anyClickWithin(from, from + DAY_MS);
	const { earning, other } = conversionsOfEvents(from);
	// Paid clicks of nobody are in no index of publishers, and of no publisher's business.
	const ofNobody = sql`UNION ALL SELECT k.* FROM (
		SELECT ${STORED} FROM daily_network n WHERE n.publisher_id = '' AND n.date = ${day} AND n.reason <> ''
		UNION ALL SELECT ${CLICK} FROM clicks c WHERE c.publisher_id IS NULL AND ${isOfDay} AND c.reason IS NOT NULL) k`;
	return sql`SELECT s.campaign_id AS "campaignId", s.publisher_id AS "publisherId", s.brand_id AS "brandId", s.platform, s.country, s.kind, s.reason,
			SUM(CASE WHEN s.side = 1 THEN s.click_count ELSE 0 END) AS "stored_clickCount",
			SUM(CASE WHEN s.side = 1 THEN s.click_revenue_micros ELSE 0 END) AS "stored_clickRevenueMicros",
			SUM(CASE WHEN s.side = 1 THEN s.click_gross_micros ELSE 0 END) AS "stored_clickGrossMicros",
			SUM(CASE WHEN s.side = 1 THEN s.approved_count ELSE 0 END) AS "stored_approvedCount",
			SUM(CASE WHEN s.side = 1 THEN s.pending_count ELSE 0 END) AS "stored_pendingCount",
			SUM(CASE WHEN s.side = 1 THEN s.cancelled_count ELSE 0 END) AS "stored_cancelledCount",
			SUM(CASE WHEN s.side = 1 THEN s.conversion_revenue_micros ELSE 0 END) AS "stored_conversionRevenueMicros",
			SUM(CASE WHEN s.side = 1 THEN s.pending_revenue_micros ELSE 0 END) AS "stored_pendingRevenueMicros",
			SUM(CASE WHEN s.side = 1 THEN s.gross_micros ELSE 0 END) AS "stored_grossMicros",
			SUM(CASE WHEN s.side = 1 THEN s.pending_gross_micros ELSE 0 END) AS "stored_pendingGrossMicros",
			SUM(CASE WHEN s.side = 1 THEN s.sales_micros ELSE 0 END) AS "stored_salesMicros",
			SUM(CASE WHEN s.side = -1 THEN s.click_count ELSE 0 END) AS "counted_clickCount",
			SUM(CASE WHEN s.side = -1 THEN s.click_revenue_micros ELSE 0 END) AS "counted_clickRevenueMicros",
			SUM(CASE WHEN s.side = -1 THEN s.click_gross_micros ELSE 0 END) AS "counted_clickGrossMicros",
			SUM(CASE WHEN s.side = -1 THEN s.approved_count ELSE 0 END) AS "counted_approvedCount",
			SUM(CASE WHEN s.side = -1 THEN s.pending_count ELSE 0 END) AS "counted_pendingCount",
			SUM(CASE WHEN s.side = -1 THEN s.cancelled_count ELSE 0 END) AS "counted_cancelledCount",
			SUM(CASE WHEN s.side = -1 THEN s.conversion_revenue_micros ELSE 0 END) AS "counted_conversionRevenueMicros",
			SUM(CASE WHEN s.side = -1 THEN s.pending_revenue_micros ELSE 0 END) AS "counted_pendingRevenueMicros",
			SUM(CASE WHEN s.side = -1 THEN s.gross_micros ELSE 0 END) AS "counted_grossMicros",
			SUM(CASE WHEN s.side = -1 THEN s.pending_gross_micros ELSE 0 END) AS "counted_pendingGrossMicros",
			SUM(CASE WHEN s.side = -1 THEN s.sales_micros ELSE 0 END) AS "counted_salesMicros"
		FROM (SELECT k.* FROM (
			SELECT ${STORED} FROM ${pageOf(page)} CROSS JOIN daily_network n WHERE n.publisher_id = p.id AND n.date = ${day}
			UNION ALL SELECT ${CLICK} FROM ${pageOf(page)} CROSS JOIN clicks c WHERE c.publisher_id = p.id AND ${isOfDay} AND ${IS_PAID}
			UNION ALL SELECT ${CLICK} FROM ${pageOf(page)} CROSS JOIN clicks c WHERE c.publisher_id = p.id AND ${isOfDay} AND ${IS_OTHER}
			) k UNION ALL SELECT k.* FROM (${conversionsOf(page, earning)} UNION ALL ${conversionsOf(page, other)}) k
			${page.after === "" ? ofNobody : sql``}
		) s
		WHERE s.reason IN ('', 'voided') OR ${areThere("uncounted clicks", from)}
		GROUP BY s.campaign_id, s.publisher_id, s.brand_id, s.platform, s.country, s.kind, s.reason
		HAVING (${areThere("clicks", from)} AND (SUM(s.side * s.click_count) <> 0
				OR SUM(s.side * s.click_revenue_micros) <> 0 OR SUM(s.side * s.click_gross_micros) <> 0))
			OR SUM(s.side * s.approved_count) <> 0 OR SUM(s.side * s.pending_count) <> 0 OR SUM(s.side * s.cancelled_count) <> 0
			OR SUM(s.side * s.conversion_revenue_micros) <> 0 OR SUM(s.side * s.pending_revenue_micros) <> 0
			OR SUM(s.side * s.gross_micros) <> 0 OR SUM(s.side * s.pending_gross_micros) <> 0 OR SUM(s.side * s.sales_micros) <> 0
		ORDER BY 1, 2, 3, 4, 5, 6, 7 LIMIT ${MAX_DIFFERING}`;
}
