const SIMPLE = /^[a-z0-9]+(?: [a-z0-9]+)*$/;
const BLANKS = /[\s\p{Cc}]+/gu;
/**
 * Far longer than any keyword of a campaign. Marks that combine are put in order one past another, which takes a long text of
 * nothing else seconds.
 */
const MAX_NORMALISED = 1_024;
/** In a row they are put in order at a cost that grows with their square. */
const LONG_RUN_OF_MARKS = /\p{M}{31}/u;
/** Blanks within a longer one are not looked for either. */
const MAX_COLLAPSED = 8 * MAX_NORMALISED;

/**
 * Canonical form of a search keyword: NFKC, lower case, single spaces, trimmed, well-formed. Null when nothing is left.
 * Lower-casing can call for normalising again. One of more than 1,024 characters is only trimmed: it is a keyword that no
 * campaign has. So is one with more marks in a row than any script has, the 30 of Unicode's stream-safe texts.
 */
export function canonicalKeyword(input: string): string | null {
	if (SIMPLE.test(input)) return input;
	const sent = input.toWellFormed();
	if (sent.length > MAX_COLLAPSED) {
		const trimmed = sent.trim();
		return trimmed.length > MAX_COLLAPSED ? trimmed : canonicalKeyword(trimmed);
	}
	const short = sent.length > MAX_NORMALISED ? sent.replace(BLANKS, " ").trim() : sent;
	if (short.length > MAX_NORMALISED || LONG_RUN_OF_MARKS.test(short)) return short.trim();
	const text = short.normalize("NFKC").toLowerCase().normalize("NFKC").replace(BLANKS, " ").trim();
	return text === "" ? null : text;
}

/** This much of a keyword travels in a token: enough to settle a dispute by. */
const MAX_CLIPPED_LENGTH = 64;

/** The beginning of a keyword, as tokens and clicks have it. */
export function clipKeyword(keyword: string): string {
	return keyword.length <= MAX_CLIPPED_LENGTH ? keyword : keyword.slice(0, MAX_CLIPPED_LENGTH).toWellFormed();
}

/** What a bid is asked for by: one canonical keyword, several of which the best counts, or none. */
export type Keywords = string | ReadonlySet<string> | null;

/** Most parts of a list of keywords that are read, blank ones among them: an auction may ask the book for each. */
export const MAX_KEYWORDS = 100;
/** Longest list that is taken apart, in UTF-16 units. */
export const MAX_KEYWORDS_LENGTH = 4_096;
/** A longer part is passed over: campaigns have no such keyword, and to normalise it costs. */
const MAX_PART_LENGTH = 256;

/**
 * The canonical keywords of lists with commas: of each the whole text, and each of its parts. Null for none, one as itself, and `too_many`
 * where there are more parts together, or a longer list, than is read.
 */
export function canonicalKeywords(lists: readonly string[]): Keywords | "too_many" {
	const found = new Set<string>();
	let parts = 0;
	for (const list of lists) {
		const whole = canonicalKeyword(list);
		if (whole !== null) found.add(whole);
		const isList = list.includes(",");
		if (isList && list.length > MAX_KEYWORDS_LENGTH) return "too_many";
		const split = isList ? list.split(",", MAX_KEYWORDS + 1) : [];
		parts += Math.max(1, split.length);
		if (parts > MAX_KEYWORDS) return "too_many";
		for (const part of split) {
			const text = part.trim();
			const keyword = text.length > MAX_PART_LENGTH ? null : canonicalKeyword(text);
			if (keyword !== null) found.add(keyword);
		}
	}
	return found.size > 1 ? found : (found.values().next().value ?? null);
}
