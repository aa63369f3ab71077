/** JSON Schemas out of valibot schemas: those that have a name are components of the description, written once. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";

export type Json = Record<string, unknown>;

/** What a pattern holds that tools which read patterns without the flag `u`, as many do, take for something else. */
const NEEDS_UNICODE = /\\p\{/;

const names = new WeakMap<object, string>();

/**
 * Makes `schema` a component of each description that has it, by this name; generated clients call its type so. @throws Error
 * where it has another name
 */
export function named<Schema extends v.GenericSchema>(name: string, schema: Schema): Schema {
	const root = rootOf(schema);
	const known = names.get(root) ?? name;
	if (known !== name) throw new Error(`a schema is named ${known} and ${name}`);
	names.set(root, name);
	return schema;
}

/** What a schema's pipe begins with: of checks and descriptions behind it the name says nothing. */
function rootOf(schema: v.GenericSchema): v.GenericSchema {
	return "pipe" in schema && Array.isArray(schema.pipe) ? rootOf(schema.pipe[0]) : schema;
}

/** The schemas of one description. */
export class Schemas {
	readonly #components = new Map<string, { root: unknown; json: Json }>();

	/**
	 * What a caller may send or gets: checks and transformations that JSON Schema has no words for are left out. A named schema
	 * is a reference.
	 */
	write(schema: v.GenericSchema): Json {
		return this.#convert(schema, null);
	}

	/** Those that were written so far, by name. @throws Error where two schemas have one name */
	components(): Record<string, Json> {
		return Object.fromEntries(
			[...this.#components].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, { json }]) => [name, json]),
		);
	}

	#convert(schema: v.GenericSchema, written: unknown): Json {
		const { $schema: _dialect, ...json } = toJsonSchema(schema, {
			target: "draft-2020-12",
			typeMode: "input",
			errorMode: "ignore",
			overrideAction: ({ valibotAction, jsonSchema }) => {
				const { pattern, ...others } = jsonSchema;
				return valibotAction.type === "regex" && NEEDS_UNICODE.test(pattern ?? "") ? others : undefined;
			},
			overrideSchema: ({ valibotSchema, jsonSchema }) => {
				const reference = valibotSchema === written ? undefined : this.#refer(valibotSchema);
				// Said aloud, as some tools take other fields for faults where nothing is said.
				return reference ?? (valibotSchema.type === "loose_object" ? { ...jsonSchema, additionalProperties: true } : undefined);
			},
		});
		return json;
	}

	#refer(schema: v.GenericSchema): { $ref: string } | undefined {
		const name = names.get(schema);
		if (name === undefined) return undefined;
		const known = this.#components.get(name);
		if (known !== undefined && known.root !== schema) throw new Error(`two schemas are named ${name}`);
		if (known === undefined) {
			const component = { root: schema, json: {} };
			this.#components.set(name, component);
			component.json = this.#convert(schema, schema);
		}
		return { $ref: `#/components/schemas/${name}` };
	}
}
