/**
 * Sums of publishers and sources of a day against the rows they were made of, of some publishers. The database compares them: what
 * differs is read, and not the day's sums, of which a large network has hundreds of thousands. D1 takes no more than five terms in a UNION.
 */
import { type SQL, sql } from "drizzle-orm";
import { anyClickWithin } from "../db/clicks-within.ts";
import { DAY_MS } from "../lib/time.ts";
import { COUNTED_CONVERSION } from "../reports/counted.ts";
import { areThere, conversionsOfEvents, IS_COMPLETE } from "./day-rows.ts";
import { MAX_DIFFERING } from "./differing-rows.ts";
import { type PublisherPage, pageOf } from "./parts.ts";

const CLICK = sql`c.publisher_id, coalesce(c.source_id, '') AS source_id, 1 AS click_count, c.revenue_micros AS click_revenue_micros,
	0 AS conversion_count, 0 AS conversion_revenue_micros, 0 AS pending_revenue_micros, 0 AS gross_micros, 0 AS sales_micros`;
const CONVERSION = sql`v.publisher_id, coalesce(v.source_id, '') AS source_id, 0 AS click_count, 0 AS click_revenue_micros,
	1 AS conversion_count, coalesce(v.revenue_micros, 0) AS conversion_revenue_micros,
	CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END AS pending_revenue_micros,
	coalesce(v.gross_micros, 0) AS gross_micros, coalesce(v.sales_usd_micros, 0) AS sales_micros`;
const SUMS = sql`s.click_count, s.click_revenue_micros, s.conversion_count, s.conversion_revenue_micros, s.pending_revenue_micros,
	s.gross_micros, s.sales_micros`;

