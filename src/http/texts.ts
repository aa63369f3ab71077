/** Texts of requests: names that something is found by, and what people write. */
import * as v from "valibot";

/** A name by which something is found. @param most characters */
export function nameOfAtMost(most: number) {
	return v.pipe(v.string("must be a text"), v.nonEmpty("must not be blank"), v.maxLength(most, "is too long"));
}

/** Blanks, and what shows nothing. */
const NOTHING_SEEN = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u;

/**
 * What a person writes and others read. Held to what every database keeps as it came: one keeps halves of a surrogate pair as something
 * else, and none, or a part, of what a NUL is in.
 * @param most characters
 */
export function wordsOfAtMost(most: number) {
	return v.pipe(
		v.string("must be a text"),
		v.trim(),
		v.check((text) => !NOTHING_SEEN.test(text), "must not be blank"),
		v.maxLength(most, `must have at most ${most} characters`),
		v.check((text) => text.isWellFormed() && !text.includes("\0"), "must be Unicode text without NUL"),
	);
}
