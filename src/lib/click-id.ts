/**
 * A publisher's click id is read here alone, whether a click URL brings it (`clickid`) or a postback names it (`cid`): what a click took
 * is what that same text finds, and what callbacks send back.
 */
import { isPlaceholder } from "./placeholder.ts";
import { hasAtMostBytes } from "./utf8.ts";

/** Longest click id, in UTF-16 units. */
export const MAX_CLICK_ID_LENGTH = 1_024;
/** The same in bytes of UTF-8: clicks keep no more, and an index of PostgreSQL takes 2,704. */
export const MAX_CLICK_ID_BYTES = 2_048;

/**
 * A click id without control characters, which end or break text elsewhere, without white space around it, which others trim away, and
 * with U+FFFD for lone surrogates. Null where nothing is left of it, where it is a macro nobody filled in, or too long: cut, it would be
 * another id. Reading it once more changes nothing.
 * @param text decoded
 */
export function normaliseClickId(text: string): string | null {
	const clean = (CONTROL.test(text) ? text.replaceAll(EVERY_CONTROL, "") : text).toWellFormed().trim();
	return clean === "" || !isClickIdLength(clean) || isPlaceholder(clean) ? null : clean;
}

/** Whether a text is no longer than click ids may be. */
export function isClickIdLength(text: string): boolean {
	return text.length <= MAX_CLICK_ID_LENGTH && hasAtMostBytes(text, MAX_CLICK_ID_BYTES);
}

const CONTROL = /\p{Cc}/u;
const EVERY_CONTROL = new RegExp(CONTROL, "gu");
