/** What GET /api/earnings is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { day } from "../http/datetime.ts";
import { groupCursor, groupOf, readDaySpan, requireKeyOf } from "../http/period.ts";
import { readQuery } from "../http/read-input.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { EARNINGS_GROUPS, type EarningsGroup } from "./earnings-answer.ts";

export const MAX_EARNINGS_DAYS = 366;
/** The days before `to` where `from` is not given. */
const DEFAULT_DAYS = 30;

export const earningsQuerySchema = v.strictObject({
	group: groupOf(EARNINGS_GROUPS, "day"),
	from: v.optional(day),
	to: v.optional(day),
	limit: pageLimit,
	cursor: groupCursor,
});

export type EarningsQuery = {
	group: readonly EarningsGroup[];
	/** UTC dates, both included. */
	from: string;
	to: string;
	limit: number;
	/** The group of the last row of the page before. */
	after: readonly (string | number)[] | null;
};

/**
 * Without `to` it is today; without `from` a month before `to`.
 * @throws HttpError 422 that names every parameter at fault
 */
export function readEarningsQuery(query: Record<string, string>, now: number): EarningsQuery {
	const { group, from, to, limit, cursor } = readQuery(earningsQuerySchema, query);
	const days = readDaySpan(from, to, now, { defaultDays: DEFAULT_DAYS, maxDays: MAX_EARNINGS_DAYS });
	requireKeyOf(group, cursor, ["campaign"]);
	return { group, ...days, limit, after: cursor ?? null };
}
