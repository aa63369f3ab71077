/**
 * The network's own sums of a day against the rows they were made of. The database compares them: what differs is read, and not the day's
 * sums, of which a large network has hundreds of thousands.
 */
import { type SQL, sql } from "drizzle-orm";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS, HOUR_MS } from "../lib/time.ts";
import { SHAPES, type Sum, type SumRow } from "./compare-sums.ts";
import { anyClickWithin, IS_COMPLETE } from "./day-rows.ts";

/** Sums that differ which one comparison reads: the others are found by the next, once these are written right. */
const MAX_DIFFERING = 2_000;

/** A key of daily_network, and each of its sums on both sides. */
export type NetworkRow = SumRow & Partial<Record<`stored_${Sum}` | `counted_${Sum}`, number>>;

export const storedOf = (row: NetworkRow): SumRow => sideOf(row, "stored");
export const countedOf = (row: NetworkRow): SumRow => sideOf(row, "counted");

const { key: KEY, ofClicks, ofOthers } = SHAPES.daily_network;

function sideOf(row: NetworkRow, side: "stored" | "counted"): SumRow {
	const names = KEY.map((name) => [name, row[name]]);
	return Object.fromEntries([...names, ...[...ofClicks, ...ofOthers].map((sum) => [sum, row[`${side}_${sum}`] ?? 0])]);
}

/** Of some conversions `v` and their clicks `c`, which are asked for by id: they may be on other nodes (decision 0034). */
const conversionsOf = (
	some: SQL,
) => sql`SELECT v.campaign_id, v.publisher_id, v.brand_id, v.platform, coalesce(c.country, '') AS country, coalesce(c.kind, '') AS kind,
	'' AS reason, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	CASE WHEN v.status = 'approved' THEN 1 ELSE 0 END, CASE WHEN v.status = 'pending' THEN 1 ELSE 0 END, CASE WHEN v.status = 'cancelled' THEN 1 ELSE 0 END,
	CASE WHEN v.status <> 'cancelled' THEN coalesce(v.revenue_micros, 0) ELSE 0 END,
	CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END,
	CASE WHEN v.status <> 'cancelled' THEN coalesce(v.gross_micros, 0) ELSE 0 END,
	CASE WHEN v.status <> 'cancelled' THEN coalesce(v.sales_usd_micros, 0) ELSE 0 END
	FROM conversions v
	LEFT JOIN (SELECT id, country, kind FROM clicks WHERE id IN (SELECT v.click_id FROM conversions v WHERE ${some})) c ON c.id = v.click_id
	WHERE ${some}`;

/** Whether what a day's clicks come to is still known: clicks are removed by age, unpaid ones first. */
function areThere(name: "clicks" | "uncounted clicks", from: number): SQL {
	return sql`NOT EXISTS (SELECT 1 FROM retention t WHERE t.name = ${name} AND t.cursor > ${leastIdAt(from - HOUR_MS)})`;
}

