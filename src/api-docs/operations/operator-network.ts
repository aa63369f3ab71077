/** The operator's import and explanation. The schemas are the one that reads the file, and those that the verbs' answers are typed by. */
import * as v from "valibot";
import { explanationSchema } from "../../bidding/explain-answer.ts";
import { explainSchema } from "../../bidding/explain-route.ts";
import { EXPORT_SECTIONS } from "../../operator/network/export-network.ts";
import { confirmationSchema, importConflictSchema, importReportSchema, overwrittenSchema } from "../../operator/network/import-answer.ts";
import { importPageSchema, shownImportSchema } from "../../operator/network/imports-answer.ts";
import { networkLearningSchema } from "../../operator/network/learning-file.ts";
import {
	brandSchema,
	campaignSchema,
	exchangeRateSchema,
	platformSchema,
	productSchema,
	publisherSchema,
	sellerProductSchema,
} from "../../operator/network/network-file.ts";
import { trafficSchema } from "../../operator/network/traffic-file.ts";
import { undoSchema } from "../../operator/network/undo-import.ts";
import { MAX_EXPLAIN_BYTES, MAX_FILE_BYTES } from "../../operator/routes.ts";
import { KEYS } from "../network-schema.ts";
import type { Answer, Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { DRY_RUN, faultsAnswer, flagParameter, largerThan, missing, NOT_TAKEN_OVER, PAGING, UNAUTHORIZED } from "./shapes.ts";

/** A section: of an entry that is stored, only what names it has to be there. */
function sectionOf(name: string, section: keyof typeof KEYS, entries: v.ObjectEntries) {
	return v.nullish(v.array(named(name, keyedBy(section, entries))));
}

function keyedBy(section: keyof typeof KEYS, entries: v.ObjectEntries) {
	const keyed = Object.entries(entries).map(([name, schema]) => [name, KEYS[section].includes(name) ? schema : v.optional(schema)]);
	return v.object(Object.fromEntries(keyed) as v.ObjectEntries);
}

const campaigns = v.nullish(v.array(named("NetworkCampaign", keyedBy("campaigns", campaignSchema.entries))));

const networkFileSchema = named(
	"NetworkFile",
	v.object({
		$schema: v.optional(v.string()),
		traffic: v.nullish(trafficSchema),
		epc_learning: v.nullish(networkLearningSchema),
		platforms: sectionOf("NetworkPlatform", "platforms", platformSchema.entries),
		publishers: sectionOf("NetworkPublisher", "publishers", publisherSchema.entries),
		brands: sectionOf("NetworkBrand", "brands", { ...brandSchema.entries, campaigns }),
		exchange_rates: sectionOf("NetworkExchangeRate", "exchange_rates", exchangeRateSchema.entries),
		products: sectionOf("NetworkProduct", "products", productSchema.entries),
		seller_products: sectionOf("NetworkSellerProduct", "seller_products", sellerProductSchema.entries),
	}),
);

named("ImportReport", importReportSchema);

/** How a change of the network is asked for. */
export const CHANGE_QUERY: readonly Parameter[] = [
	DRY_RUN,
	flagParameter(
		"yes",
		"1 goes on where more than half of the campaigns, publishers or pairs of them would stop, most prices or shares would more than double, or an undo overwrites what came later.",
	),
];

const IMPORT_QUERY: readonly Parameter[] = [
	...CHANGE_QUERY,
	flagParameter(
		"campaigns_complete",
		"1 removes campaigns that a brand's list does not name, as the brand's own `campaigns_complete` does.",
	),
];

export const IF_MATCH: Parameter = {
	in: "header",
	name: "If-Match",
	description: "The version of the network that was read: the ETag of GET /operator/network.",
	schema: v.string(),
};

const confirmation = named("ConfirmationNeeded", confirmationSchema);

export const CONFIRMATION: Answer = {
	description:
		"More than half of the campaigns that bid, of the publishers that are bid for, or of the pairs of them, would stop, or the prices of most campaigns or the shares of most publishers more than double: `yes=1` confirms it. Nothing was changed.",
	content: { schema: confirmation },
};

export const CONFLICT: Answer = {
	description: "Others have changed the same since it was read; nothing was changed.",
	content: { schema: named("ImportConflict", importConflictSchema) },
};

export const OPERATOR_NETWORK_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/operator/network",
		id: "exportNetwork",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "Export the network",
		description:
			"A network file, written while it is read, that imports to no difference. Fields that have the default are left out; so are keys and secrets, which an import keeps. Who cannot change a publisher's `callback_url` gets it with `***` for what may be a secret in it, which an import into the same network keeps, too.",
		parameters: [
			{
				in: "query",
				name: "sections",
				description: `Some of ${EXPORT_SECTIONS.join(", ")}, with commas between them. Without it, all but products, which come by feeds.`,
				schema: v.string(),
				example: "publishers,platforms",
			},
		],
		answers: {
			200: {
				description: "The file.",
				headers: { etag: "The network's version, for If-Match of an import." },
				content: { schema: networkFileSchema },
			},
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		method: "get",
		path: "/operator/network/imports",
		id: "listImports",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "What changed the network",
		description: "Imports, changes of single entries, and what undid them: of the last 30 days, and the last one. The newest first.",
		parameters: [...PAGING],
		answers: {
			200: { description: "A page.", content: { schema: named("ImportPage", importPageSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		method: "get",
		path: "/operator/network/imports/{id}",
		id: "showImport",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "viewer",
		summary: "What an import changed",
		description: "Field by field, as far as it is kept for an undo; secrets only as set or not.",
		parameters: [{ in: "path", name: "id", description: "As the import named it.", schema: v.string() }],
		answers: {
			200: { description: "It, and its difference.", content: { schema: named("ShownImport", shownImportSchema) } },
			401: UNAUTHORIZED,
			404: missing("There is none of this id.", "There is no such import."),
			422: faultsAnswer,
		},
	},
	{
		method: "post",
		path: "/operator/network/undo",
		id: "undoImport",
		tag: "Operator",
		host: "base",
		credential: "OperatorKey",
		role: "manager",
		summary: "Undo an import",
		description:
			"An import of its own, with its own difference, by which the fields that another changed are as they were before it, for 30 days. Campaigns that it added to a brand that was there are removed, those it removed are back; brands that it added are stopped, and stay with their campaigns; publishers that it added are suspended, and stay. Keys are rotated, not undone.",
		parameters: [...CHANGE_QUERY, IF_MATCH],
		body: { required: true, contents: [{ schema: undoSchema, example: { import: "0b7e6c3e-6a5c-4e3b-9c1f-1f5b8f0f6a11" } }] },
		answers: {
			200: { description: "What changed, or would.", content: { schema: importReportSchema } },
			401: UNAUTHORIZED,
			409: {
				description:
					"Others have changed the same since the import, more than half of the campaigns, publishers or pairs of them would stop, or most prices or shares more than double: `yes=1` goes on.",
				content: { schema: v.union([confirmation, named("Overwritten", overwrittenSchema)]) },
			},
			412: CONFLICT,
			413: largerThan(MAX_FILE_BYTES),
			422: faultsAnswer,
			503: NOT_TAKEN_OVER,
		},
	},
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
			"Adds and updates by natural key, all or nothing, and publishes the campaign book before it answers. Sections, entries and fields that are absent stay as they are; null clears a field; a new entry has to have the fields that have no default. The answer names what changes, and what is lost by it. Described for editors by /network.schema.json.",
		parameters: [...IMPORT_QUERY, IF_MATCH],
		body: { required: true, contents: [{ schema: networkFileSchema }] },
		answers: {
			200: {
				description: "What was taken over, or would be.",
				content: { schema: importReportSchema },
			},
			401: UNAUTHORIZED,
			409: CONFIRMATION,
			412: CONFLICT,
			413: largerThan(MAX_FILE_BYTES, "The file is too large for one request."),
			422: faultsAnswer,
			503: NOT_TAKEN_OVER,
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
			contents: [{ schema: explainSchema, example: { publisher_id: "1001", query: "bd=shoes.example&cc=US" } }],
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
