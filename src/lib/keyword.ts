const SIMPLE = /^[a-z0-9]+(?: [a-z0-9]+)*$/;

/**
 * Canonical form of a search keyword: NFKC, lower case, single spaces, trimmed, well-formed. Null when nothing is left.
 * Lower-casing can call for normalising again.
 */
export function canonicalKeyword(input: string): string | null {
	if (SIMPLE.test(input)) return input;
	const text = input
		.toWellFormed()
		.normalize("NFKC")
		.toLowerCase()
		.normalize("NFKC")
		.replace(/[\s\p{Cc}]+/gu, " ")
		.trim();
	return text === "" ? null : text;
}
