/** Times in requests to the operator's verbs. Pure. */
import * as v from "valibot";
import { DAY_MS, isUtcDay } from "../lib/time.ts";

const DAY_LENGTH = "2026-11-21".length;

/** An ISO date (its midnight) or datetime, UTC where it names no offset: {@link timeOf} reads it. */
export const datetime = v.pipe(
	v.string("must be a text"),
	v.regex(
		/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/,
		"must be a date or datetime such as 2026-11-21T09:00:00Z",
	),
	v.check((text) => isOfCalendar(text, timeOf(text)), "must be a time of the calendar"),
);

/** Unix milliseconds of a {@link datetime}. */
export function timeOf(text: string): number {
	return Date.parse(text.length === DAY_LENGTH || /T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`);
}

/** The first moment after a {@link datetime} up to which something is asked for: a date includes its day. Unix milliseconds. */
export function endOfTime(text: string): number {
	return timeOf(text) + (text.length === DAY_LENGTH ? DAY_MS : 0);
}

/** An ISO datetime with its offset, which `Date.parse` reads. */
export const instant = v.pipe(
	v.string("must be a text"),
	v.isoTimestamp("must be a time such as 2027-01-01T00:00:00Z"),
	v.check((text) => isOfCalendar(text, Date.parse(text)), "must be a time such as 2027-01-01T00:00:00Z"),
);

function isOfCalendar(text: string, at: number): boolean {
	return isUtcDay(text.slice(0, DAY_LENGTH)) && !Number.isNaN(at);
}
