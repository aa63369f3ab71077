/** The time of a list: `from` and `to` of its query. Pure. */
import * as v from "valibot";
import { DAY_MS, utcDay } from "../lib/time.ts";
import { endOf, NOT_IN_ORDER, startOf, within } from "./datetime.ts";
import { invalidInput } from "./errors.ts";
import { cursorOf } from "./pages.ts";

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
 * @param from,to as `datetime` takes them
 * @throws HttpError 422 for a period that is none, or too long
 */
export function readSpan(from: string | undefined, to: string | undefined, now: number, { defaultMs, maxDays }: SpanRules): Span {
	const toAt = to === undefined ? now : endOf(to);
	const fromAt = from === undefined ? within(toAt - defaultMs) : startOf(from);
	if (fromAt >= toAt) throw noTime(to);
	if (toAt - fromAt > maxDays * DAY_MS) throw invalidInput([{ path: "from", message: `must be at most ${maxDays} days before to` }]);
	return { fromAt, toAt };
}

export type DaysRules = {
	/** Without `from` it is so many days before `to`. */
	defaultDays: number;
	/** The most days of a period. */
	maxDays: number;
};

/**
 * Days of a list, both included; without `to` it is today.
 * @param from,to as `day` takes them
 * @throws HttpError 422 for a period that is none, or too long
 */
export function readDaySpan(from: string | undefined, to: string | undefined, now: number, { defaultDays, maxDays }: DaysRules) {
	const last = to ?? utcDay(now);
	const first = from ?? utcDay(within(Date.parse(last) - defaultDays * DAY_MS));
	if (first > last) throw noTime(to);
	readSpan(first, last, now, { defaultMs: 0, maxDays });
	return { from: first, to: last };
}

/** The 422 of a period that ends before it begins. @param to where it was given */
export function noTime(to: string | undefined): Error {
	return invalidInput([to === undefined ? { path: "from", message: "must not lie ahead" } : { path: "to", message: NOT_IN_ORDER }]);
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
			// One fault of the parameter, not one of each name.
			v.custom<Name[]>((given) => isSomeOf(names, given) && new Set(given).size === given.length, fault),
		),
		otherwise,
	);
}

/** Whether a parameter that was cut at its commas holds none but these names. */
export function isSomeOf<const Name extends string>(names: readonly Name[], given: unknown): given is Name[] {
	return Array.isArray(given) && given.every((name) => names.includes(name));
}

/** The cursor of a grouped list: what its last row has by each name, see {@link requireKeyOf}. */
export const groupCursor = cursorOf(v.array(v.union([v.pipe(v.string(), v.maxLength(2_000)), v.pipe(v.number(), v.safeInteger())])));

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
