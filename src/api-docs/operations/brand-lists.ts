import * as v from "valibot";
import { RESTRICTED_TRAFFIC, TRAFFIC_TYPES } from "../../lib/enums.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { dateSchema, OTHER_METHOD, UNAUTHORIZED } from "./shapes.ts";

const record = {
	merchant_id: v.pipe(v.number(), v.integer(), v.description("May change; do not key on it.")),
	offer_id: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/), v.description("The same as in the revenue share report.")),
	campaign_id: v.pipe(v.number(), v.integer()),
	domain: v.pipe(v.string(), v.description("The stable identifier of a brand.")),
	brand_name: v.string(),
	merchant_category: v.nullable(v.string()),
	verification_status: v.literal("verified"),
	click_url_homepage: v.optional(v.pipe(v.string(), v.description("Replace {clickid} and the other placeholders."))),
	click_url_deeplink: v.optional(v.pipe(v.string(), v.description("As above; {dl} is the page, percent-encoded."))),
	country_code: v.string(),
	restricated_traffic: v.pipe(v.array(v.picklist(RESTRICTED_TRAFFIC)), v.description("What you may not do. Misspelt, with an a.")),
	new_deal: v.picklist([0, 1]),
	last_updated_date: v.nullable(dateSchema),
	commission_rate: v.nullable(v.string()),
	flat_fee: v.optional(v.pipe(v.number(), v.description("USD; only for publishers enabled for cashback. commission_rate is null then."))),
};

const brandSchema = named("Brand", v.strictObject(record));
const brandByTrafficTypeSchema = named(
	"BrandByTrafficType",
	v.strictObject({
		...record,
		country_code: v.pipe(v.string(), v.regex(/^[A-Z]{2}$/)),
		rate_type: v.nullable(v.string()),
		rate_basis: v.nullable(v.string()),
		max_rate: v.nullable(v.string()),
	}),
);

const brandListSchema = named("BrandList", v.strictObject({ success: v.literal(true), data: v.array(brandSchema) }));

const brandListByTypeSchema = named(
	"BrandListByTrafficType",
	v.strictObject({ success: v.literal(true), data: v.array(brandByTrafficTypeSchema) }),
);

const refused = named("NoBrandList", v.strictObject({ success: v.literal(false), message: v.string() }));
const ETAG = { etag: "Version of the list; send it as If-None-Match." };
const NOT_MODIFIED = { description: "Nothing has changed since the ETag that If-None-Match names.", headers: ETAG };
const CONDITION = { in: "header", name: "If-None-Match", description: "The ETag of the list you have.", schema: v.string() } as const;

export const BRAND_LIST_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/api/brands-list",
		id: "listBrands",
		tag: "Catalogue",
		host: "base",
		credential: "AccessKey",
		summary: "Brand List",
		description: "One record a domain. The answer streams; send If-None-Match and Accept-Encoding: gzip.",
		parameters: [CONDITION],
		answers: {
			200: { description: "The brands you may promote.", headers: ETAG, content: { schema: brandListSchema } },
			304: NOT_MODIFIED,
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
		},
	},
	{
		method: "get",
		path: "/api/brands-list-by-traffic-type",
		id: "listBrandsByTrafficType",
		tag: "Catalogue",
		host: "base",
		credential: "AccessKey",
		summary: "Brand List by Traffic Type",
		description: "One record a brand and country.",
		parameters: [
			{
				in: "query",
				name: "traffic_type",
				required: true,
				description: `One of ${TRAFFIC_TYPES.join(", ")}, in any case.`,
				schema: v.string(),
				example: "Content",
			},
			CONDITION,
		],
		answers: {
			200: {
				description: "The brands, or that there are none.",
				headers: ETAG,
				content: { schema: v.union([brandListByTypeSchema, refused]) },
			},
			304: NOT_MODIFIED,
			400: {
				description: "traffic_type is missing or none of the names.",
				content: { schema: refused, example: { success: false, message: "Invalid traffic_type." } },
			},
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
		},
	},
];
