/** The operator's product feeds. */
import * as v from "valibot";
import { faultsSchema } from "../../lib/shapes.ts";
import { feedReportSchema } from "../../operator/feeds/feed-answer.ts";
import { type FeedKind, fieldsOf } from "../../operator/feeds/feed-columns.ts";
import { FEED_NAME, MAX_LINE, REPLACE_WORDS } from "../../operator/feeds/feed-options.ts";
import { MAX_FILE_BYTES } from "../../operator/routes.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, flagParameter, from1, largerThan, UNAUTHORIZED } from "./shapes.ts";

const text = v.string();

function parametersOf(kind: FeedKind): readonly Parameter[] {
	return [
		DRY_RUN,
		{
			in: "query",
			name: "replace",
			description: "Then removes what the feed does not have: of the brands in it (`domains`, or `true`), or of all (`all`).",
			schema: v.picklist(REPLACE_WORDS),
		},
		flagParameter(
			"yes",
			"1 removes even where more products go than the feed has, of a brand or of all, and more than a hundred, or the feed ends within a record: it may have broken off.",
		),
		{
			in: "query",
			name: "feed",
			description:
				"Names an upload of several parts, each upload otherwise: what an earlier one of that name has brought is not removed. The last part carries `replace`, with or without a body.",
			schema: v.pipe(text, v.regex(FEED_NAME)),
		},
		{ in: "query", name: "line", description: "Line of the part's first record in the whole feed.", schema: from1(MAX_LINE) },
		{
			in: "query",
			name: "encoding",
			description: "What the text is in, by its name in the Encoding Standard. Without it, UTF-8 or UTF-16, as its first bytes tell.",
			schema: text,
			example: "windows-1252",
		},
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
		role: "manager",
		summary,
		description:
			"CSV with a header line, or one JSON object a line; in UTF-8, UTF-16 or another `encoding`, gzip or not. Upsert by id, in batches; a record at fault is rejected alone. The same feed may be sent again.",
		parameters: parametersOf(kind),
		body: {
			required: true,
			contents: [
				{ schema: null, type: "text/csv" },
				{ schema: null, type: "application/x-ndjson" },
			],
		},
		answers: {
			200: { description: "What was taken over.", content: { schema: named("FeedReport", feedReportSchema) } },
			401: UNAUTHORIZED,
			413: largerThan(MAX_FILE_BYTES, "The part is too large for one request."),
			422: {
				description: "An option is at fault and nothing was read, or the feed could not be read to its end.",
				content: { schema: v.union([faultsSchema, feedReportSchema]) },
			},
			503: BEING_MOVED,
		},
	};
}

export const OPERATOR_FEED_OPERATIONS: readonly Operation[] = [
	operation("products", "/operator/products", "importProducts", "Take over a product feed"),
	operation("seller_products", "/operator/seller-products", "importSellerProducts", "Take over a feed of sellers' products"),
];
