/** The fields of an entry of the network file as a form has them: texts, read back into what the file holds. Made from the schemas. */
import type { Fault } from "../../http/errors.ts";
import { parseJson } from "../../lib/json.ts";
import { ENTRY_KEYS } from "../../operator/network/change-entry.ts";
import type { EntrySection } from "../../operator/network/entry-answers.ts";
import { type FileEntry, SECRET_FIELDS } from "../../operator/network/export-entry.ts";
import { brandSchema, campaignSchema, platformSchema, publisherSchema } from "../../operator/network/network-file.ts";
import type { Choice } from "../ui/field.tsx";

/** How a field is written: lists of texts on lines, what is nested as JSON. */
type Kind = "text" | "number" | "date" | "flag" | "choice" | "lines" | "numbers" | "json";

export type EntryField = {
	name: string;
	label: string;
	kind: Kind;
	/** Of a choice, and of a flag. */
	choices: readonly Choice[];
	isRequired: boolean;
	/** What a new entry has where it says nothing. */
	fallback: unknown;
	/** Names the entry: it is given once. */
	isKey: boolean;
};

/** What of a schema is looked at. */
type Shape = {
	type?: unknown;
	wrapped?: Shape;
	default?: unknown;
	item?: Shape;
	options?: readonly unknown[];
	pipe?: readonly Shape[];
};

const SCHEMAS: Readonly<Record<EntrySection, { entries: object }>> = {
	platforms: platformSchema,
	publishers: publisherSchema,
	brands: brandSchema,
	campaigns: campaignSchema,
};

/** Campaigns have pages of their own. */
const LEFT_OUT: ReadonlySet<string> = new Set(["campaigns", "campaigns_complete"]);

const ABBREVIATIONS: Readonly<Record<string, string>> = { url: "address", epc: "EPC", openrtb: "OpenRTB", iab: "IAB" };

const FLAG_CHOICES: readonly Choice[] = [
	{ value: "true", label: "yes" },
	{ value: "false", label: "no" },
];

/** Fields by which keys, names and callback addresses change: a form of them takes a passkey or a link that was just used. */
export const GUARDED_FIELDS: ReadonlySet<string> = new Set([...SECRET_FIELDS, "callback_url", "publisher_id", "publisher_identity"]);

/** Amounts of USD, as texts. */
export const USD_FIELDS: ReadonlySet<string> = new Set([
	"epc",
	"default_keyword_epc",
	"flat_fee",
	"daily_budget",
	"total_budget",
	"max_payout",
]);

/** All fields of a section but secrets, in the order of the file. */
export function fieldsOf(section: EntrySection): readonly EntryField[] {
	return FIELDS[section];
}

const FIELDS: Readonly<Record<EntrySection, readonly EntryField[]>> = {
	platforms: readFields("platforms"),
	publishers: readFields("publishers"),
	brands: readFields("brands"),
	campaigns: [
		{ name: "brand", label: "Brand", kind: "text", choices: [], isRequired: true, fallback: null, isKey: true },
		...readFields("campaigns"),
	],
};

function readFields(section: EntrySection): EntryField[] {
	return (Object.entries(SCHEMAS[section].entries) as [string, Shape][])
		.filter(([name]) => !SECRET_FIELDS.has(name) && !LEFT_OUT.has(name))
		.map(([name, schema]) => {
			const inner = schema.wrapped ?? schema;
			const kind = kindOf(inner);
			const isRequired = schema.type !== "nullish";
			const known = kind === "flag" ? FLAG_CHOICES : kind === "choice" ? (inner.options ?? []).map(choiceOf) : [];
			const none = isRequired || schema.default !== null ? [] : [{ value: "", label: "none" }];
			return {
				name,
				label: labelOf(name),
				kind,
				choices: known.length === 0 ? [] : [...none, ...known],
				isRequired,
				fallback: schema.default ?? null,
				isKey: name === ENTRY_KEYS[section],
			};
		});
}

function kindOf({ type, item, pipe = [] }: Shape): Kind {
	if (type === "boolean") return "flag";
	if (type === "picklist") return "choice";
	if (type === "number") return "number";
	if (type === "array") return item?.type === "string" ? "lines" : item?.type === "number" ? "numbers" : "json";
	if (type === "string" || type === "union") return pipe.some((action) => action.type === "iso_date") ? "date" : "text";
	return "json";
}

function choiceOf(value: unknown): Choice {
	return { value: String(value), label: String(value) };
}

/** `callback_url` is "Callback address". */
export function labelOf(name: string): string {
	const words = name.split("_").map((word) => ABBREVIATIONS[word] ?? word);
	const text = words.join(" ");
	return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A value of the file as the form shows it. */
export function textOf({ kind }: Pick<EntryField, "kind">, value: unknown): string {
	if (value === null || value === undefined) return "";
	if (kind === "lines" && Array.isArray(value)) return value.join("\n");
	if (kind === "numbers" && Array.isArray(value)) return value.join(", ");
	return kind === "json" || typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

/** What a form was sent with: the fields that are others than the entry's, all texts as they were typed, and what cannot be read. */
export type SentFields = { fields: Record<string, unknown>; texts: Record<string, string>; faults: Fault[] };

/**
 * Reads a form. A field that it lacks is not changed.
 * @param entry over which it was filled in; null for a new one, which has its defaults
 */
export function readSent(section: EntrySection, form: URLSearchParams, entry: FileEntry | null): SentFields {
	const sent: SentFields = { fields: {}, texts: {}, faults: [] };
	for (const field of fieldsOf(section)) {
		const text = form.get(field.name)?.replaceAll("\r\n", "\n");
		if (text === undefined || (field.isKey && entry !== null)) continue;
		sent.texts[field.name] = text;
		const present = entry === null ? field.fallback : entry[field.name];
		if (text.trim() === textOf(field, present).trim()) continue;
		const value = readText(field, text.trim());
		if (value === undefined) sent.faults.push({ path: field.name, message: "must be JSON" });
		else sent.fields[field.name] = value;
	}
	return sent;
}

/** An empty text is null, which clears a field. What is of no use is given on as it is: the entry's schema says what is wrong. */
function readText({ kind }: EntryField, text: string): unknown {
	if (text === "") return null;
	if (kind === "flag") return text === "true" ? true : text === "false" ? false : text;
	if (kind === "number") return readNumber(text);
	if (kind === "lines") return partsOf(text, /[\n,]+/);
	if (kind === "numbers") return partsOf(text, /[\s,]+/).map(readNumber);
	return kind === "json" ? parseJson(text) : text;
}

function partsOf(text: string, between: RegExp): string[] {
	return text
		.split(between)
		.map((part) => part.trim())
		.filter((part) => part !== "");
}

function readNumber(text: string): number | string {
	return /^-?\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text;
}
