/** Times in requests. Pure. */
import * as v from "valibot";
import { DAY_MS, isUtcDay } from "../lib/time.ts";

const DAY_LENGTH = "2026-11-21".length;

/** What four digits of a year can tell: answers repeat the times that they were asked for. The last is the beginning of an hour. */
const EARLIEST_AT = Date.parse("0000-01-01T00:00:00Z");
const LATEST_AT = Date.parse("9999-12-31T23:00:00Z");

/** An ISO date, UTC. */
export const day = v.pipe(
	v.string("must be a text"),
	v.regex(/^\d{4}-\d{2}-\d{2}$/, "must be a day such as 2026-11-21"),
	v.check(isUtcDay, "must be a day of the calendar"),
	v.description("UTC date."),
);

/** An ISO date (its midnight) or datetime, UTC where it names no offset: {@link startOf} reads it. */
export const datetime = timeAs(
	/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/,
	"must be a date or datetime such as 2026-11-21T09:00:00Z",
	"UTC date, or ISO 8601 time, UTC where it names no offset.",
);

/** The same in requests of publishers, whose clocks are anywhere: a time names its offset. */
export const moment = timeAs(
	/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/,
	"must be a date, or a time with its offset such as 2026-11-21T09:00:00Z",
	"UTC date, or ISO 8601 time with its offset.",
);

function timeAs(form: RegExp, fault: string, description: string) {
	return v.pipe(
		v.string("must be a text"),
		v.regex(form, fault),
		v.check((text) => isOfCalendar(text, startOf(text)), "must be a time of the calendar"),
		v.description(description),
	);
}

/** Unix milliseconds of a {@link datetime}. */
export function startOf(text: string): number {
	return within(parse(text));
}

/** The first moment after a {@link datetime} up to which something is asked for: a date includes its day. Unix milliseconds. */
export function endOf(text: string): number {
	return within(parse(text) + (text.length === DAY_LENGTH ? DAY_MS : 0));
}

/** `from` and `to` of a list, the second excluded, as Unix milliseconds; {@link inOrder} holds them together. */
export const times = timesOf(datetime);
/** The same of a publisher's list. */
export const publisherTimes = timesOf(moment);

function timesOf(time: typeof datetime) {
	return {
		from: v.optional(v.pipe(time, v.transform(startOf))),
		to: v.optional(v.pipe(time, v.transform(endOf), v.description("Excluded; a date is included."))),
	};
}

/** For an input with {@link times}: there is no time between a `to` and a later `from`. */
export function inOrder<Of extends { from?: number | undefined; to?: number | undefined }>() {
	return v.rawCheck<Of>(({ dataset, addIssue }) => {
		if (!dataset.typed) return;
		const { from, to } = dataset.value;
		if (from === undefined || to === undefined || from < to) return;
		addIssue({ message: NOT_IN_ORDER, path: [{ type: "object", origin: "value", input: { ...dataset.value }, key: "to", value: to }] });
	});
}

export const NOT_IN_ORDER = "must not be before from";

/** An ISO datetime with its offset, which `Date.parse` reads. */
export const instant = v.pipe(
	v.string("must be a text"),
	v.isoTimestamp("must be a time such as 2027-01-01T00:00:00Z"),
	v.check((text) => isOfCalendar(text, Date.parse(text)), "must be a time such as 2027-01-01T00:00:00Z"),
);

/** A time that can be told again in four digits of a year. */
export function within(at: number): number {
	return Math.min(Math.max(at, EARLIEST_AT), LATEST_AT);
}

function parse(text: string): number {
	return Date.parse(text.length === DAY_LENGTH || /T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`);
}

function isOfCalendar(text: string, at: number): boolean {
	return isUtcDay(text.slice(0, DAY_LENGTH)) && !Number.isNaN(at);
}
