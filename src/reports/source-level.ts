/**
 * Report `source_level`: one record a traffic source, over the whole period, by source. Amounts that the operator added or took are of no
 * source, as clicks that named none. Reads only the daily sums.
 */
import { sql } from "drizzle-orm";
import type { Period } from "./read-report-query.ts";
import { limitTo, type Report } from "./report.ts";
import { HAS_ACTIVITY, REVENUE_DETAILS, SUMS, type SumsRow, sumColumns, sumFields } from "./sums.ts";

const sources = (publisherId: string, { startDate, endDate }: Period) => sql`
	SELECT source_id, ${SUMS} FROM (
		SELECT source_id, click_count, conversion_count, click_revenue_micros, conversion_revenue_micros, pending_revenue_micros, gross_micros, sales_micros,
			0 AS adjustment_micros
		FROM daily_sources WHERE publisher_id = ${publisherId} AND date BETWEEN ${startDate} AND ${endDate}
		UNION ALL
		SELECT '', 0, 0, 0, 0, 0, 0, 0, adjustment_micros
		FROM daily_publishers WHERE publisher_id = ${publisherId} AND date BETWEEN ${startDate} AND ${endDate} AND adjustment_micros <> 0
	)
	GROUP BY source_id HAVING ${HAS_ACTIVITY}`;

export const sourceLevel: Report<SumsRow & { source_id: string }> = {
	standsStill: false,
	details: REVENUE_DETAILS,
	count: (publisherId, { period }) => sql`SELECT COUNT(*) AS total FROM (${sources(publisherId, period)})`,
	page: (publisherId, { period, paging }) => sql`${sources(publisherId, period)} ORDER BY source_id ${limitTo(paging)}`,
	columns: (publisher) => ["source_id", ...sumColumns(publisher)],
	toRecords: (rows, detail) => rows.map((row) => ({ source_id: row.source_id, ...sumFields(row, detail) })),
};
