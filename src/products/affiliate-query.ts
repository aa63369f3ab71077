/** The SQL of the affiliate search. Pure: what the benchmark runs against the same file. */
import { type SQL, sql } from "drizzle-orm";
import { facetOf, matchOf, type Title } from "./search-terms.ts";

/** First look: enough for twenty even where every other product is of a brand that the publisher may not promote. */
export const FIRST_LOOK = 60;
/**
 * Matches that are ranked at most: the cost of a search for a word that every tenth of a million products has. Beyond, the ones
 * that were stored first count.
 */
export const MAX_CANDIDATES = 20_000;
/** Titles that begin with what is searched for, of which the whole ones are looked for. */
const MAX_TITLES = 1_000;
/** Weights of name, brand, category and description; the facets are no text. */
const RANK = sql`bm25(products_fts, 10, 4, 3, 1, 0)`;
const TEXT_COLUMNS = ["name", "brand", "category", "description"];

export type ProductRow = {
	id: string;
	domain: string;
	name: string;
	url: string;
	imageUrl: string | null;
	currency: string;
	regularPriceMicros: number | null;
	finalPriceMicros: number;
	availability: string;
};

/** The MATCH expression of an expression of words, within facets. */
export function matchProducts(expression: string, facets: readonly (readonly string[])[]): string {
	return matchOf(TEXT_COLUMNS, expression, facets);
}

/** The same matches, but for those of some domains. */
export function matchWithout(match: string, domains: readonly string[]): string {
	return `(${match}) NOT facets : (${domains.map((domain) => facetOf("domain", domain)).join(" OR ")})`;
}

/** The best matches of all. @param title what those begin with that come first, see `titleOf` */
export function selectBest(match: string, title: Title | null): SQL {
	return selectRanked(candidatesOf(match), title, FIRST_LOOK);
}

/** How many of the matches each domain has, the most first. */
export function selectDomains(match: string): SQL {
	return sql`SELECT p.domain, count(*) AS products FROM (${candidatesOf(match)}) c JOIN products p ON p.rowid = c.id
		GROUP BY p.domain ORDER BY count(*) DESC, p.domain`;
}

/** The best matches of some domains. */
export function selectBestOf(match: string, title: Title | null, domains: readonly string[], limit: number): SQL {
	const candidates = sql`SELECT c.id AS id, c.score AS score FROM (${candidatesOf(match)}) c JOIN products p ON p.rowid = c.id
		WHERE p.domain IN (SELECT atom FROM json_each(${JSON.stringify(domains)}))`;
	return selectRanked(candidates, title, limit);
}

function candidatesOf(match: string): SQL {
	return sql`SELECT rowid AS id, ${RANK} AS score FROM products_fts WHERE products_fts MATCH ${match} LIMIT ${MAX_CANDIDATES}`;
}

/**
 * Which products have a title of just what is searched for. They come first: a product's description weighs against it, and what goes
 * with it (its case, its lid) has a short one, and its name.
 */
export function titledOf(index: SQL, table: SQL, title: Title | null): SQL {
	if (title === null) return sql`0`;
	const begun = sql`SELECT rowid AS id FROM ${index} WHERE ${index} MATCH ${`name : ${title.begins}`} LIMIT ${MAX_TITLES}`;
	return sql`id IN (SELECT t.rowid FROM (${begun}) b JOIN ${table} t ON t.rowid = b.id WHERE length(t.name) <= ${title.maxLength})`;
}

function selectRanked(candidates: SQL, title: Title | null, limit: number): SQL {
	const titled = titledOf(sql`products_fts`, sql`products`, title);
	return sql`SELECT p.id, p.domain, p.name, p.url, p.image_url AS "imageUrl", p.currency,
			p.regular_price_micros AS "regularPriceMicros", p.final_price_micros AS "finalPriceMicros", p.availability
		FROM (SELECT id, score, ${titled} AS titled FROM (${candidates}) ORDER BY titled DESC, score, id LIMIT ${limit}) c
		JOIN products p ON p.rowid = c.id
		ORDER BY c.titled DESC, c.score, c.id`;
}
