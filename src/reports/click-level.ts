/**
 * The click-level conversion report: one record a click that has revenue or a conversion that is not cancelled, by the time of the
 * click. A click's revenue is its own and that of its conversions; one that was taken back keeps its record, with nothing.
 */
import { type SQL, sql } from "drizzle-orm";
import { formatUsd } from "../lib/money.ts";
import { utcDay } from "../lib/time.ts";
import { COUNTED_CONVERSION, PAID_CLICK, PAID_CONVERSION, VOIDED_CLICK } from "./counted.ts";
import { amountAsSum, type ExactSum, readSum, sumOf } from "./exact-sum.ts";
import type { Period } from "./read-report-query.ts";
import { limitTo, type Report } from "./report.ts";

type Row = { at: number; click_id: string | null; revenue: ExactSum };

/** Clicks that earned nothing themselves are there only for their conversions. */
const clicksThatAre =
	(of: SQL, revenue: SQL) =>
	(publisherId: string, { startAt, endAt }: Period) =>
		sql`
	SELECT clicked_at AS at, id, ${revenue} AS revenue FROM clicks
	WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${of}
		AND (revenue_micros <> 0 OR EXISTS (SELECT 1 FROM conversions WHERE click_id = clicks.id AND ${COUNTED_CONVERSION}))`;

const paidClicks = clicksThatAre(PAID_CLICK, amountAsSum(sql`revenue_micros`));
const voidedClicks = clicksThatAre(VOIDED_CLICK, amountAsSum(sql`0`));

const convertedClicks = (publisherId: string, { startAt, endAt }: Period) => sql`
	SELECT clicked_at AS at, click_id AS id, ${sumOf(sql`revenue_micros`)} AS revenue FROM conversions
	WHERE publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt} AND ${PAID_CONVERSION}
	GROUP BY clicked_at, click_id`;

export const clickLevel: Report<Row> = {
	count: (publisherId, { period }) => sql`SELECT
		(SELECT COUNT(*) FROM (${paidClicks(publisherId, period)})) + (SELECT COUNT(*) FROM (${voidedClicks(publisherId, period)}))
		+ (SELECT COUNT(*) FROM (${convertedClicks(publisherId, period)}))
		AS total`,
	page: (publisherId, { period, paging }) => sql`
		WITH page AS (
			${paidClicks(publisherId, period)} UNION ALL ${voidedClicks(publisherId, period)} UNION ALL ${convertedClicks(publisherId, period)}
			ORDER BY 1, 2 ${limitTo(paging)}
		)
		SELECT page.at, c.publisher_click_id AS click_id, page.revenue FROM page LEFT JOIN clicks c ON c.id = page.id
		ORDER BY page.at, page.id`,
	columns: () => ["click_id", "revenue", "click_date"],
	toRecords: (rows) =>
		rows.map((row) => ({ click_id: row.click_id ?? "", revenue: formatUsd(readSum(row.revenue)), click_date: utcDay(row.at) })),
};
