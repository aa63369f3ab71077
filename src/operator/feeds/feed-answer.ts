/** Answer of POST /operator/products and /operator/seller-products to a feed that was read. */
import * as v from "valibot";
import { count } from "../../lib/shapes.ts";

const text = v.string();

export const feedReportSchema = v.strictObject({
	feed: v.pipe(text, v.description("Names the upload; empty where nothing was to be replaced.")),
	accepted: count,
	rejected: count,
	rejected_lines: v.pipe(v.array(v.strictObject({ line: count, reason: text })), v.description("The first hundred.")),
	unknown_domains: v.pipe(v.array(text), v.description("Domains of accepted products that are no brand's.")),
	other_brands: v.optional(
		v.pipe(
			v.array(v.strictObject({ domain: text, products: count })),
			v.description(
				"Whose products of the same ids these have taken the place of, the first twenty brands: `id_prefix` keeps feeds apart.",
			),
		),
	),
	unread_characters: v.optional(
		v.pipe(
			v.strictObject({ products: count, line: count }),
			v.description(
				"How many accepted products have characters that could not be read, kept as U+FFFD, and the line of the first: `encoding` names what a feed is in.",
			),
		),
	),
	removed: v.pipe(v.nullable(count), v.description("Products that the feed no longer has; null where none were to be removed.")),
	dry_run: v.pipe(
		v.boolean(),
		v.description("True: nothing was written. What `replace` would remove is not told: that is known once the feed is written."),
	),
	message: v.optional(v.pipe(text, v.description("Why nothing was removed, or why the feed was not read to its end."))),
	cut_off: v.optional(
		v.pipe(v.literal(true), v.description("The feed ends within a record, so that `replace` removes nothing unless it is confirmed.")),
	),
	/** The feed was not read to its end. */
	incomplete: v.optional(v.literal(true)),
});

/** Why nothing is removed then. */
export const CUT_OFF = "the feed ends within a record, so it may have broken off. If it is whole, confirm it";

export type FeedReport = v.InferOutput<typeof feedReportSchema>;
