/** What GET /api/conversions is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { moment } from "../http/datetime.ts";
import { anyId, brandDomain, type ListOrder, listOrder, name } from "../http/filters.ts";
import { cursorOf } from "../http/pages.ts";
import type { Span } from "../http/period.ts";
import { readQuery } from "../http/read-input.ts";
import { CONVERSION_STATUSES } from "../lib/enums.ts";
import { canonicalHost } from "../lib/host.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS } from "../lib/time.ts";
import { readSpanOf } from "./clicks-request.ts";

export const MAX_CONVERSION_DAYS = 366;
/** The days before `to` where `from` is not given. */
const DEFAULT_DAYS = 31;

const wanted = [...CONVERSION_STATUSES, "held"] as const;
/** Time of the event, platform and transaction id. */
const keySchema = v.strictTuple([v.pipe(v.number(), v.safeInteger()), v.string(), v.string()]);

export const conversionsQuerySchema = v.strictObject({
	id: v.optional(anyId),
	from: v.optional(moment),
	to: v.optional(moment),
	status: v.optional(v.picklist(wanted, `must be one of ${wanted.join(", ")}`)),
	brand: v.optional(brandDomain),
	source: v.optional(name),
	order: listOrder,
	limit: pageLimit,
	cursor: cursorOf(keySchema),
});

export type ConversionsQuery = Span & {
	/** The transaction id, or an id of its click. */
	id: string | null;
	status: (typeof wanted)[number] | null;
	/** Canonical. */
	brand: string | null;
	source: string | null;
	order: ListOrder;
	limit: number;
	after: v.InferOutput<typeof keySchema> | null;
};

/**
 * By when they happened. A date as `to` includes that day; without `to` it is now. One id is looked for in all time, if neither is given.
 * @throws HttpError 422 that names every parameter at fault
 */
export function readConversionsQuery(query: Record<string, string>, now: number): ConversionsQuery {
	const { id, from, to, status, brand, source, order, limit, cursor } = readQuery(conversionsQuerySchema, query);
	return {
		...readSpanOf({ id, from, to }, now, { defaultMs: DEFAULT_DAYS * DAY_MS, maxDays: MAX_CONVERSION_DAYS }),
		id: id ?? null,
		status: status ?? null,
		brand: brand === undefined ? null : canonicalHost(brand),
		source: source ?? null,
		order,
		limit,
		after: cursor ?? null,
	};
}
