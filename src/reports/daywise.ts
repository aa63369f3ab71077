/** Report `daywise`: one record a UTC day with activity, by day. Reads only the daily sums. */
import { sql } from "drizzle-orm";
import type { Period } from "./read-report-query.ts";
import { limitTo, type Report } from "./report.ts";
import { HAS_ACTIVITY, REVENUE_DETAILS, SUMS, type SumsRow, sumColumns, sumFields } from "./sums.ts";

const days = (publisherId: string, { startDate, endDate }: Period) => sql`
	SELECT date, ${SUMS} FROM daily_publishers
	WHERE publisher_id = ${publisherId} AND date BETWEEN ${startDate} AND ${endDate}
	GROUP BY date HAVING ${HAS_ACTIVITY}`;

export const daywise: Report<SumsRow & { date: string }> = {
	standsStill: false,
	details: REVENUE_DETAILS,
	count: (publisherId, { period }) => sql`SELECT COUNT(*) AS total FROM (${days(publisherId, period)})`,
	page: (publisherId, { period, paging }) => sql`${days(publisherId, period)} ORDER BY date ${limitTo(paging)}`,
	columns: (publisher) => ["date", ...sumColumns(publisher)],
	toRecords: (rows, detail) => rows.map((row) => ({ date: row.date, ...sumFields(row, detail) })),
};
