/** What GET /api/brands is asked for. Pure: the query in, or the faults of each parameter. */
import * as v from "valibot";
import { day } from "../http/datetime.ts";
import { brandDomain, countryCode, name } from "../http/filters.ts";
import { cursorOf } from "../http/pages.ts";
import { readQuery } from "../http/read-input.ts";
import { RESTRICTED_TRAFFIC, TRAFFIC_TYPES, type TrafficType } from "../lib/enums.ts";
import { canonicalHost } from "../lib/host.ts";
import { PRICE_SCALE, parseDecimal } from "../lib/money.ts";
import { pageLimit } from "../lib/page-cursor.ts";

const PRICE_DIGITS = Math.log10(PRICE_SCALE);

/** One of a list, whatever its letter case. */
function oneOf<const Name extends string>(names: readonly Name[]) {
	return v.pipe(
		v.string(),
		v.transform((text) => names.find((name) => name.toLowerCase() === text.trim().toLowerCase())),
		v.picklist(names, `must be one of ${names.join(", ")}`),
	);
}

const price = v.pipe(
	v.string(),
	v.transform((text) => parseDecimal(text, PRICE_DIGITS)),
	v.number("must be an amount such as 0.05, with at most four decimals"),
	v.minValue(0, "must not be negative"),
);

export const brandsQuerySchema = v.strictObject({
	domain: v.optional(brandDomain),
	q: v.optional(name),
	category: v.optional(name),
	country: v.optional(countryCode("must be an ISO country code such as US")),
	traffic_type: v.optional(oneOf(TRAFFIC_TYPES)),
	allows: v.optional(oneOf(RESTRICTED_TRAFFIC)),
	min_price: v.optional(price),
	new_deal: v.optional(v.picklist(["0", "1"], "must be 1 or 0")),
	updated_since: v.optional(day),
	limit: pageLimit,
	cursor: cursorOf(v.strictTuple([v.pipe(v.number(), v.safeInteger())])),
});

export type BrandsQuery = {
	/** Canonical: of this brand alone. */
	domain: string | null;
	/** Part of the name or domain. */
	text: string | null;
	category: string | null;
	country: string | null;
	trafficType: TrafficType | null;
	/** Traffic that the brand must not rule out. */
	allows: (typeof RESTRICTED_TRAFFIC)[number] | null;
	/** Ten-thousandths of a USD. */
	minPrice: number | null;
	newDeal: boolean | null;
	updatedSince: string | null;
	limit: number;
	/** The last brand's id of the page before. */
	after: number;
};

/** @throws HttpError 422 that names every parameter at fault */
export function readBrandsQuery(query: Record<string, string>): BrandsQuery {
	const read = readQuery(brandsQuerySchema, query);
	return {
		domain: read.domain === undefined ? null : canonicalHost(read.domain),
		text: read.q ?? null,
		category: read.category ?? null,
		country: read.country ?? null,
		trafficType: read.traffic_type === "All" ? null : (read.traffic_type ?? null),
		allows: read.allows ?? null,
		minPrice: read.min_price ?? null,
		newDeal: read.new_deal === undefined ? null : read.new_deal === "1",
		updatedSince: read.updated_since ?? null,
		limit: read.limit,
		after: read.cursor?.[0] ?? -1,
	};
}
