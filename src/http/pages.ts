/** Pages of lists: the cursor that a page ends with, which is the sort key of its last row. */
import * as v from "valibot";
import { fromBase64Url, toBase64Url } from "../lib/base64-url.ts";
import { parseJson } from "../lib/json.ts";
import { fromUtf8, utf8 } from "../lib/utf8.ts";

/** Longest cursor that is looked at: sort keys are ids and texts that are bounded where they are taken in. */
const MAX_CURSOR_LENGTH = 16_384;

/** A sort key as the text that a caller asks for the next page with; it says nothing to callers. */
export function writeCursor(key: readonly (string | number)[]): string {
	return toBase64Url(utf8(JSON.stringify(key)));
}

/**
 * `cursor` of a list's query; null where there is none.
 * @param key schema of the list's sort key: what is not such a key is a fault of the query
 */
export function cursorOf<const Key extends v.GenericSchema>(key: Key) {
	return v.optional(
		v.pipe(
			v.string(),
			v.maxLength(MAX_CURSOR_LENGTH, CURSOR_FAULT),
			v.transform((text) => {
				const bytes = fromBase64Url(text);
				return bytes === null ? undefined : parseJson(fromUtf8(bytes));
			}),
			v.check((value) => v.is(key, value) && holdsWholeNumbers(value), CURSOR_FAULT),
			v.transform((value) => value as v.InferOutput<Key>),
		),
	);
}

export const CURSOR_FAULT = "must be the next_cursor of an answer";

/** No sort key has other numbers, and PostgreSQL takes none that is larger for a bigint. */
function holdsWholeNumbers(key: unknown): boolean {
	return Array.isArray(key) && key.every((part) => typeof part !== "number" || Number.isSafeInteger(part));
}

/** The rows of a page, of which one more than its `limit` was read, and the cursor of the next one. */
export function cutPage<Row>(
	rows: readonly Row[],
	limit: number,
	keyOf: (row: Row) => readonly (string | number)[],
): { shown: Row[]; next: string | null } {
	const shown = rows.slice(0, limit);
	const last = shown.at(-1);
	return { shown, next: rows.length > limit && last !== undefined ? writeCursor(keyOf(last)) : null };
}
