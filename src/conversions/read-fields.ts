import { isPlaceholder } from "../lib/placeholder.ts";
import { decodeText } from "../lib/query.ts";

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
			return { name: decodeText(equals === -1 ? part : part.slice(0, equals)), raw, value: decodeText(raw) };
		});
}

/**
 * The value of each field: the first that is neither empty nor a macro nobody filled in. So a query goes before a form where it comes
 * first, but never hides what only the form says. Names are exact.
 */
export function pickValues(fields: readonly Field[]): Map<string, string> {
	const values = new Map<string, string>();
	for (const { name, raw, value } of fields) {
		// Raw first: what `%campaign%` decodes to is anything but a placeholder. Decoded as well: a `+` is a space in a query.
		if (values.has(name) || isPlaceholder(raw) || isPlaceholder(value)) continue;
		const trimmed = value.trim();
		if (trimmed !== "") values.set(name, trimmed);
	}
	return values;
}
