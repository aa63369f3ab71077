/** What GET /operator/conversions is asked for. */
import * as v from "valibot";
import { inOrder, times } from "../../http/datetime.ts";
import { name } from "../../http/filters.ts";
import { cursorOf } from "../../http/pages.ts";
import { readQuery } from "../../http/read-input.ts";
import { CONVERSION_HOLDS, CONVERSION_STAGES, CONVERSION_STATUSES, NO_MATCH_REASONS } from "../../lib/enums.ts";
import { canonicalHost } from "../../lib/host.ts";
import { parseMicros } from "../../lib/money.ts";
import { pageLimit } from "../../lib/page-cursor.ts";

/** Where a page ends: conversions are listed by when they were first reported, the newest first. */
const position = v.tuple([v.pipe(v.number(), v.safeInteger()), v.string(), v.string()]);

export const LISTED_REASONS = [...CONVERSION_HOLDS, ...NO_MATCH_REASONS] as const;

/** What times of conversions are listed by: the event's is that of reports and sums. */
export const LISTED_BY = ["report", "event"] as const;

/** Closed: a filter that is misspelled would show what it was to leave out. */
export const listSchema = v.pipe(
	v.strictObject({
		stage: v.optional(v.picklist(CONVERSION_STAGES, `must be one of ${CONVERSION_STAGES.join(", ")}`)),
		status: v.optional(v.picklist(CONVERSION_STATUSES, `must be one of ${CONVERSION_STATUSES.join(", ")}`)),
		/** platforms.id. */
		platform: v.optional(name),
		/** publishers.id. */
		publisher: v.optional(name),
		/** A brand's domain. */
		brand: v.optional(name),
		/** Why it is quarantined, or has no click. */
		reason: v.optional(v.picklist(LISTED_REASONS, `must be one of ${LISTED_REASONS.join(", ")}`)),
		/** When it was first reported, or, `by` its event, happened: from, and before. */
		by: v.optional(v.picklist(LISTED_BY, `must be one of ${LISTED_BY.join(", ")}`)),
		...times,
		/** Least payout, USD; in its own currency where its worth is not known. */
		min_amount: v.optional(
			v.pipe(
				v.string(),
				v.check((text) => parseMicros(text) !== null, "must be an amount such as 12.50, with at most six decimals"),
			),
		),
		limit: pageLimit,
		cursor: cursorOf(position),
	}),
	inOrder(),
);

export type ListQuery = Omit<v.InferOutput<typeof listSchema>, "from" | "to" | "min_amount" | "cursor"> & {
	fromAt: number | null;
	/** Excluded. */
	toAt: number | null;
	minMicros: number | null;
	after: v.InferOutput<typeof position> | null;
};

/** An empty parameter counts as absent. @throws HttpError 422 that names every parameter at fault */
export function readListQuery(query: Record<string, string>): ListQuery {
	const { from, to, min_amount, cursor, brand, ...rest } = readQuery(listSchema, query);
	return {
		...rest,
		...(brand !== undefined && { brand: canonicalHost(brand) ?? brand }),
		fromAt: from ?? null,
		toAt: to ?? null,
		minMicros: min_amount === undefined ? null : parseMicros(min_amount),
		after: cursor ?? null,
	};
}
