/** Values of the network file's fields, each read into what is stored. */
import ipaddr from "ipaddr.js";
import * as v from "valibot";
import { canonicalCountry } from "../../lib/country.ts";
import { canonicalHost } from "../../lib/host.ts";
import { isObject } from "../../lib/json.ts";
import { hasWrongChecksum } from "../../lib/key-format.ts";
import { canonicalKeyword } from "../../lib/keyword.ts";
import { ABSOLUTE_MAX_PAYOUT_MICROS, MAX_EPC_MICROS, parseMicros } from "../../lib/money.ts";
import { notAList } from "../../lib/shapes.ts";
import { isUtcDay } from "../../lib/time.ts";
import { hasAtMostBytes } from "../../lib/utf8.ts";

const MAX_TEXT = 2_000;
const MAX_KEYWORDS = 2_000;
const MAX_KEYWORD_LENGTH = 255;

/** Of products: feeds cut texts anywhere, also in the middle of a character. */
export const anyText = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.nonEmpty("must not be blank"),
	v.maxLength(MAX_TEXT, `must have at most ${MAX_TEXT} characters`),
);
/** Of the network: what a database holds otherwise than it came could be another entry's name there. */
export const text = v.pipe(
	anyText,
	v.check((value) => value.isWellFormed() && !value.includes("\0"), "must be Unicode text without NUL"),
);
/** Longest id that rows are found by, with others in one index: one of PostgreSQL takes no more than 2,704 bytes. */
const MAX_ID_BYTES = 255;
const TOO_LONG_ID = `must have at most ${MAX_ID_BYTES} bytes as UTF-8`;
export const entryId = v.pipe(
	text,
	v.maxLength(MAX_ID_BYTES, TOO_LONG_ID),
	v.check((value) => value.length > MAX_ID_BYTES || hasAtMostBytes(value, MAX_ID_BYTES), TOO_LONG_ID),
);
export const iabCategory = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.regex(
		/^(?:[Ii][Aa][Bb][1-9]\d?(?:-[1-9]\d?)?|[1-9]\d{0,4}:[\x21-\x39\x3b-\x7e]{1,64})$/,
		"must be a category such as IAB22-1, or 7:473 of another taxonomy",
	),
	v.toUpperCase(),
);
export const flag = v.boolean("must be true or false");
export const id = v.pipe(
	v.number("must be a whole number"),
	v.safeInteger("must be a whole number"),
	v.minValue(0, "must not be negative"),
);

export const NOT_AN_OBJECT = "must be an object";

export function objectOf<const Entries extends v.ObjectEntries>(entries: Entries) {
	return notAList(v.object(entries, NOT_AN_OBJECT));
}

export function orNull<const Schema extends v.GenericSchema>(schema: Schema) {
	return v.nullish(schema, null);
}

/** Null stands for `fallback`, which is read as if it stood in the file; so does an absent field of a new entry. */
export function orElse<const Schema extends v.GenericSchema, const Fallback extends NonNullable<v.InferInput<Schema>>>(
	schema: Schema,
	fallback: Fallback,
) {
	return v.nullish(schema, fallback as v.InferInput<Schema>);
}

/** A decimal string of USD, as micro-dollars. */
export const amount = v.pipe(
	v.string('must be a decimal string such as "0.4200"'),
	v.transform((value) => parseMicros(value) ?? Number.NaN),
	v.number("must be a decimal with at most six places"),
	v.minValue(0, "must not be negative"),
);
export const epc = v.pipe(amount, v.maxValue(MAX_EPC_MICROS, "must be at most 1000.00 a click"));

export const domain = v.pipe(
	text,
	v.transform((value) => canonicalHost(value) ?? ""),
	v.nonEmpty("must be a domain such as shoes.example"),
);
export const country = v.pipe(
	v.string("must be a country code"),
	v.trim(),
	v.regex(/^[A-Za-z]{2}$/, "must be a two-letter country code such as US"),
	v.toUpperCase(),
	v.transform(canonicalCountry),
);
export const currency = v.pipe(
	v.string("must be a currency code"),
	v.trim(),
	v.regex(/^[A-Za-z]{3}$/, "must be a three-letter currency code such as USD"),
	v.toUpperCase(),
);
export const day = v.pipe(
	v.string("must be a date"),
	v.isoDate("must be a date such as 2026-10-01"),
	v.check(isUtcDay, "must be a day of the calendar"),
);
const WEB_URL = "must be an http(s) address, without user name and password";
export const webUrl = v.pipe(text, v.check(isWebUrl, WEB_URL));
export const anyWebUrl = v.pipe(anyText, v.check(isWebUrl, WEB_URL));
export const linkTemplate = v.pipe(
	text,
	v.check((value) => isWebUrl(value.replaceAll(/\{[a-z0-9_]+\}/g, "x")), `${WEB_URL}; placeholders stand in {braces}`),
);
export const key = v.pipe(
	text,
	v.minLength(8, "must have at least 8 characters"),
	v.maxLength(256, "must have at most 256 characters"),
	v.regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
	v.check((value) => !hasWrongChecksum(value), "looks like a key that was issued here, but is mistyped"),
);

function isWebUrl(value: string): boolean {
	const url = URL.parse(value);
	return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "";
}

export function listOf<const Names extends readonly string[]>(names: Names) {
	const known = new Map(names.map((name) => [name.toLowerCase(), name as Names[number]]));
	return v.array(
		v.pipe(
			v.string("must be a text"),
			v.transform((value) => known.get(value.trim().toLowerCase()) ?? ""),
			v.picklist(names, `must be one of ${names.join(", ")}`),
		),
		"must be a list",
	);
}

export const addressRange = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.check((value) => ipaddr.isValidCIDR(value) || ipaddr.isValid(value), "must be an address or a range such as 203.0.113.0/24"),
);
export const maxPayout = v.pipe(amount, v.maxValue(ABSOLUTE_MAX_PAYOUT_MICROS, "must be at most 1000000.00"));

/** A JSON object with any keys. valibot's own records leave out keys such as `prototype`, which is a keyword like any other. */
const anyObject = v.custom<Record<string, unknown>>(isObject, "must be an object of keyword and amount");

export const keywordEpc = v.pipe(
	anyObject,
	v.maxEntries(MAX_KEYWORDS, `must have at most ${MAX_KEYWORDS} keywords`),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const canonical = new Map<string, number>();
		for (const [keyword, value] of Object.entries(dataset.value)) {
			const message = takeKeyword(canonical, keyword, value);
			if (message === null) continue;
			addIssue({ message: `${JSON.stringify(keyword)} ${message}` });
			return NEVER;
		}
		return Object.fromEntries(canonical);
	}),
);

/** Takes one keyword's amount; what is wrong with it, or null. */
function takeKeyword(canonical: Map<string, number>, keyword: string, value: unknown): string | null {
	const name = canonicalKeyword(keyword);
	if (name === null) return "is blank";
	if (name.length > MAX_KEYWORD_LENGTH) return `has more than ${MAX_KEYWORD_LENGTH} characters`;
	if (canonical.has(name)) return "stands twice";
	const micros = v.safeParse(epc, value);
	if (!micros.success) return micros.issues[0].message;
	canonical.set(name, micros.output);
	return null;
}

export const hours = v.pipe(
	v.array(
		v.pipe(
			v.number("must be an hour"),
			v.integer("must be a whole hour"),
			v.minValue(0, "must be 0 to 23"),
			v.maxValue(23, "must be 0 to 23"),
		),
		"must be a list of hours",
	),
	v.transform((list) => list.reduce((mask, hour) => mask | (1 << hour), 0)),
);
