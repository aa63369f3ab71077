import * as v from "valibot";
import { DEFAULT_PER_PAGE, MAX_PAGE, MAX_PER_PAGE, MAX_TEXT_LENGTH } from "../../products/read-query.ts";
import type { Answer, Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { count, from1, messagesAnswer, OTHER_METHOD, UNAUTHORIZED } from "./shapes.ts";

const text = v.string();
const orNull = v.nullable(text);
const searchText = v.pipe(text, v.maxLength(MAX_TEXT_LENGTH));

const affiliateSearchSchema = named(
	"AffiliateProductResults",
	v.strictObject({
		keyword: text,
		results: v.pipe(
			v.array(
				named(
					"AffiliateProduct",
					v.strictObject({
						id: text,
						name: text,
						image_url: orNull,
						currency: text,
						regular_price: v.number(),
						final_price: v.number(),
						on_sale: v.boolean(),
						availability: v.literal("InStock"),
						merchant: v.strictObject({ name: text }),
						redirect_url: v.pipe(text, v.description("Link for the Shop or Buy action.")),
					}),
				),
			),
			v.maxLength(20),
		),
		message: v.optional(v.pipe(text, v.description("Only where there are no results."))),
	}),
);

const marketplaceSearchSchema = named(
	"MarketplaceProductResults",
	v.strictObject({
		total: count,
		page: count,
		per_page: v.pipe(count, v.maxValue(MAX_PER_PAGE)),
		last_page: count,
		results: v.array(
			named(
				"MarketplaceProduct",
				v.strictObject({
					name: orNull,
					description: orNull,
					manufacturer: orNull,
					category: orNull,
					catalog_name: orNull,
					asin: orNull,
					current_price: v.pipe(orNull, v.description("Four decimals.")),
					image_url: orNull,
					stock_availability: orNull,
					redirect_url: orNull,
				}),
			),
		),
	}),
);

const FAILED: Answer = {
	description: "The search could not be completed.",
	content: {
		schema: named("SearchFailed", v.strictObject({ error: v.literal("Search failed."), message: text })),
		example: { error: "Search failed.", message: "The search could not be completed. Try again later." },
	},
};

export const PRODUCT_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/api/products/search",
		id: "searchProducts",
		tag: "Products",
		host: "base",
		credential: "PublisherKey",
		summary: "Affiliate Product Search",
		description: "At most 20 products in stock. Do not send an AccessKey header.",
		parameters: [
			{ in: "query", name: "keyword", required: true, description: "Search text.", schema: searchText, example: "running shoes" },
			{ in: "query", name: "domain", description: "Only products of this brand.", schema: text },
		],
		answers: {
			200: { description: "What was found.", content: { schema: affiliateSearchSchema } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: messagesAnswer("keyword", "The keyword field is required."),
			500: FAILED,
		},
	},
	{
		method: "get",
		path: "/api/marketplace-seller-products/search",
		id: "searchSellerProducts",
		tag: "Products",
		host: "base",
		credential: "PublisherKey",
		summary: "Marketplace Seller Product Search",
		description: "At least one of q and seller is needed.",
		parameters: [
			{ in: "query", name: "q", description: "Search text.", schema: searchText, example: "water bottle" },
			{ in: "query", name: "seller", description: "Name or id of a seller.", schema: searchText },
			{ in: "query", name: "page", description: "From 1.", schema: v.optional(from1(MAX_PAGE), 1) },
			{
				in: "query",
				name: "per_page",
				description: `More than ${MAX_PER_PAGE} counts as ${MAX_PER_PAGE}.`,
				schema: v.optional(from1(), DEFAULT_PER_PAGE),
			},
		],
		answers: {
			200: { description: "A page of results, by relevance.", content: { schema: marketplaceSearchSchema } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: messagesAnswer("q", "The q or seller field is required."),
			500: FAILED,
		},
	},
];
