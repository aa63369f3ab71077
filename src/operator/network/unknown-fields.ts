/** What a network file holds that its format does not know: likely typing mistakes. */
import type { Fault } from "../../http/errors.ts";
import { suggest } from "../../http/suggest.ts";
import { isObject } from "../../lib/json.ts";
import { campaignSchema, publisherSchema, SECTIONS, type SectionName } from "./network-file.ts";

export type UnknownField = { path: string; name: string; known: readonly string[] };

/** Entries of lists inside a section's entries. */
const INNER: { [Name in SectionName]?: { list: string; entries: object } } = {
	brands: { list: "campaigns", entries: campaignSchema.entries },
	publishers: { list: "blocked_brands", entries: publisherSchema.entries.blocked_brands.wrapped.item.entries },
};

/** Fields of an entry, and of the lists in it, that are none of the format's. @param path where the entry stands, such as `brands[3]` */
export function unknownFields(section: SectionName, value: unknown, path: string): UnknownField[] {
	const fields = unknownOf(SECTIONS[section].entries, value, path);
	const { list = "", entries = {} } = INNER[section] ?? {};
	const inner: unknown = isObject(value) && Object.hasOwn(value, list) ? value[list] : null;
	if (!Array.isArray(inner)) return fields;
	return fields.concat(inner.flatMap((entry: unknown, at) => unknownOf(entries, entry, `${path}.${list}[${at}]`)));
}

/** What is said of an unknown field. @param fate what became of it */
export function describeUnknown({ path, name, known }: UnknownField, fate = " and was ignored"): Fault {
	return { path, message: `is not a field of the network file${fate}${suggest(name, known)}` };
}

function unknownOf(entries: object, value: unknown, path: string): UnknownField[] {
	if (!isObject(value)) return [];
	const known = Object.keys(entries);
	return Object.keys(value)
		.filter((name) => !Object.hasOwn(entries, name))
		.map((name) => ({ path: `${path}.${name}`, name, known }));
}
