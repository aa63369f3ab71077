/**
 * Clicks and conversions one by one, as `daily_network` counts them, with their sources: what there are no sums of is added up of these.
 */
import { type SQL, sql } from "drizzle-orm";
import { anyClickWithin } from "../db/clicks-within.ts";
import type { Database } from "../db/client.ts";
import { invalidInput } from "../http/errors.ts";
import { DAY_MS } from "../lib/time.ts";
import { COUNTED_CONVERSION, OTHER_CONVERSION } from "../reports/counted.ts";
import { isOfRows, type NetworkReportQuery } from "./report-request.ts";

/** The most clicks, paid or not, and conversions of a period that are read for one answer. */
export const MAX_SOURCE_ROWS = 100_000;

type Period = Pick<NetworkReportQuery, "from" | "to" | "publisher">;

/** Whose sums are asked: `daily_network` is keyed by them first. What is no publisher's is under no name. */
export function publishersOf(publisher: string | null): SQL {
	return publisher === null ? sql`(SELECT id FROM publishers UNION ALL SELECT '')` : sql`(SELECT CAST(${publisher} AS TEXT) AS id)`;
}

/** @throws HttpError 422 where the period has too many rows: before any is read */
export async function requireFewRows(db: Database, query: NetworkReportQuery): Promise<void> {
	if (!isOfRows(query)) return;
	const { from, to, publisher } = query;
	const [sum] = await db.all<{
		count: number | null;
	}>(sql`SELECT SUM(n.click_count + n.approved_count + n.pending_count + n.cancelled_count) AS count
		FROM ${publishersOf(publisher)} k CROSS JOIN daily_network n WHERE n.publisher_id = k.id AND n.date BETWEEN ${from} AND ${to}`);
	const count = sum?.count ?? 0;
	if (count <= MAX_SOURCE_ROWS) return;
	const instead = publisher === null ? "choose a shorter period, or one publisher" : "choose a shorter period";
	const message = `source with all figures, or with more than day and publisher, is read of at most ${MAX_SOURCE_ROWS} clicks and conversions, and there are ${count}: ${instead}`;
	throw invalidInput([{ path: "group", message }]);
}

const CLICK = sql`coalesce(c.publisher_id, '') AS publisher_id, c.brand_id, c.campaign_id, coalesce(c.platform, '') AS platform,
	coalesce(c.country, '') AS country, c.kind, coalesce(c.source_id, '') AS source_id, coalesce(c.reason, '') AS reason,
	1 AS click_count, 0 AS conversion_count, 0 AS approved_count, 0 AS pending_count, 0 AS cancelled_count,
	CASE WHEN c.reason IS NULL THEN coalesce(c.gross_micros, c.bid_micros) ELSE 0 END AS click_gross_micros,
	CASE WHEN c.reason IS NULL THEN c.revenue_micros ELSE 0 END AS revenue_micros, 0 AS pending_revenue_micros, 0 AS gross_micros,
	0 AS pending_gross_micros, 0 AS sales_micros`;

const CONVERSION = sql`v.publisher_id, v.brand_id, v.campaign_id, v.platform, coalesce(c.country, ''), c.kind, coalesce(v.source_id, ''), '',
	0, CASE WHEN v.status <> 'cancelled' THEN 1 ELSE 0 END, CASE WHEN v.status = 'approved' THEN 1 ELSE 0 END,
	CASE WHEN v.status = 'pending' THEN 1 ELSE 0 END, CASE WHEN v.status = 'cancelled' THEN 1 ELSE 0 END, 0,
	CASE WHEN v.status <> 'cancelled' THEN coalesce(v.revenue_micros, 0) ELSE 0 END,
	CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END,
	CASE WHEN v.status <> 'cancelled' THEN coalesce(v.gross_micros, 0) ELSE 0 END,
	CASE WHEN v.status = 'pending' THEN coalesce(v.gross_micros, 0) ELSE 0 END,
	CASE WHEN v.status <> 'cancelled' THEN coalesce(v.sales_usd_micros, 0) ELSE 0 END`;

/**
 * Each row twice: with its source, and taken out of what is of none. So all of them, beside the sums of `daily_network`, add up to these, and
 * what is without a source is what has no row any more. In the order of columns that read-report.ts adds up.
 */
export function sourceRows({ from, to, publisher }: Period): SQL {
	const [fromAt, toAt] = [Date.parse(from), Date.parse(to) + DAY_MS];
	const of = publisher === null ? sql`(SELECT p.id FROM publishers p) p` : sql`(SELECT p.id FROM publishers p WHERE p.id = ${publisher}) p`;
	const isClick = sql`c.publisher_id = p.id AND ${anyClickWithin(fromAt, toAt)}`;
	const clickDay = sql`SELECT date(c.clicked_at / 1000, 'unixepoch') AS date`;
	const conversions = (
		some: SQL,
	) => sql`SELECT date(v.event_at / 1000, 'unixepoch'), ${CONVERSION} FROM ${of} CROSS JOIN conversions v CROSS JOIN clicks c
		WHERE v.publisher_id = p.id AND v.event_at >= ${fromAt} AND v.event_at < ${toAt} AND v.stage = 'settled' AND v.test = 0 AND ${some}
			AND v.campaign_id IS NOT NULL AND v.brand_id IS NOT NULL AND c.id = v.click_id`;
	// Paid ones are in no index: they stay with what has no row.
	const ofNobody = sql`UNION ALL ${clickDay}, ${CLICK} FROM clicks c
		WHERE c.publisher_id IS NULL AND ${anyClickWithin(fromAt, toAt)} AND (c.reason IS NOT NULL OR c.pricing_model = 'CPA')`;
	// Each in the words of the index that it is in; five terms: D1 takes no more in a UNION.
	const rows = sql`${clickDay}, ${CLICK} FROM ${of} CROSS JOIN clicks c WHERE ${isClick} AND c.reason IS NULL AND c.pricing_model = 'CPC'
		UNION ALL ${clickDay}, ${CLICK} FROM ${of} CROSS JOIN clicks c WHERE ${isClick} AND (c.reason IS NOT NULL OR c.pricing_model = 'CPA')
		UNION ALL ${conversions(sql`${COUNTED_CONVERSION} AND v.pricing_model = 'CPA'`)}
		UNION ALL ${conversions(OTHER_CONVERSION)}
		${publisher === null ? ofNobody : sql``}`;
	return sql`SELECT r.date, r.publisher_id, r.brand_id, r.campaign_id, r.platform, r.country, r.kind,
			CASE WHEN g.sign > 0 THEN r.source_id ELSE CAST(NULL AS TEXT) END, r.reason, g.sign * r.click_count, g.sign * r.conversion_count,
			g.sign * r.approved_count, g.sign * r.pending_count, g.sign * r.cancelled_count, g.sign * r.click_gross_micros,
			g.sign * r.revenue_micros, g.sign * r.pending_revenue_micros, g.sign * r.gross_micros, g.sign * r.pending_gross_micros,
			g.sign * r.sales_micros
		FROM (${rows}) r CROSS JOIN (SELECT CAST(1 AS BIGINT) AS sign UNION ALL SELECT CAST(-1 AS BIGINT)) g`;
}
