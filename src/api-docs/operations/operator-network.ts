/** The operator's import and explanation. The schemas are the one that reads the file, and those that the verbs' answers are typed by. */
import * as v from "valibot";
import { explanationSchema } from "../../bidding/explain-answer.ts";
import { explainSchema } from "../../bidding/explain-route.ts";
import { importReportSchema } from "../../operator/network/import-answer.ts";
import {
	brandSchema,
	exchangeRateSchema,
	platformSchema,
	productSchema,
	publisherSchema,
	sellerProductSchema,
} from "../../operator/network/network-file.ts";
import { MAX_EXPLAIN_BYTES, MAX_FILE_BYTES } from "../../operator/routes.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, faultsAnswer, largerThan, UNAUTHORIZED } from "./shapes.ts";

const networkFileSchema = named(
	"NetworkFile",
	v.object({
		platforms: v.optional(v.array(named("NetworkPlatform", platformSchema))),
		publishers: v.optional(v.array(named("NetworkPublisher", publisherSchema))),
		brands: v.optional(v.array(named("NetworkBrand", brandSchema))),
		exchange_rates: v.optional(v.array(named("NetworkExchangeRate", exchangeRateSchema))),
		products: v.optional(v.array(named("NetworkProduct", productSchema))),
		seller_products: v.optional(v.array(named("NetworkSellerProduct", sellerProductSchema))),
	}),
);

export const OPERATOR_NETWORK_OPERATIONS: readonly Operation[] = [
	{
		method: "post",
		path: "/operator/network",
		id: "importNetwork",
		role: "manager",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary: "Import a network file",
		description:
			"Adds and updates by natural key, all or nothing, and publishes the campaign book before it answers. A section that is absent stays as it is.",
		body: { required: true, contents: [{ schema: networkFileSchema }] },
		answers: {
			200: {
				description: "What was taken over.",
				content: { schema: named("ImportReport", importReportSchema) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_FILE_BYTES, "The file is too large for one request."),
			422: faultsAnswer,
			503: BEING_MOVED,
		},
	},
	{
		method: "post",
		path: "/operator/explain",
		id: "explainBid",
		role: "viewer",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		summary: "Explain a bid",
		description: "The decision for a request, with every campaign considered and why it lost.",
		body: {
			required: true,
			contents: [{ schema: explainSchema, example: { publisher_id: "1001", query: { bd: "shoes.example", cc: "US" } } }],
		},
		answers: {
			200: {
				description: "The decision.",
				content: { schema: named("Explanation", explanationSchema) },
			},
			401: UNAUTHORIZED,
			413: largerThan(MAX_EXPLAIN_BYTES),
			422: faultsAnswer,
		},
	},
];
