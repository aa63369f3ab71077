/** The time of a list: `from` and `to` of its query. Pure. */
import * as v from "valibot";
import { DAY_MS, isUtcDay } from "../lib/time.ts";
import { invalidInput } from "./errors.ts";

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_LENGTH = "2026-11-18".length;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

export const day = v.pipe(v.string(), v.check(isUtcDay, "must be a UTC date such as 2026-11-18"), v.description("UTC date."));

export const moment = v.pipe(
	v.string(),
	v.check(isMoment, "must be a UTC date such as 2026-11-18, or a time such as 2026-11-18T15:00:00Z"),
	v.description("UTC date, or ISO 8601 time."),
);

export type Span = {
	fromAt: number;
	/** Excluded. */
	toAt: number;
};

export type SpanRules = {
	/** Without `from` it is this long before `to`, milliseconds. */
	defaultMs: number;
	/** The most days of a period. */
	maxDays: number;
};

/**
 * A date as `to` includes that day; without `to` it is now.
 * @param from,to as {@link moment} takes them
 * @throws HttpError 422 for a period that is none, or too long
 */
export function readSpan(from: string | undefined, to: string | undefined, now: number, { defaultMs, maxDays }: SpanRules): Span {
	const toAt = to === undefined ? now : endOf(to);
	const fromAt = from === undefined ? toAt - defaultMs : Date.parse(from);
	if (fromAt >= toAt) {
		throw invalidInput([
			to === undefined ? { path: "from", message: "must not lie ahead" } : { path: "to", message: "must not be before from" },
		]);
	}
	if (toAt - fromAt > maxDays * DAY_MS) throw invalidInput([{ path: "from", message: `must be at most ${maxDays} days before to` }]);
	return { fromAt, toAt };
}

/** The first moment after `to`, of which a date includes its day. @param to as {@link moment} takes it */
export function endOf(to: string): number {
	return Date.parse(to) + (DATE.test(to) ? DAY_MS : 0);
}

/** Every parameter but those that are empty, which count as not sent. Schemas of queries are closed: a misspelled filter would list all. */
export function givenOf(query: Record<string, string>): Record<string, string> {
	return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
}

/**
 * A list of names to group by: each once, with commas between them.
 * @param names what may be grouped by
 */
export function groupOf<const Name extends string>(names: readonly Name[], otherwise: string) {
	const fault = `must be some of ${names.join(", ")}, with commas between them, each once`;
	return v.optional(
		v.pipe(
			v.string(),
			v.transform((text) => text.split(",").map((name) => name.trim().toLowerCase())),
			v.array(v.picklist(names, fault)),
			v.check((given) => new Set(given).size === given.length, fault),
		),
		otherwise,
	);
}

function isMoment(text: string): boolean {
	// Date.parse takes much that is no ISO 8601.
	return isUtcDay(text) || (TIME.test(text) && isUtcDay(text.slice(0, DATE_LENGTH)) && !Number.isNaN(Date.parse(text)));
}

/**
 * Holds the cursor of a grouped list to its group: a value for each name.
 * @param numbers names whose values are numbers; everything else is told by texts
 * @throws HttpError 422 for a cursor of another group
 */
export function requireKeyOf(group: readonly string[], cursor: readonly (string | number)[] | undefined, numbers: readonly string[]): void {
	if (cursor === undefined) return;
	const isOf = (value: string | number, at: number) => (typeof value === "number") === numbers.includes(group[at] ?? "");
	if (cursor.length !== group.length || !cursor.every(isOf)) throw invalidInput([{ path: "cursor", message: "must be of the same group" }]);
}
