/** What GET /api/clicks is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { moment } from "../http/datetime.ts";
import { anyId, brandDomain, type ClickReasonFilter, clickReason, type ListOrder, listOrder, name } from "../http/filters.ts";
import { readSpan, type Span, type SpanRules } from "../http/period.ts";
import { readQuery } from "../http/read-input.ts";
import { canonicalHost } from "../lib/host.ts";
import { CLICKS_CURSOR, type Position, pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS } from "../lib/time.ts";

export const MAX_CLICK_DAYS = 31;

export const clicksQuerySchema = v.strictObject({
	id: v.optional(anyId),
	from: v.optional(moment),
	to: v.optional(moment),
	reason: v.optional(clickReason),
	brand: v.optional(brandDomain),
	source: v.optional(name),
	order: listOrder,
	limit: pageLimit,
	cursor: v.optional(v.pipe(v.string(), v.regex(CLICKS_CURSOR.pattern, "must be the next_cursor of an answer"))),
});

export type ClicksQuery = Span & {
	/** The publisher's click id, the transaction id of reports, that of a conversion's platform, or the list's own id. */
	id: string | null;
	reason: ClickReasonFilter | null;
	/** Canonical. */
	brand: string | null;
	source: string | null;
	order: ListOrder;
	limit: number;
	after: Position | null;
};

/**
 * A date as `to` includes that day; without `to` it is now, and without `from` a day before `to`. One id is looked for in all time, if
 * neither is given.
 * @throws HttpError 422 that names every parameter at fault
 */
export function readClicksQuery(query: Record<string, string>, now: number): ClicksQuery {
	const { id, from, to, reason, brand, source, order, limit, cursor } = readQuery(clicksQuerySchema, query);
	return {
		...readSpanOf({ id, from, to }, now, { defaultMs: DAY_MS, maxDays: MAX_CLICK_DAYS }),
		id: id ?? null,
		reason: reason ?? null,
		brand: brand === undefined ? null : canonicalHost(brand),
		source: source ?? null,
		order,
		limit,
		after: CLICKS_CURSOR.read(cursor),
	};
}

type Asked = Record<"id" | "from" | "to", string | undefined>;

/** The time of a list in which one id can be looked for. */
export function readSpanOf({ id, from, to }: Asked, now: number, rules: SpanRules): Span {
	if (id === undefined) return readSpan(from, to, now, rules);
	// Clocks of the places that record may be ahead.
	const span = { defaultMs: now + DAY_MS, maxDays: Number.POSITIVE_INFINITY };
	return from === undefined && to === undefined ? { fromAt: 0, toAt: now + DAY_MS } : readSpan(from, to, now, span);
}
