/**
 * The click-level conversion report: one record a click that has revenue or a conversion that is not cancelled, by the time of the
 * click. A click's revenue is its own and that of its conversions; one that was taken back keeps its record, with nothing.
 */
import { type SQL, sql } from "drizzle-orm";
import { formatUsd } from "../lib/money.ts";
import { utcDay } from "../lib/time.ts";
import { type AsOf, replacedSince, unchangedSince } from "./as-of.ts";
import { COUNTED_CONVERSION, PAID_CLICK, PAID_CONVERSION, VOIDED_CLICK } from "./counted.ts";
import { CREDIT_DETAILS, creditedOfClick } from "./credited.ts";
import { amountAsSum, type ExactSum, readSum, sumOf } from "./exact-sum.ts";
import type { Period } from "./read-report-query.ts";
import { limitTo, type Report } from "./report.ts";
import { splitRevenue } from "./sums.ts";

/** `credited` with details only. */
type Row = { at: number; click_id: string | null; revenue: ExactSum; pending: ExactSum; credited?: ExactSum };

const NOTHING = amountAsSum(sql`0`);
const PENDING = sql`CASE WHEN status = 'pending' THEN revenue_micros ELSE 0 END`;

/** Whether a click has a conversion that counts. */
const isConverted = (clickId: SQL, asOf: AsOf) => {
	const present = sql`EXISTS (SELECT 1 FROM conversions WHERE click_id = ${clickId} AND ${COUNTED_CONVERSION}${unchangedSince(asOf)})`;
	if (asOf === null) return present;
	return sql`(${present} OR EXISTS (SELECT 1 FROM conversion_history WHERE click_id = ${clickId} AND ${replacedSince(asOf)}))`;
};

/** Clicks of a period: those that earned nothing themselves are there only for their conversions. */
function clicksOf(within: SQL, asOf: AsOf): SQL[] {
	const clicksThatAre = (of: SQL, revenue: SQL) => sql`
		SELECT clicked_at AS at, id, ${revenue} AS revenue, ${NOTHING} AS pending FROM clicks
		WHERE ${within} AND ${of}${unchangedSince(asOf)} AND (revenue_micros <> 0 OR ${isConverted(sql`clicks.id`, asOf)})`;
	const present = [clicksThatAre(PAID_CLICK, amountAsSum(sql`revenue_micros`)), clicksThatAre(VOIDED_CLICK, NOTHING)];
	if (asOf === null) return present;
	const replaced = sql`
		SELECT clicked_at AS at, click_id AS id, ${amountAsSum(sql`CASE WHEN reason IS NULL THEN revenue_micros ELSE 0 END`)} AS revenue, ${NOTHING} AS pending
		FROM click_history WHERE ${within} AND ${replacedSince(asOf)}
			AND (revenue_micros <> 0 OR ${isConverted(sql`click_history.click_id`, asOf)})`;
	return [...present, replaced];
}

function convertedClicksOf(within: SQL, asOf: AsOf): SQL {
	const present = sql`conversions WHERE ${within} AND ${PAID_CONVERSION}${unchangedSince(asOf)}`;
	const columns = sql`SELECT clicked_at, click_id, revenue_micros, status FROM`;
	const conversions =
		asOf === null
			? present
			: sql`(${columns} ${present}
				UNION ALL ${columns} conversion_history WHERE ${within} AND pricing_model = 'CPA' AND ${replacedSince(asOf)})`;
	return sql`
		SELECT clicked_at AS at, click_id AS id, ${sumOf(sql`revenue_micros`)} AS revenue, ${sumOf(PENDING)} AS pending FROM ${conversions}
		GROUP BY clicked_at, click_id`;
}

function rowsOf(publisherId: string, { startAt, endAt }: Period, asOf: AsOf): SQL[] {
	const within = sql`publisher_id = ${publisherId} AND clicked_at >= ${startAt} AND clicked_at < ${endAt}`;
	return [...clicksOf(within, asOf), convertedClicksOf(within, asOf)];
}

export const clickLevel: Report<Row> = {
	standsStill: true,
	details: CREDIT_DETAILS,
	count: (publisherId, { period, asOf }) => {
		const counts = rowsOf(publisherId, period, asOf).map((rows) => sql`(SELECT COUNT(*) FROM (${rows}))`);
		return sql`SELECT ${sql.join(counts, sql` + `)} AS total`;
	},
	page: (publisherId, { period, paging, asOf, detail }) => sql`
		WITH page AS (
			${sql.join(rowsOf(publisherId, period, asOf), sql` UNION ALL `)}
			ORDER BY 1, 2 ${limitTo(paging)}
		)
		SELECT page.at, c.publisher_click_id AS click_id, page.revenue, page.pending${detail ? sql`, ${creditedOfClick(sql`page.id`, asOf)} AS credited` : sql``}
		FROM page LEFT JOIN (SELECT id, publisher_click_id FROM clicks c WHERE c.id IN (SELECT id FROM page)) c ON c.id = page.id
		ORDER BY page.at, page.id`,
	columns: () => ["click_id", "revenue", "click_date"],
	toRecords: (rows, detail) =>
		rows.map((row) => ({
			click_id: row.click_id ?? "",
			revenue: formatUsd(readSum(row.revenue)),
			...(detail && splitRevenue(readSum(row.revenue), readSum(row.pending))),
			...(detail && { credited_revenue: formatUsd(readSum(row.credited ?? null)) }),
			click_date: utcDay(row.at),
		})),
};
