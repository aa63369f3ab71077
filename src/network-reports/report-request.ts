/** What GET /operator/reports is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { cursorOf } from "../http/pages.ts";
import { day, givenOf, groupOf, readSpan, requireKeyOf } from "../http/period.ts";
import { readInput } from "../http/read-input.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS, utcDay } from "../lib/time.ts";
import { REPORT_GROUPS, type ReportGroup } from "./report-answer.ts";

export const MAX_REPORT_DAYS = 366;
/** The days before `to` where `from` is not given. */
const DEFAULT_DAYS = 30;

const BESIDE_SOURCE: ReadonlySet<ReportGroup> = new Set(["source", "day", "publisher"]);

export const networkReportQuerySchema = v.strictObject({
	group: v.pipe(
		groupOf(REPORT_GROUPS, "day"),
		v.check(
			(names) => !names.includes("source") || names.every((name) => BESIDE_SOURCE.has(name)),
			"source goes with day and publisher alone: no sums of sources by anything else are kept",
		),
	),
	from: v.optional(day),
	to: v.optional(day),
	publisher: v.optional(v.pipe(v.string(), v.maxLength(255, "must have at most 255 characters"))),
	limit: pageLimit,
	cursor: cursorOf(v.array(v.union([v.pipe(v.string(), v.maxLength(2_000)), v.pipe(v.number(), v.safeInteger())]))),
});

export type NetworkReportQuery = {
	group: readonly ReportGroup[];
	/** UTC dates, both included. */
	from: string;
	to: string;
	publisher: string | null;
	limit: number;
	/** The group of the last row of the page before. */
	after: readonly (string | number)[] | null;
};

/**
 * Without `to` it is today; without `from` a month before `to`.
 * @throws HttpError 422 that names every parameter at fault
 */
export function readNetworkReportQuery(query: Record<string, string>, now: number): NetworkReportQuery {
	const { group, from, to, publisher, limit, cursor } = readInput(networkReportQuerySchema, givenOf(query));
	const last = to ?? utcDay(now);
	const first = from ?? utcDay(Date.parse(last) - DEFAULT_DAYS * DAY_MS);
	readSpan(first, last, now, { defaultMs: 0, maxDays: MAX_REPORT_DAYS });
	requireKeyOf(group, cursor, ["campaign"]);
	return { group, from: first, to: last, publisher: publisher ?? null, limit, after: cursor ?? null };
}
