/** How far a client has read a feed: the cursor that every page of it ends with, the last one too. */
import * as v from "valibot";
import { cursorOf, writeCursor } from "../http/pages.ts";
import { HttpError } from "../lib/http.ts";
import { pageLimit } from "../lib/page-cursor.ts";

const whole = v.pipe(v.number(), v.safeInteger());
const MAX_KEY_TEXT = 4_096;
const text = v.pipe(v.string(), v.maxLength(MAX_KEY_TEXT));

/**
 * `present`: it is still reading how things stood when it began, so that what was told before does not matter to it. `changes`: it relies on
 * every change since.
 */
const reading = v.picklist(["present", "changes"]);

/**
 * Behind this row; a row that is not there stands for its place. With the number at which it began, and which fields records had; the first
 * cursors told neither.
 */
const conversionsCursor = v.pipe(v.tupleWithRest([reading, whole, text, text], whole), v.maxLength(6));
export type ConversionsCursor = v.InferOutput<typeof conversionsCursor>;

/** With what all of a publisher's list rests on, and for `present` the version at which it began. */
const brandsCursor = v.tuple([reading, text, whole, whole]);
export type BrandsCursor = v.InferOutput<typeof brandsCursor>;

function queryOf<const Key extends v.GenericSchema>(key: Key) {
	return v.strictObject({ after: cursorOf(key), limit: pageLimit });
}

export const conversionChangesQuery = queryOf(conversionsCursor);
export const brandChangesQuery = queryOf(brandsCursor);

export function writeFeedCursor(cursor: ConversionsCursor | BrandsCursor): string {
	return writeCursor(cursor);
}

/**
 * The answer to a cursor from which a client can no longer be brought forward.
 * @param oldest the oldest cursor that it could go on from; null where there is none
 */
export function goneError(message: string, oldest: string | null): HttpError {
	return new HttpError(410, { error: "Gone", message, oldest });
}
