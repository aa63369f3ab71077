/** Brands page by page, and links to their pages. */
import { publisherBrandSchema, publisherBrandsSchema } from "../../publisher-api/brands-answer.ts";
import { brandsQuerySchema } from "../../publisher-api/brands-request.ts";
import { NO_LINK_REASONS } from "../../publisher-api/choose-link.ts";
import { linksSchema } from "../../publisher-api/links-answer.ts";
import { linksRequestSchema, MAX_LINKS, MAX_LINKS_BYTES } from "../../publisher-api/write-links.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { limited } from "./publisher-limits.ts";
import { faultsAnswer, largerThan, OTHER_METHOD, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("PublisherBrand", publisherBrandSchema);

const { domain, q, category, country, traffic_type, allows, min_price, new_deal, updated_since } = brandsQuerySchema.entries;
const reasons = Object.entries(NO_LINK_REASONS).map(([name, text]) => `\`${name}\`: ${text}`);

const SHARED = { tag: "Catalogue", host: "base", credential: "AccessKey" } as const;

export const PUBLISHER_BRAND_OPERATIONS: readonly Operation[] = [
	{
		...SHARED,
		method: "get",
		path: "/api/brands",
		id: "findBrands",
		summary: "Brands that you may promote, page by page",
		description:
			"The brands of the Brand List, with an offer for each country. With a filter a page may hold fewer brands than `limit`, even none, and still be followed by another: `next_cursor` says. A suspended publisher is answered 401.",
		parameters: [
			{ in: "query", name: "domain", description: "This brand alone.", schema: domain },
			{ in: "query", name: "q", description: "Part of the name or domain.", schema: q },
			{ in: "query", name: "category", description: "The category, in any letter case.", schema: category },
			{ in: "query", name: "country", description: "With an offer in this country; others are left out.", schema: country },
			{ in: "query", name: "traffic_type", description: "Offered for this type of traffic.", schema: traffic_type },
			{ in: "query", name: "allows", description: "Whose `restricted_traffic` does not have this.", schema: allows },
			{ in: "query", name: "min_price", description: "With an offer of at least this price, USD; others are left out.", schema: min_price },
			{ in: "query", name: "new_deal", description: "1 for new deals, 0 for others.", schema: new_deal },
			{ in: "query", name: "updated_since", description: "Whose `last_updated_date` is this day or later.", schema: updated_since },
			...PAGING,
		],
		answers: limited({
			200: { description: "A page of brands.", content: { schema: named("PublisherBrands", publisherBrandsSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			422: faultsAnswer,
		}),
	},
	{
		...SHARED,
		method: "post",
		path: "/api/links",
		id: "makeLinks",
		summary: "Tracking links to pages",
		description: `Up to ${MAX_LINKS} addresses; none of them is fetched. For each, in the order asked, a link and what a click on it would pay now, or why there is none. ${reasons.join("; ")}. A suspended publisher is answered 401.`,
		body: {
			required: true,
			contents: [
				{ schema: linksRequestSchema, example: { urls: ["https://shoes.example/boots", "https://unknown.example/"], country: "US" } },
			],
		},
		answers: limited({
			200: { description: "One for each address.", content: { schema: named("Links", linksSchema) } },
			401: UNAUTHORIZED,
			405: OTHER_METHOD,
			413: largerThan(MAX_LINKS_BYTES),
			422: faultsAnswer,
		}),
	},
];
