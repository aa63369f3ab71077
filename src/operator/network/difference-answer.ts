/** What an import changes, or would: part of its answer. */
import * as v from "valibot";
import { count } from "../../lib/shapes.ts";

/** Sections whose entries can differ, what reaches furthest first; `traffic` and `epc_learning` are the network's own settings. */
export const DIFFERENCE_SECTIONS = [
	"traffic",
	"epc_learning",
	"platforms",
	"publishers",
	"brands",
	"campaigns",
	"exchange_rates",
	"products",
	"seller_products",
] as const;
export type DifferenceSection = (typeof DIFFERENCE_SECTIONS)[number];

const id = v.pipe(v.string(), v.description("As the network file has it: a brand's domain, a campaign's id; a rate's currency and date."));
const section = v.picklist(DIFFERENCE_SECTIONS);
const value = v.pipe(
	v.unknown(),
	v.description("As in the network file; where one is long, what differs of both, cut short, and it ends in …"),
);

const fieldSchema = v.strictObject({ field: v.string(), before: value, after: value });
export type FieldChange = v.InferOutput<typeof fieldSchema>;

export const entryChangeSchema = v.strictObject({
	section,
	id,
	brand: v.pipe(v.optional(v.string()), v.description("Of a campaign: its brand's domain.")),
	kind: v.picklist(["added", "changed", "removed"]),
	fields: v.pipe(
		v.array(fieldSchema),
		v.description("Of a new entry, those that are not the default; of a removed one, those that were not."),
	),
});
export type EntryChange = v.InferOutput<typeof entryChangeSchema>;

const lossSchema = v.strictObject({
	section,
	id,
	field: v.pipe(v.nullable(v.string()), v.description("Null where the entry is removed.")),
	before: value,
	after: value,
});
export type Loss = v.InferOutput<typeof lossSchema>;

const price = v.pipe(
	v.string(),
	v.description("Of a keyword that has no entry in `keyword_epc`: what its campaign has for those, `default_keyword_epc` or else `epc`."),
);
const priceMoveSchema = v.strictObject({ section, id, field: v.string(), before: price, after: price });
export type PriceMove = v.InferOutput<typeof priceMoveSchema>;

const campaignIds = v.array(count);
const publisherIds = v.array(v.string());

export const differenceSchema = v.strictObject({
	added: count,
	changed: count,
	removed: count,
	entries: v.array(entryChangeSchema),
	entries_left_out: v.pipe(count, v.description("Further ones, which are not listed.")),
	losses: v.pipe(v.array(lossSchema), v.description("What is turned off, cleared, shortened or removed: the gravest of it, that first.")),
	loss_count: count,
	bids: v.strictObject({
		starts: v.pipe(count, v.description("Campaigns that bid from now on, or in another country than before.")),
		stops: v.pipe(count, v.description("Campaigns that bid no more, or no more in the country where they did.")),
		started: v.pipe(campaignIds, v.description("The first of them.")),
		stopped: v.pipe(campaignIds, v.description("The first of them.")),
		prices: v.pipe(
			v.array(priceMoveSchema),
			v.description(
				"Prices and shares that move by more than a factor of 2. Of many those that moved furthest, evenly of each section and entry.",
			),
		),
		price_count: count,
		publishers: v.strictObject({
			starts: v.pipe(count, v.description("Publishers that are bid for from now on, or by another endpoint or name than before.")),
			stops: v.pipe(count, v.description("Publishers that are bid for no more, or no more by an endpoint or a name by which they were.")),
			started: v.pipe(publisherIds, v.description("The first of them.")),
			stopped: v.pipe(publisherIds, v.description("The first of them.")),
		}),
		blocked: v.pipe(
			count,
			v.description(
				"Pairs of a publisher that is bid for and a campaign that bids, which `blocked_brands` of publishers part from now on.",
			),
		),
	}),
});
export type DifferenceAnswer = v.InferOutput<typeof differenceSchema>;
