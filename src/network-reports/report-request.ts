/** What GET /operator/reports is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { day } from "../http/datetime.ts";
import { name } from "../http/filters.ts";
import { groupCursor, groupOf, readDaySpan, requireKeyOf } from "../http/period.ts";
import { flag, readQuery } from "../http/read-input.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { REPORT_GROUPS, type ReportGroup } from "./report-answer.ts";

export const MAX_REPORT_DAYS = 366;
/** The days before `to` where `from` is not given. */
const DEFAULT_DAYS = 30;

/** What sums of sources are kept by. */
const OF_SOURCE_SUMS: ReadonlySet<ReportGroup> = new Set(["source", "day", "publisher"]);

export const networkReportQuerySchema = v.strictObject({
	group: groupOf(REPORT_GROUPS, "day"),
	detail: flag,
	from: v.optional(day),
	to: v.optional(day),
	publisher: v.optional(name),
	limit: pageLimit,
	cursor: groupCursor,
});

export type NetworkReportQuery = {
	group: readonly ReportGroup[];
	/** UTC dates, both included. */
	from: string;
	to: string;
	publisher: string | null;
	/** Whether sources have all figures even where sums of sources are kept. */
	detail: boolean;
	limit: number;
	/** The group of the last row of the page before. */
	after: readonly (string | number)[] | null;
};

/**
 * Without `to` it is today; without `from` a month before `to`.
 * @throws HttpError 422 that names every parameter at fault
 */
export function readNetworkReportQuery(query: Record<string, string>, now: number): NetworkReportQuery {
	const { group, detail, from, to, publisher, limit, cursor } = readQuery(networkReportQuerySchema, query);
	const days = readDaySpan(from, to, now, { defaultDays: DEFAULT_DAYS, maxDays: MAX_REPORT_DAYS });
	requireKeyOf(group, cursor, ["campaign"]);
	return { group, ...days, publisher: publisher ?? null, detail, limit, after: cursor ?? null };
}

/** Whether it is added up of single clicks and conversions: no sums of sources are kept by what it asks. */
export function isOfRows({ group, detail }: Pick<NetworkReportQuery, "group" | "detail">): boolean {
	return group.includes("source") && (detail || group.some((one) => !OF_SOURCE_SUMS.has(one)));
}

/** Whether its rows have what sums of sources lack. */
export function hasDetails(query: Pick<NetworkReportQuery, "group" | "detail">): boolean {
	return !query.group.includes("source") || isOfRows(query);
}
