/** Longest keyword that is looked up, in UTF-16 units after normalisation. */
export const MAX_KEYWORD_LENGTH = 255;

const SIMPLE = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/**
 * Canonical form of a search keyword: NFKC, lower case, single spaces, trimmed, well-formed.
 * Returns null when nothing is left or it is longer than MAX_KEYWORD_LENGTH.
 */
export function canonicalKeyword(input: string): string | null {
	const text = SIMPLE.test(input)
		? input
		: input
				.toWellFormed()
				.normalize("NFKC")
				.toLowerCase()
				.replace(/[\s\p{Cc}]+/gu, " ")
				.trim();
	return text === "" || text.length > MAX_KEYWORD_LENGTH ? null : text;
}
