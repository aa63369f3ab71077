import { isPlaceholder } from "../lib/placeholder.ts";
import { decodeText } from "../lib/query.ts";
import { utf8 } from "../lib/utf8.ts";
import { fromUtf8OrWindows1252 } from "../lib/windows-1252.ts";
import { isNameInPlace } from "./other-names.ts";

/** A field as it came (`raw`, still escaped) and as it reads. */
export type Field = { name: string; raw: string; value: string };

/**
 * Splits a query, or a form in the same encoding, into its fields in their order. Never throws: a broken escape such as the `%` of
 * `%campaign%` stays as it is.
 */
export function splitFields(text: string): Field[] {
	return text
		.split("&")
		.filter((part) => part !== "")
		.map((part) => {
			const equals = part.indexOf("=");
			const raw = equals === -1 ? "" : part.slice(equals + 1);
			const name = decodeText(equals === -1 ? part : part.slice(0, equals));
			return { name, raw, value: name === AS_CLICKS_READ ? decodeText(raw) : decodeValue(raw) };
		});
}

/** A click's own id is found by what the click took of the same text. */
const AS_CLICKS_READ = "cid";

/** Escapes that are no UTF-8, of platforms that write another encoding: by U+FFFD for each, two transactions would be one. */
function decodeValue(raw: string): string {
	const text = decodeText(raw);
	return text.includes("\ufffd") ? fromUtf8OrWindows1252(unescapeBytes(raw.replaceAll("+", " "))) : text;
}

function unescapeBytes(text: string): Uint8Array {
	const parts = text.matchAll(/%([0-9a-f]{2})|[^%]+|%/gi);
	return Uint8Array.from([...parts].flatMap(([part, code]) => (code === undefined ? [...utf8(part)] : [Number.parseInt(code, 16)])));
}

/** An unfilled macro there says that there is a status, and not which: unlike one that was not sent. */
const KEPT_UNFILLED = "status";

/**
 * The value of each field: the first that is neither empty nor a macro nobody filled in. So a query goes before a form where it comes
 * first, but never hides what only the form says. Names are exact. A `status` that nobody filled in stands as it was sent.
 */
export function pickValues(fields: readonly Field[]): Map<string, string> {
	const values = new Map<string, string>();
	let unfilled: string | null = null;
	for (const { name, raw, value } of fields) {
		if (values.has(name)) continue;
		const trimmed = value.trim();
		const literal = readUnfilled({ name, raw, value });
		if (literal !== null) {
			if (name === KEPT_UNFILLED) unfilled ??= literal;
		} else if (trimmed !== "") values.set(name, trimmed);
	}
	if (unfilled !== null && !values.has(KEPT_UNFILLED)) values.set(KEPT_UNFILLED, unfilled);
	return values;
}

/** The macro that stands in a field which nobody filled in; null where a value does, or nothing. */
export function readUnfilled({ name, raw, value }: Field): string | null {
	// Raw as well: what `%campaign%` decodes to is anything but a placeholder. Decoded as well: a `+` is a space in a query.
	if (isPlaceholder(value) || isNameInPlace(name, value)) return value.trim();
	return isPlaceholder(raw) ? raw.trim() : null;
}
