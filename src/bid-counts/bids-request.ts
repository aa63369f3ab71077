/** What GET /operator/bids is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { datetime } from "../http/datetime.ts";
import { name } from "../http/filters.ts";
import { groupCursor, groupOf, readSpan, requireKeyOf } from "../http/period.ts";
import { readQuery } from "../http/read-input.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS, HOUR_MS, hourOf } from "../lib/time.ts";
import { BIDS_GROUPS, type BidsGroup } from "./bids-answer.ts";
import { BID_COUNTS_DAYS } from "./kept-for.ts";

export const bidsQuerySchema = v.strictObject({
	group: groupOf(BIDS_GROUPS, "hour,publisher,reason"),
	from: v.optional(datetime),
	to: v.optional(datetime),
	publisher: v.optional(name),
	limit: pageLimit,
	cursor: groupCursor,
});

export type BidsQuery = {
	group: readonly BidsGroup[];
	/** Unix time in hours; the second excluded. */
	fromHour: number;
	toHour: number;
	publisher: string | null;
	limit: number;
	/** The group of the last row of the page before. */
	after: readonly (string | number)[] | null;
};

/** Hours of a period: those that it touches. @throws HttpError 422 for a period that is none, or too long */
export function readHours(from: string | undefined, to: string | undefined, now: number): { fromHour: number; toHour: number } {
	const { fromAt, toAt } = readSpan(from, to, now, { defaultMs: DAY_MS, maxDays: BID_COUNTS_DAYS });
	return { fromHour: hourOf(fromAt), toHour: Math.ceil(toAt / HOUR_MS) };
}

/** @throws HttpError 422 that names every parameter at fault */
export function readBidsQuery(query: Record<string, string>, now: number): BidsQuery {
	const { group, from, to, publisher, limit, cursor } = readQuery(bidsQuerySchema, query);
	const hours = readHours(from, to, now);
	requireKeyOf(group, cursor, ["hour", "day"]);
	return { group, ...hours, publisher: publisher ?? null, limit, after: cursor ?? null };
}
