/**
 * Search text as FTS5 expressions. The text is never syntax: it is cut into words of letters and digits, and each is quoted.
 */
import { utf8 } from "../lib/utf8.ts";

/** Words of a search that count; more are not looked at. */
const MAX_TERMS = 32;
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu;
/** The `'s` of `women's`: as a word of its own, products of `womens` would lack it. */
const POSSESSIVE = /(?<=[\p{L}\p{N}]([\p{L}\p{N}]))['’ʼ＇](s)(?![\p{L}\p{N}\p{M}])/giu;
const LETTER = /[\p{L}\p{N}\p{Co}]\p{M}*/gu;
/** Words that join others: a title may do without them (`dress for women`). None of a letter, which tells things apart (`USB A`). */
const FILLERS = new Set("an and at by for from in of on the to with für mit und von avec de des du et pour con para".split(" "));
/** Letters of a word that may be two. */
const LONGEST_COMPOUND = 24;
/** Endings that the stemmer takes off: the prefix of such a word would be that of its stem (`bus` would find `bucket`). */
const STEMMED = /(?:[^s]s|ed|ing)$/i;
/** How many letters an unfinished ending may have: `runni` is on its way to `running`, whose stem is `run`. */
const LONGEST_PART_ENDING = 3;
const SHORTEST_STEM = 3;

/** The words of a search text in their order, each once; empty where it holds none. */
export function wordsOf(text: string): string[] {
	const spelt = text.replaceAll(POSSESSIVE, (_, before: string, s: string) => (/s/i.test(before) ? "" : s));
	const words = new Map((spelt.match(WORD) ?? []).map((word) => [word.toLowerCase(), word]));
	return [...words.keys()].slice(0, MAX_TERMS);
}

/** A title of just what is searched for: one that begins so, as an expression, and is hardly longer. */
export type Title = { begins: string; maxLength: number };

/** Null where the text has no word. */
export function titleOf(text: string): Title | null {
	const words = text.match(WORD);
	return words === null ? null : { begins: `^ "${words.join(" ")}"`, maxLength: [...text.trim()].length + 2 };
}

/**
 * What to ask for, the strictest first: the next one is asked only where the one before found nothing. Fillers beside other words are
 * asked for by none; where all words are, they count.
 * 1. every word, the last also as the beginning of one;
 * 2. the same, where two words may be written as one, and one as two (`wifi`, `WH1000XM5`);
 * 3. as 1, with the last word loosened: as a beginning whatever its ending, or cut where its ending may be unfinished;
 * 4. any word.
 */
export function expressionsOf(asked: readonly string[]): string[] {
	const needed = asked.filter((word) => !FILLERS.has(word));
	const [words, fillers] = needed.length === 0 ? [asked, []] : [needed, asked.filter((word) => FILLERS.has(word))];
	const last = words.at(-1);
	if (last === undefined) return [];
	const before = words.slice(0, -1).map(quote);
	const exact = [...before, STEMMED.test(last) || !canBegin(last) ? quote(last) : beginning(last)];
	const joined = words.slice(1).map((word, at) => quote(`${words[at]}${word}`));
	// They count where they are found, the last as the beginning of a word, too (`con`): the first of the others is there anyway.
	const counting = fillers.map((word) => (word === asked.at(-1) ? beginning(word) : quote(word)));
	const strict = all(fillers.length === 0 ? exact : [...exact, any([...exact.slice(0, 1), ...counting])]);
	const respelt = all(
		exact.map((expression, at) => any([expression, ...halvesOf(words[at] ?? ""), ...joined.slice(Math.max(0, at - 1), at + 1)])),
	);
	const loose = all([...before, any([beginning(last), ...stemsOf(last).map(quote)])]);
	const some = any([...before, beginning(last)]);
	return [...new Set(words.length > 1 ? [strict, respelt, loose, some] : [strict, respelt, loose])];
}

/** One letter is the beginning of too much, except where a sign may be a word. */
function canBegin(word: string): boolean {
	return word.length > 1 || word > "\u{7f}";
}

/** A word or its continuation; the word itself weighs more, for both count. */
function beginning(word: string): string {
	return canBegin(word) ? any(spellings(word).flatMap((spelling) => [`"${spelling}"`, `"${spelling}" *`])) : quote(word);
}

/** A word as two, cut wherever it may be. */
function halvesOf(word: string): string[] {
	const letters = word.match(LETTER) ?? [];
	if (letters.length > LONGEST_COMPOUND) return [];
	return letters.slice(1).map((_, at) => `"${letters.slice(0, at + 1).join("")} ${letters.slice(at + 1).join("")}"`);
}

function stemsOf(word: string): string[] {
	const letters = [...word];
	return Array.from({ length: LONGEST_PART_ENDING }, (_, at) => letters.slice(0, -1 - at))
		.filter(({ length }) => length >= SHORTEST_STEM)
		.map((stem) => stem.join(""));
}

function quote(word: string): string {
	return any(spellings(word).map((spelling) => `"${spelling}"`));
}

/** Capitals have no `ß` as a rule, and Switzerland has none at all: `GRÖSSE` is `größe`. The index, which folds accents, leaves it. */
function spellings(word: string): string[] {
	return [...new Set([word, word.replaceAll("ß", "ss"), word.replaceAll("ss", "ß")])];
}

function all(expressions: readonly string[]): string {
	return expressions.join(" AND ");
}

function any(expressions: readonly string[]): string {
	return expressions.length === 1 ? (expressions[0] ?? "") : `(${expressions.join(" OR ")})`;
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, "0"));

export type FacetKind = "domain" | "seller_id" | "seller_name";
const FACET_PREFIX: Record<FacetKind, string> = { domain: "d", seller_id: "i", seller_name: "n" };

/**
 * The word under which the triggers of the products database list a row's domain or seller (letter case of ASCII is ignored).
 * Its digit at the end keeps the stemmer off it.
 */
export function facetOf(kind: FacetKind, value: string): string {
	let text = "";
	for (const byte of utf8(value.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()))) text += DIGITS[byte];
	return `"${FACET_PREFIX[kind]}${text}0"`;
}

/** A MATCH expression over the text columns, and over the facets of which one of each list must be there. */
export function matchOf(columns: readonly string[], expression: string | null, facets: readonly (readonly string[])[]): string {
	return all([
		...(expression === null ? [] : [`{${columns.join(" ")}} : (${expression})`]),
		...facets.map((alternatives) => `facets : (${alternatives.join(" OR ")})`),
	]);
}
