/** What GET /api/days is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { invalidInput } from "../http/errors.ts";
import { readInput } from "../http/read-input.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS, isUtcDay, utcDay } from "../lib/time.ts";

const day = v.pipe(v.string(), v.check(isUtcDay, "must be a UTC date such as 2026-11-18"));

export const daysQuerySchema = v.strictObject({
	from: v.optional(day),
	to: v.optional(day),
	limit: pageLimit,
	/** The last day of a page. */
	cursor: v.optional(v.pipe(v.string(), v.check(isUtcDay, "must be the next_cursor of an answer"))),
});

/** Days of which both are included. */
export type DaysQuery = { from: string; to: string; limit: number; cursor: string | null };

/**
 * Without `to` it is yesterday, the last day that is closed; without `from` a month before `to`.
 * @throws HttpError 422 that names every parameter at fault
 */
export function readDaysQuery(query: Record<string, string>, now: number): DaysQuery {
	const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
	const { from, to, limit, cursor } = readInput(daysQuerySchema, given);
	const yesterday = utcDay(now - DAY_MS);
	const last = to ?? yesterday;
	const first = from ?? utcDay(Date.parse(last) - 30 * DAY_MS);
	if (first > last) throw invalidInput([{ path: to === undefined ? "from" : "to", message: "must not be before from" }]);
	return { from: first, to: last < yesterday ? last : yesterday, limit, cursor: cursor ?? null };
}
