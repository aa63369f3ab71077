const SIMPLE = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
const BLANKS = /[\s\p{Cc}]+/gu;
/**
 * Far longer than any keyword of a campaign. Marks that combine are put in order one past another, which takes a long text of
 * nothing else seconds.
 */
const MAX_NORMALISED = 1_024;
/** Blanks within a longer one are not looked for either. */
const MAX_COLLAPSED = 8 * MAX_NORMALISED;

/**
 * Canonical form of a search keyword: NFKC, lower case, single spaces, trimmed, well-formed. Null when nothing is left.
 * Lower-casing can call for normalising again. One of more than 1,024 characters is only trimmed: it is a keyword that no
 * campaign has.
 */
export function canonicalKeyword(input: string): string | null {
	if (SIMPLE.test(input)) return input;
	const sent = input.toWellFormed();
	if (sent.length > MAX_COLLAPSED) {
		const trimmed = sent.trim();
		return trimmed.length > MAX_COLLAPSED ? trimmed : canonicalKeyword(trimmed);
	}
	const short = sent.length > MAX_NORMALISED ? sent.replace(BLANKS, " ").trim() : sent;
	if (short.length > MAX_NORMALISED) return short;
	const text = short.normalize("NFKC").toLowerCase().normalize("NFKC").replace(BLANKS, " ").trim();
	return text === "" ? null : text;
}
