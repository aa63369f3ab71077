/** Report `source_level`: one record a traffic source, over the whole period, by source. Reads only the daily sums. */
import { sql } from "drizzle-orm";
import type { Period } from "./read-report-query.ts";
import { limitTo, type Report } from "./report.ts";
import { HAS_ACTIVITY, SUMS, type SumsRow, sumColumns, sumFields } from "./sums.ts";

const sources = (publisherId: string, { startDate, endDate }: Period) => sql`
	SELECT source_id, ${SUMS} FROM daily_sources
	WHERE publisher_id = ${publisherId} AND date BETWEEN ${startDate} AND ${endDate}
	GROUP BY source_id HAVING ${HAS_ACTIVITY}`;

export const sourceLevel: Report<SumsRow & { source_id: string }> = {
	count: (publisherId, { period }) => sql`SELECT COUNT(*) AS total FROM (${sources(publisherId, period)})`,
	page: (publisherId, { period, paging }) => sql`${sources(publisherId, period)} ORDER BY source_id ${limitTo(paging)}`,
	columns: (publisher) => ["source_id", ...sumColumns(publisher)],
	toRecords: (rows) => rows.map((row) => ({ source_id: row.source_id, ...sumFields(row) })),
};
