/** The marketplace seller product search: by text, by seller, or both; sold-out products are listed. */
import { type SQL, sql } from "drizzle-orm";
import { runTransaction } from "../db/client.ts";
import type { Publisher } from "../keys/key-owners.ts";
import { microsToDecimal4 } from "../lib/money.ts";
import { MAX_CANDIDATES, titledOf } from "./affiliate-query.ts";
import type { ProductsDeps } from "./deps.ts";
import { productLinks } from "./link-products.ts";
import { findPromotableBrands, type PromotableBrand } from "./promotable-brands.ts";
import { expressionsOf, facetOf, matchOf, type Title, titleOf, wordsOf } from "./search-terms.ts";

export type MarketplaceQuestion = { publisher: Publisher; q: string | null; seller: string | null; page: number; perPage: number };

type Text = string | null;
type MarketplaceResult = {
	name: Text;
	description: Text;
	manufacturer: Text;
	category: Text;
	catalog_name: Text;
	asin: Text;
	current_price: Text;
	image_url: Text;
	stock_availability: Text;
	redirect_url: Text;
};
export type MarketplaceAnswer = { total: number; page: number; per_page: number; last_page: number; results: MarketplaceResult[] };

type SellerProductRow = {
	domain: string;
	name: Text;
	description: Text;
	manufacturer: Text;
	category: Text;
	catalogName: Text;
	asin: string;
	currentPriceMicros: number | null;
	imageUrl: Text;
	stockAvailability: Text;
	url: string;
};

/** Weights of name, manufacturer, category, description and ASIN; the facets are no text. */
const RANK = sql`bm25(seller_products_fts, 10, 4, 3, 1, 8, 0)`;
const TEXT_COLUMNS = ["name", "manufacturer", "category", "description", "asin"];

/**
 * One page of the matches. `total` counts all of them; a page past the last is empty. The order is that of relevance among the
 * first MAX_CANDIDATES matches, then that in which products were stored, and the same on every page.
 */
export async function searchSellerProducts(deps: ProductsDeps, question: MarketplaceQuestion): Promise<MarketplaceAnswer> {
	const { publisher, page, perPage } = question;
	const { total, rows, brands } = await findSellerProducts(deps, question);
	const link = productLinks(deps, publisher);
	const results = await Promise.all(
		rows.map(async (row) => {
			const brand = brands.get(row.domain);
			return writeResult(row, brand === undefined ? null : await link(brand, row.url));
		}),
	);
	return { total, page, per_page: perPage, last_page: Math.max(1, Math.ceil(total / perPage)), results };
}

type Found = { total: number; rows: SellerProductRow[]; brands: ReadonlyMap<string, PromotableBrand> };
const NOTHING: Found = { total: 0, rows: [], brands: new Map() };

async function findSellerProducts(deps: ProductsDeps, { publisher, q, seller, page, perPage }: MarketplaceQuestion): Promise<Found> {
	const expressions = q === null ? [null] : expressionsOf(wordsOf(q));
	if (expressions.length === 0) return NOTHING;
	const domains = await deps.products.all<{ domain: string }>(DISTINCT_DOMAINS);
	const brands = await findPromotableBrands(
		deps.network,
		publisher,
		domains.map(({ domain }) => domain),
	);
	if (brands.size === 0) return NOTHING;
	const facets: string[][] = [];
	if (seller !== null) facets.push([facetOf("seller_id", seller), facetOf("seller_name", seller)]);
	// As a rule there is one marketplace, and it may be promoted.
	if (brands.size < domains.length) facets.push([...brands.keys()].map((domain) => facetOf("domain", domain)));
	const title = q === null ? null : titleOf(q);
	for (const expression of expressions) {
		const found = await readPage(
			deps,
			matchOf(TEXT_COLUMNS, expression, facets),
			title,
			expression === null,
			(page - 1) * perPage,
			perPage,
		);
		if (found.total > 0) return { ...found, brands };
	}
	return NOTHING;
}

/** Each domain once, by steps through the index: marketplaces are few. */
const DISTINCT_DOMAINS = sql`
	WITH RECURSIVE step (domain) AS (
		SELECT min(domain) FROM seller_products
		UNION ALL SELECT (SELECT min(domain) FROM seller_products WHERE domain > step.domain) FROM step WHERE step.domain IS NOT NULL
	) SELECT domain FROM step WHERE domain IS NOT NULL`;

/** The number of matches and one page of them, as of one moment. Without a text there is no relevance, and nothing is ranked. */
async function readPage(
	{ products }: ProductsDeps,
	match: string,
	title: Title | null,
	unranked: boolean,
	offset: number,
	limit: number,
): Promise<{ total: number; rows: SellerProductRow[] }> {
	const rankedUpTo = unranked ? 0 : MAX_CANDIDATES;
	const rankedLimit = Math.min(limit, Math.max(0, rankedUpTo - offset));
	const matches = sql`FROM seller_products_fts WHERE seller_products_fts MATCH ${match}`;
	const titled = titledOf(sql`seller_products_fts`, sql`seller_products`, title);
	const ranked = sql`SELECT id, score, ${titled} AS titled FROM (SELECT rowid AS id, ${RANK} AS score ${matches} LIMIT ${MAX_CANDIDATES})
		ORDER BY titled DESC, score, id LIMIT ${rankedLimit} OFFSET ${offset}`;
	const rest = sql`SELECT rowid AS id, 0 AS score, 0 AS titled ${matches} ORDER BY rowid LIMIT ${limit - rankedLimit} OFFSET ${Math.max(offset, rankedUpTo)}`;
	const [counted, ...pages] = await runTransaction(products, [
		sql`SELECT count(*) AS total ${matches}`,
		...(rankedLimit > 0 ? [selectRows(ranked)] : []),
		...(rankedLimit < limit ? [selectRows(rest)] : []),
	]);
	const [{ total } = { total: 0 }] = (counted?.results ?? []) as { total: number }[];
	return { total, rows: pages.flatMap(({ results }) => results as SellerProductRow[]) };
}

function selectRows(candidates: SQL): SQL {
	return sql`SELECT s.domain, s.name, s.description, s.manufacturer,
			s.category, s.catalog_name AS "catalogName", s.asin, s.current_price_micros AS "currentPriceMicros",
			s.image_url AS "imageUrl", s.stock_availability AS "stockAvailability", s.url
		FROM (${candidates}) c JOIN seller_products s ON s.rowid = c.id ORDER BY c.titled DESC, c.score, c.id`;
}

function writeResult(row: SellerProductRow, redirectUrl: string | null): MarketplaceResult {
	return {
		name: row.name,
		description: row.description,
		manufacturer: row.manufacturer,
		category: row.category,
		catalog_name: row.catalogName,
		asin: row.asin,
		current_price: row.currentPriceMicros === null ? null : microsToDecimal4(row.currentPriceMicros),
		image_url: row.imageUrl,
		stock_availability: row.stockAvailability,
		redirect_url: redirectUrl,
	};
}
