/** Answer of GET /api/brands. */
import * as v from "valibot";
import { RESTRICTED_TRAFFIC, TRAFFIC_TYPES } from "../lib/enums.ts";
import { count, usd } from "../lib/shapes.ts";

const text = v.string();
const textOrNull = v.nullable(text);

const offerSchema = v.strictObject({
	country: text,
	campaign_id: v.pipe(count, v.description("Of several campaigns the one with the highest price, then the lowest id.")),
	price: v.pipe(usd, v.description("What a click on its link would pay or promise now.")),
	available: v.pipe(v.boolean(), v.description("False while it takes no more clicks.")),
	homepage: v.pipe(v.boolean(), v.description("Whether links can lead to the brand's homepage.")),
	deeplinks: v.pipe(
		v.boolean(),
		v.description("Whether they can lead to its pages; by a campaign that pays less, where the best one cannot."),
	),
	commission_rate: v.pipe(textOrNull, v.description("Null where a flat fee is paid.")),
	flat_fee: v.optional(v.pipe(usd, v.description("Where enabled for you, and the brand pays one."))),
	rate_type: textOrNull,
	rate_basis: textOrNull,
	max_rate: textOrNull,
});

export const publisherBrandSchema = v.strictObject({
	domain: text,
	name: text,
	category: textOrNull,
	offer_id: v.pipe(text, v.description("As in reports.")),
	restricted_traffic: v.array(v.picklist(RESTRICTED_TRAFFIC)),
	traffic_types: v.array(v.picklist(TRAFFIC_TYPES)),
	new_deal: v.boolean(),
	last_updated_date: textOrNull,
	offers: v.pipe(v.array(offerSchema), v.description("One a country.")),
});

export const publisherBrandsSchema = v.strictObject({
	data: v.array(publisherBrandSchema),
	limit: count,
	next_cursor: v.pipe(textOrNull, v.description("Ask again with it; null where there are no more.")),
});

export type PublisherBrand = v.InferOutput<typeof publisherBrandSchema>;
export type PublisherBrands = v.InferOutput<typeof publisherBrandsSchema>;
