/** What GET /operator/clicks is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { inOrder, times } from "../../http/datetime.ts";
import { anyId, brandDomain, clickReason, countryCode, name } from "../../http/filters.ts";
import { readQuery } from "../../http/read-input.ts";
import { TOKEN_KINDS } from "../../lib/enums.ts";
import { canonicalHost } from "../../lib/host.ts";
import { OPERATOR_CURSOR, type Position, pageLimit } from "../../lib/page-cursor.ts";

/** Closed: a filter that is misspelled would show what it was to leave out. */
export const clicksQuerySchema = v.pipe(
	v.strictObject({
		id: v.optional(anyId),
		publisher: v.optional(name),
		source: v.optional(name),
		brand: v.optional(brandDomain),
		campaign: v.optional(v.pipe(v.string(), v.regex(/^\d{1,15}$/, "must be a campaign's id"))),
		platform: v.optional(name),
		country: v.optional(countryCode("must be a code such as US")),
		kind: v.optional(v.picklist(TOKEN_KINDS, `must be one of ${TOKEN_KINDS.join(", ")}`)),
		reason: v.optional(clickReason),
		...times,
		limit: pageLimit,
		cursor: v.optional(v.pipe(v.string(), v.regex(OPERATOR_CURSOR.pattern, "must be the next_cursor of an answer"))),
	}),
	inOrder(),
);

export type ClicksQuery = Omit<v.InferOutput<typeof clicksQuerySchema>, "from" | "to" | "cursor" | "campaign"> & {
	campaign?: number;
	fromAt: number | null;
	/** Excluded. */
	toAt: number | null;
	/** The last click of the page before. */
	after: Position | null;
};

/** An empty parameter counts as absent; a date as `to` includes that day. @throws HttpError 422 that names every parameter at fault */
export function readClicksQuery(query: Record<string, string>): ClicksQuery {
	const { from, to, cursor, brand, campaign, ...rest } = readQuery(clicksQuerySchema, query);
	return {
		...rest,
		...(brand !== undefined && { brand: canonicalHost(brand) ?? brand }),
		...(campaign !== undefined && { campaign: Number(campaign) }),
		fromAt: from ?? null,
		toAt: to ?? null,
		after: OPERATOR_CURSOR.read(cursor),
	};
}
