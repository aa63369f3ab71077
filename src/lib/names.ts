/** Names by which the audit tells people apart: which of them look like another's. Pure. */

/** Shows nothing: beside what joins and turns text also letters, such as the Hangul filler U+3164. */
const UNSEEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts that have letters in common to look at. */
const ALIKE = [/\p{Script=Latin}/u, /\p{Script=Greek}/u, /\p{Script=Cyrillic}/u];
const MARKS = /[’']/g;

/** Whether a name is written so that it passes for another: with what shows nothing, or a word of letters of several scripts. */
export function isDisguised(name: string): boolean {
	return UNSEEN.test(name) || (name.match(WORD) ?? []).some((word) => ALIKE.filter((script) => script.test(word)).length > 1);
}

export const DISGUISED = "may hold nothing that is not seen, and no word of letters of several scripts";

/** What names that look the same have in common: without case, widths, kinds of apostrophes and how many blanks there are. */
export function foldName(name: string): string {
	const text = name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
	return text.replace(MARKS, "'").replace(/\s+/g, " ").trim();
}

/** The first of those that there are that a new name would be taken for; undefined where it is one of them itself, or like none. */
export function findLookAlike(name: string, present: readonly string[]): string | undefined {
	if (present.includes(name)) return undefined;
	const folded = foldName(name);
	return present.find((other) => foldName(other) === folded);
}

/** What a name that looks like one that is there is refused with. */
export function looksLike(other: string): string {
	return `looks like ${other}, which is there already: write it so, or call it otherwise`;
}
