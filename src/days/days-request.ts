/** What GET /api/days is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { day } from "../http/datetime.ts";
import { noTime } from "../http/period.ts";
import { readQuery } from "../http/read-input.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS, isUtcDay, utcDay } from "../lib/time.ts";

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
	const { from, to, limit, cursor } = readQuery(daysQuerySchema, query);
	const yesterday = utcDay(now - DAY_MS);
	const first = from ?? utcDay(Date.parse(to ?? yesterday) - 30 * DAY_MS);
	// Whoever asks for what follows the last day that it has may be early: of today there is nothing yet.
	if (first > (to ?? utcDay(now))) throw noTime(to);
	const last = to ?? yesterday;
	return { from: first, to: last < yesterday ? last : yesterday, limit, cursor: cursor ?? null };
}