/** @param day YYYY-MM-DD */
export function dailyDifferences(day: string, page: PublisherPage): SQL {
	const from = Date.parse(day);
	const isClick = sql`c.publisher_id = p.id AND ${anyClickWithin(from, from + DAY_MS)} AND c.reason IS NULL`;
	const { earning, other } = conversionsOfEvents(from);
	// With its click, where that was ever billed.
	const isOfClicks = sql`v.publisher_id = p.id AND ${COUNTED_CONVERSION} AND v.pricing_model = 'CPC'
		AND v.clicked_at >= ${from} AND v.clicked_at < ${from + DAY_MS} AND ${IS_COMPLETE}
		AND c.id = v.click_id AND (c.reason IS NULL OR c.reason = 'voided')`;
	return sql`WITH counted AS MATERIALIZED (
			SELECT r.publisher_id, r.source_id, SUM(r.click_count) AS click_count,
				SUM(r.click_revenue_micros) AS click_revenue_micros, SUM(r.conversion_count) AS conversion_count,
				SUM(r.conversion_revenue_micros) AS conversion_revenue_micros, SUM(r.pending_revenue_micros) AS pending_revenue_micros,
				SUM(r.gross_micros) AS gross_micros, SUM(r.sales_micros) AS sales_micros
			FROM (
				SELECT ${CLICK} FROM ${pageOf(page)} CROSS JOIN clicks c WHERE ${isClick} AND c.pricing_model = 'CPC'
				UNION ALL SELECT ${CLICK} FROM ${pageOf(page)} CROSS JOIN clicks c WHERE ${isClick} AND c.pricing_model = 'CPA'
				UNION ALL SELECT ${CONVERSION} FROM ${pageOf(page)} CROSS JOIN conversions v
					WHERE v.publisher_id = p.id AND ${earning}
				UNION ALL SELECT ${CONVERSION} FROM ${pageOf(page)} CROSS JOIN conversions v
					WHERE v.publisher_id = p.id AND ${other} AND ${COUNTED_CONVERSION} AND v.pricing_model IS DISTINCT FROM 'CPC'
				UNION ALL SELECT ${CONVERSION} FROM ${pageOf(page)} CROSS JOIN conversions v CROSS JOIN clicks c WHERE ${isOfClicks}
			) r GROUP BY r.publisher_id, r.source_id
		)
		SELECT s.counter, s.publisher_id AS "publisherId", s.source_id AS "sourceId",
			SUM(CASE WHEN s.side = 1 THEN s.click_count ELSE 0 END) AS "stored_clickCount",
			SUM(CASE WHEN s.side = 1 THEN s.click_revenue_micros ELSE 0 END) AS "stored_clickRevenueMicros",
			SUM(CASE WHEN s.side = 1 THEN s.conversion_count ELSE 0 END) AS "stored_conversionCount",
			SUM(CASE WHEN s.side = 1 THEN s.conversion_revenue_micros ELSE 0 END) AS "stored_conversionRevenueMicros",
			SUM(CASE WHEN s.side = 1 THEN s.pending_revenue_micros ELSE 0 END) AS "stored_pendingRevenueMicros",
			SUM(CASE WHEN s.side = 1 THEN s.gross_micros ELSE 0 END) AS "stored_grossMicros",
			SUM(CASE WHEN s.side = 1 THEN s.sales_micros ELSE 0 END) AS "stored_salesMicros",
			SUM(CASE WHEN s.side = 1 THEN s.adjustment_micros ELSE 0 END) AS "stored_adjustmentMicros",
			SUM(CASE WHEN s.side = -1 THEN s.click_count ELSE 0 END) AS "counted_clickCount",
			SUM(CASE WHEN s.side = -1 THEN s.click_revenue_micros ELSE 0 END) AS "counted_clickRevenueMicros",
			SUM(CASE WHEN s.side = -1 THEN s.conversion_count ELSE 0 END) AS "counted_conversionCount",
			SUM(CASE WHEN s.side = -1 THEN s.conversion_revenue_micros ELSE 0 END) AS "counted_conversionRevenueMicros",
			SUM(CASE WHEN s.side = -1 THEN s.pending_revenue_micros ELSE 0 END) AS "counted_pendingRevenueMicros",
			SUM(CASE WHEN s.side = -1 THEN s.gross_micros ELSE 0 END) AS "counted_grossMicros",
			SUM(CASE WHEN s.side = -1 THEN s.sales_micros ELSE 0 END) AS "counted_salesMicros",
			SUM(CASE WHEN s.side = -1 THEN s.adjustment_micros ELSE 0 END) AS "counted_adjustmentMicros"
		FROM (SELECT k.* FROM (
			SELECT 'daily_publishers' AS counter, s.publisher_id, '' AS source_id, 1 AS side, ${SUMS}, s.adjustment_micros
				FROM ${pageOf(page)} CROSS JOIN daily_publishers s WHERE s.publisher_id = p.id AND s.date = ${day}
			UNION ALL SELECT 'daily_sources', s.publisher_id, s.source_id, 1, ${SUMS}, 0
				FROM ${pageOf(page)} CROSS JOIN daily_sources s WHERE s.publisher_id = p.id AND s.date = ${day}
			) k UNION ALL SELECT k.* FROM (
			SELECT 'daily_publishers', s.publisher_id, '', -1, ${SUMS}, 0 FROM counted s
			UNION ALL SELECT 'daily_sources', s.publisher_id, s.source_id, -1, ${SUMS}, 0 FROM counted s
			UNION ALL SELECT 'daily_publishers', a.publisher_id, '', -1, 0, 0, 0, 0, 0, 0, 0, a.amount_micros
				FROM ${pageOf(page)} CROSS JOIN adjustments a WHERE a.publisher_id = p.id AND a.kind = 'amount' AND a.date = ${day}
					AND NOT EXISTS (SELECT 1 FROM adjustments u WHERE u.undoes = a.id)
			) k
		) s
		GROUP BY s.counter, s.publisher_id, s.source_id
		HAVING (${areThere("clicks", from)} AND (SUM(s.side * s.click_count) <> 0 OR SUM(s.side * s.click_revenue_micros) <> 0))
			OR SUM(s.side * s.conversion_count) <> 0 OR SUM(s.side * s.conversion_revenue_micros) <> 0
			OR SUM(s.side * s.pending_revenue_micros) <> 0 OR SUM(s.side * s.gross_micros) <> 0
			OR SUM(s.side * s.sales_micros) <> 0 OR SUM(s.side * s.adjustment_micros) <> 0
		ORDER BY 1, 2, 3 LIMIT ${MAX_DIFFERING}`;
}
