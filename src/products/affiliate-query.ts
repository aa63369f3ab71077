/** The SQL of the affiliate search. Pure: what the benchmark runs against the same file. */
import { type SQL, sql } from "drizzle-orm";
import { facetOf, matchOf } from "./search-terms.ts";

/** First look: enough for twenty even where every other product is of a brand that the publisher may not promote. */
export const FIRST_LOOK = 60;
/**
 * Matches that are ranked at most: the cost of a search for a word that every tenth of a million products has. Beyond, the ones
 * that were stored first count.
 */
export const MAX_CANDIDATES = 20_000;
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

/** The best matches of all. */
export function selectBest(match: string): SQL {
	return selectRanked(candidatesOf(match), FIRST_LOOK);
}

/** How many of the matches each domain has, the most first. */
export function selectDomains(match: string): SQL {
	return sql`SELECT p.domain, count(*) AS products FROM (${candidatesOf(match)}) c JOIN products p ON p.rowid = c.id
		GROUP BY p.domain ORDER BY count(*) DESC, p.domain`;
}

/** The best matches of some domains. */
export function selectBestOf(match: string, domains: readonly string[], limit: number): SQL {
	const candidates = sql`SELECT c.id AS id, c.score AS score FROM (${candidatesOf(match)}) c JOIN products p ON p.rowid = c.id
		WHERE p.domain IN (SELECT atom FROM json_each(${JSON.stringify(domains)}))`;
	return selectRanked(candidates, limit);
}

function candidatesOf(match: string): SQL {
	return sql`SELECT rowid AS id, ${RANK} AS score FROM products_fts WHERE products_fts MATCH ${match} LIMIT ${MAX_CANDIDATES}`;
}

function selectRanked(candidates: SQL, limit: number): SQL {
	return sql`SELECT p.id, p.domain, p.name, p.url, p.image_url AS "imageUrl", p.currency,
			p.regular_price_micros AS "regularPriceMicros", p.final_price_micros AS "finalPriceMicros", p.availability
		FROM (SELECT id, score FROM (${candidates}) ORDER BY score, id LIMIT ${limit}) c JOIN products p ON p.rowid = c.id
		ORDER BY c.score, c.id`;
}