/** @param day YYYY-MM-DD */
export function networkDifferences(day: string): SQL {
	const from = Date.parse(day);
	const to = from + DAY_MS;
	const isOfDay = sql`v.event_at >= ${from} AND v.event_at < ${to} AND ${IS_COMPLETE} AND v.stage = 'settled' AND v.test = 0`;
	return sql`SELECT s.campaign_id AS "campaignId", s.publisher_id AS "publisherId", s.brand_id AS "brandId", s.platform, s.country, s.kind, s.reason,
			SUM(s.click_count) AS "stored_clickCount", SUM(s.click_revenue_micros) AS "stored_clickRevenueMicros", SUM(s.click_gross_micros) AS "stored_clickGrossMicros",
			SUM(s.approved_count) AS "stored_approvedCount", SUM(s.pending_count) AS "stored_pendingCount", SUM(s.cancelled_count) AS "stored_cancelledCount",
			SUM(s.conversion_revenue_micros) AS "stored_conversionRevenueMicros", SUM(s.pending_revenue_micros) AS "stored_pendingRevenueMicros", SUM(s.gross_micros) AS "stored_grossMicros", SUM(s.sales_micros) AS "stored_salesMicros",
			SUM(s.counted_click_count) AS "counted_clickCount", SUM(s.counted_click_revenue_micros) AS "counted_clickRevenueMicros", SUM(s.counted_click_gross_micros) AS "counted_clickGrossMicros",
			SUM(s.counted_approved_count) AS "counted_approvedCount", SUM(s.counted_pending_count) AS "counted_pendingCount", SUM(s.counted_cancelled_count) AS "counted_cancelledCount",
			SUM(s.counted_conversion_revenue_micros) AS "counted_conversionRevenueMicros", SUM(s.counted_pending_revenue_micros) AS "counted_pendingRevenueMicros", SUM(s.counted_gross_micros) AS "counted_grossMicros", SUM(s.counted_sales_micros) AS "counted_salesMicros"
		FROM (
			SELECT n.campaign_id, n.publisher_id, n.brand_id, n.platform, n.country, n.kind, n.reason, n.click_count, n.click_revenue_micros,
				n.click_gross_micros, n.approved_count, n.pending_count, n.cancelled_count, n.conversion_revenue_micros, n.pending_revenue_micros,
				n.gross_micros, n.sales_micros, 0 AS counted_click_count, 0 AS counted_click_revenue_micros, 0 AS counted_click_gross_micros,
				0 AS counted_approved_count, 0 AS counted_pending_count, 0 AS counted_cancelled_count, 0 AS counted_conversion_revenue_micros,
				0 AS counted_pending_revenue_micros, 0 AS counted_gross_micros, 0 AS counted_sales_micros
			FROM daily_network n WHERE n.date = ${day}
			UNION ALL
			SELECT c.campaign_id, coalesce(c.publisher_id, ''), c.brand_id, coalesce(c.platform, ''), coalesce(c.country, ''), c.kind, coalesce(c.reason, ''),
				0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, CASE WHEN c.reason IS NULL THEN c.revenue_micros ELSE 0 END,
				CASE WHEN c.reason IS NULL THEN coalesce(c.gross_micros, c.bid_micros) ELSE 0 END, 0, 0, 0, 0, 0, 0, 0
			FROM clicks c WHERE ${anyClickWithin(from, to)}
			UNION ALL ${conversionsOf(sql`${isOfDay} AND v.status <> 'cancelled'`)}
			UNION ALL ${conversionsOf(sql`${isOfDay} AND v.status = 'cancelled'`)}
		) s
		WHERE s.reason IN ('', 'voided') OR ${areThere("uncounted clicks", from)}
		GROUP BY s.campaign_id, s.publisher_id, s.brand_id, s.platform, s.country, s.kind, s.reason
		HAVING (${areThere("clicks", from)} AND (SUM(s.click_count) <> SUM(s.counted_click_count)
				OR SUM(s.click_revenue_micros) <> SUM(s.counted_click_revenue_micros) OR SUM(s.click_gross_micros) <> SUM(s.counted_click_gross_micros)))
			OR SUM(s.approved_count) <> SUM(s.counted_approved_count) OR SUM(s.pending_count) <> SUM(s.counted_pending_count)
			OR SUM(s.cancelled_count) <> SUM(s.counted_cancelled_count)
			OR SUM(s.conversion_revenue_micros) <> SUM(s.counted_conversion_revenue_micros)
			OR SUM(s.pending_revenue_micros) <> SUM(s.counted_pending_revenue_micros)
			OR SUM(s.gross_micros) <> SUM(s.counted_gross_micros) OR SUM(s.sales_micros) <> SUM(s.counted_sales_micros)
		ORDER BY 1, 2, 3, 4, 5, 6, 7 LIMIT ${MAX_DIFFERING}`;
}
