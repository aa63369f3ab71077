/** What GET /api/clicks is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { invalidInput } from "../http/errors.ts";
import { readInput } from "../http/read-input.ts";
import { CLICKS_CURSOR, type Position, pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS, utcDay } from "../lib/time.ts";
import { CLICK_REASONS } from "../lib/traffic-rules.ts";

export const MAX_CLICK_DAYS = 31;

const DATE = /^\d{4}-\d{2}-\d{2}$/;

const moment = v.pipe(
	v.string(),
	v.check(isMoment, "must be a UTC date such as 2026-11-18, or a time such as 2026-11-18T15:00:00Z"),
	v.description("UTC date, or ISO 8601 time."),
);
const wanted = ["paid", "unpaid", ...CLICK_REASONS] as const;

export const clicksQuerySchema = v.object({
	from: v.optional(moment),
	to: v.optional(moment),
	reason: v.optional(v.picklist(wanted, `must be one of ${wanted.join(", ")}`)),
	source: v.optional(v.pipe(v.string(), v.maxLength(255, "must have at most 255 characters"))),
	limit: pageLimit,
	cursor: v.optional(v.pipe(v.string(), v.regex(CLICKS_CURSOR.pattern, "must be the next_cursor of an answer"))),
});

export type ClicksQuery = {
	fromAt: number;
	/** Excluded. */
	toAt: number;
	reason: (typeof wanted)[number] | null;
	source: string | null;
	limit: number;
	after: Position | null;
};

/**
 * A date as `to` includes that day; without `to` it is now, and without `from` a day before `to`.
 * @throws HttpError 422 that names every parameter at fault
 */
export function readClicksQuery(query: Record<string, string>, now: number): ClicksQuery {
	const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
	const { from, to, reason, source, limit, cursor } = readInput(clicksQuerySchema, given, ({ message }) => message);
	const toAt = to === undefined ? now : Date.parse(to) + (DATE.test(to) ? DAY_MS : 0);
	const fromAt = from === undefined ? toAt - DAY_MS : Date.parse(from);
	if (fromAt >= toAt) {
		throw invalidInput([
			to === undefined ? { path: "from", message: "must not lie ahead" } : { path: "to", message: "must not be before from" },
		]);
	}
	if (toAt - fromAt > MAX_CLICK_DAYS * DAY_MS) {
		throw invalidInput([{ path: "from", message: `must be at most ${MAX_CLICK_DAYS} days before to` }]);
	}
	return {
		fromAt,
		toAt,
		reason: reason ?? null,
		source: source ?? null,
		limit,
		after: CLICKS_CURSOR.read(cursor),
	};
}

function isMoment(text: string): boolean {
	const at = Date.parse(text);
	// Date.parse takes 30 February for 2 March, and much that is no ISO 8601.
	if (DATE.test(text)) return !Number.isNaN(at) && utcDay(at) === text;
	return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(at);
}
