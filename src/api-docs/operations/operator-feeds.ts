/** The operator's product feeds. */
import * as v from "valibot";
import { type FeedKind, fieldsOf } from "../../operator/feeds/feed-columns.ts";
import type { Operation, Parameter } from "../operation.ts";
import { count, errorSchema, UNAUTHORIZED } from "./shapes.ts";

const text = v.string();
const messagesSchema = v.strictObject({ error: v.literal("Validation failed"), messages: v.record(text, v.array(text)) });

export const feedReportSchema = v.strictObject({
	feed: v.pipe(text, v.description("Names the upload; empty where nothing was to be replaced.")),
	accepted: count,
	rejected: count,
	rejected_lines: v.pipe(v.array(v.strictObject({ line: count, reason: text })), v.description("The first hundred.")),
	unknown_domains: v.pipe(v.array(text), v.description("Domains of accepted products that are no brand's.")),
	removed: v.pipe(v.nullable(count), v.description("Products that the feed no longer has; null where none were to be removed.")),
	message: v.optional(v.pipe(text, v.description("Why nothing was removed, or why the feed was not read to its end."))),
	incomplete: v.optional(v.literal(true)),
});

function parametersOf(kind: FeedKind): readonly Parameter[] {
	return [
		{
			in: "query",
			name: "replace",
			description: "Then removes what the feed does not have: of the brands in it (`domains`), or of all (`all`).",
			schema: v.picklist(["domains", "all"]),
		},
		{
			in: "query",
			name: "feed",
			description: "Names an upload of several parts; the last one carries `replace`, with or without a body.",
			schema: text,
		},
		{ in: "query", name: "line", description: "Line of the part's first record in the whole feed.", schema: count },
		{
			in: "query",
			name: "mapping",
			description: "JSON object: column of the feed to field.",
			schema: text,
			example: '{"Item name":"name"}',
		},
		{ in: "query", name: "id_prefix", description: "Put before every id.", schema: text },
		...fieldsOf(kind).map(
			(name): Parameter => ({ in: "query", name, description: "Value of this field for the whole feed.", schema: text }),
		),
	];
}

function operation(kind: FeedKind, path: string, id: string, summary: string): Operation {
	return {
		method: "post",
		path,
		id,
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary,
		description:
			"CSV with a header line, or one JSON object a line; gzip or not. Upsert by id, in batches; a record at fault is rejected alone. The same feed may be sent again.",
		parameters: parametersOf(kind),
		body: {
			required: true,
			contents: [
				{ schema: null, type: "text/csv" },
				{ schema: null, type: "application/x-ndjson" },
			],
		},
		answers: {
			200: { description: "What was taken over.", content: { schema: feedReportSchema } },
			401: UNAUTHORIZED,
			413: { description: "The part is too large for one request.", content: { schema: errorSchema } },
			422: {
				description: "An option is at fault and nothing was read, or the feed could not be read to its end.",
				content: { schema: v.union([messagesSchema, feedReportSchema]) },
			},
		},
	};
}

export const OPERATOR_FEED_OPERATIONS: readonly Operation[] = [
	operation("products", "/operator/products", "importProducts", "Take over a product feed"),
	operation("seller_products", "/operator/seller-products", "importSellerProducts", "Take over a feed of sellers' products"),
];
