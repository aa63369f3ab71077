/** The JSON Schema of the network file, by which editors complete one and mark what is misspelt. */
import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import { networkLearningSchema } from "../operator/network/learning-file.ts";
import { SECTIONS, type SectionName } from "../operator/network/network-file.ts";
import { trafficSchema } from "../operator/network/traffic-file.ts";
import type { Json } from "./schemas.ts";

/** What names an entry, and is all that a stored one needs. */
export const KEYS: Readonly<Record<SectionName | "campaigns", readonly string[]>> = {
	platforms: ["id"],
	publishers: ["id"],
	brands: ["domain"],
	campaigns: ["campaign_id"],
	exchange_rates: ["currency", "date"],
	products: ["id"],
	seller_products: ["asin", "seller_id"],
};

const DESCRIPTION =
	"What an import adds to a network, and changes in it. A field that is absent keeps what is stored, null clears it; a new entry has the default, and must have the fields that have none.";

/** Written again at each call. */
export function writeNetworkSchema(): Json {
	const sections = Object.entries(SECTIONS).map(([name, schema]) => [
		name,
		{ type: ["array", "null"], items: entryOf(toJsonSchema(schema, OPTIONS), KEYS[name as SectionName]) },
	]);
	return {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		title: "Network file",
		description: DESCRIPTION,
		type: "object",
		properties: {
			$schema: { type: "string" },
			traffic: { anyOf: [bare(toJsonSchema(trafficSchema, OPTIONS)), { type: "null" }] },
			epc_learning: { anyOf: [bare(toJsonSchema(networkLearningSchema, OPTIONS)), { type: "null" }] },
			...Object.fromEntries(sections),
		},
		additionalProperties: false,
	};
}

/** Checks and transformations that JSON Schema has no words for are left out. */
const OPTIONS = {
	target: "draft-2020-12",
	typeMode: "input",
	errorMode: "ignore",
	overrideSchema: ({ valibotSchema, jsonSchema }: { valibotSchema: { type: string }; jsonSchema: JsonSchema }): JsonSchema | undefined => {
		// The one custom schema is that of amounts by keyword.
		if (valibotSchema.type === "custom") return { type: "object", additionalProperties: { type: "string" } };
		return valibotSchema.type === "object" ? { ...jsonSchema, additionalProperties: false } : undefined;
	},
} as const;

/** The schema of an entry that may leave out whatever is stored, campaigns of a brand likewise. */
function entryOf(schema: JsonSchema, key: readonly string[]): Json {
	const { properties = {}, ...rest } = bare(schema) as { properties?: Record<string, Json> };
	const inner = Object.entries(properties).map(([name, property]) => [name, name === "campaigns" ? campaignsOf(property) : property]);
	return { ...rest, properties: Object.fromEntries(inner), required: key };
}

function campaignsOf(list: Json): Json {
	const { anyOf, ...rest } = list as { anyOf: Json[] };
	return {
		...rest,
		anyOf: anyOf.map((option) =>
			option.items === undefined ? option : { ...option, items: entryOf(option.items as JsonSchema, KEYS.campaigns) },
		),
	};
}

function bare({ $schema: _dialect, ...schema }: JsonSchema): Json {
	return schema as Json;
}
