/** The affiliate product search: products in stock of brands that the publisher may promote. */
import type { Publisher } from "../keys/key-owners.ts";
import { canonicalHost } from "../lib/host.ts";
import { MICROS_PER_USD } from "../lib/money.ts";
import {
	FIRST_LOOK,
	MAX_CANDIDATES,
	matchProducts,
	matchWithout,
	type ProductRow,
	selectBest,
	selectBestOf,
	selectDomains,
} from "./affiliate-query.ts";
import type { ProductsDeps } from "./deps.ts";
import { productLinks } from "./link-products.ts";
import { findPromotableBrands, type PromotableBrand } from "./promotable-brands.ts";
import { expressionsOf, facetOf, type Title, titleOf, wordsOf } from "./search-terms.ts";

export type AffiliateQuestion = { publisher: Publisher; keyword: string; domain: string | null };

type AffiliateResult = {
	id: string;
	name: string;
	image_url: string | null;
	currency: string;
	regular_price: number;
	final_price: number;
	on_sale: boolean;
	availability: string;
	merchant: { name: string };
	redirect_url: string;
};

export type AffiliateAnswer = { keyword: string; results: AffiliateResult[]; message?: string };

const MAX_RESULTS = 20;
/** How often brands that may not be promoted are passed over, and how many of them at once. */
const MAX_LOOKS = 3;
const MAX_PASSED = 1_000;
const NO_RESULT = "No result was found for this search.";

/** Searches the affiliate catalogue: at most twenty products, the best match first; equal ones in the order they were stored. */
export async function searchAffiliateProducts(deps: ProductsDeps, question: AffiliateQuestion): Promise<AffiliateAnswer> {
	const { keyword, publisher } = question;
	const found = await findProducts(deps, question);
	if (found.length === 0) return { keyword, results: [], message: NO_RESULT };
	const link = productLinks(deps, publisher);
	return { keyword, results: await Promise.all(found.map(async ([row, brand]) => writeResult(row, brand, await link(brand, row.url)))) };
}

type Found = [ProductRow, PromotableBrand][];

async function findProducts(deps: ProductsDeps, { publisher, keyword, domain }: AffiliateQuestion): Promise<Found> {
	const expressions = expressionsOf(wordsOf(keyword));
	if (expressions.length === 0) return [];
	const facets: string[][] = [];
	if (domain !== null) {
		const host = canonicalHost(domain);
		const owner = host === null ? null : await deps.network.domainOf(host);
		if (owner === null || !(await findPromotableBrands(deps.network, publisher, [owner])).has(owner)) return [];
		facets.push([facetOf("domain", owner)]);
	}
	const title = titleOf(keyword);
	for (const expression of expressions) {
		const found = await findByExpression(deps, publisher, matchProducts(expression, facets), title);
		if (found.length > 0) return found;
	}
	return [];
}

/** The products of one expression. Whose brands count, the products database does not know: the best matches are looked up first. */
async function findByExpression(
	{ network, products }: ProductsDeps,
	publisher: Publisher,
	match: string,
	title: Title | null,
): Promise<Found> {
	const first = await products.all<ProductRow>(selectBest(match, title));
	const found = withBrands(first, await findPromotableBrands(network, publisher, domainsOf(first)));
	if (found.length >= MAX_RESULTS || first.length < FIRST_LOOK) return found.slice(0, MAX_RESULTS);
	let passed = match;
	for (let look = 1; ; look++) {
		const domains = await products.all<{ domain: string; products: number }>(selectDomains(passed));
		const brands = await findPromotableBrands(network, publisher, domainsOf(domains));
		const rows = await products.all<ProductRow>(selectBestOf(passed, title, [...brands.keys()], MAX_RESULTS));
		const others = domains.filter(({ domain }) => !brands.has(domain)).slice(0, MAX_PASSED);
		const isAll = domains.reduce((sum, { products: count }) => sum + count, 0) < MAX_CANDIDATES;
		if (rows.length >= MAX_RESULTS || isAll || others.length === 0 || look === MAX_LOOKS) return withBrands(rows, brands);
		// Products of brands that have left may be all that is ranked, and hide what comes behind them.
		passed = matchWithout(passed, domainsOf(others));
	}
}

function domainsOf(rows: readonly { domain: string }[]): string[] {
	return [...new Set(rows.map(({ domain }) => domain))];
}

function withBrands(rows: readonly ProductRow[], brands: ReadonlyMap<string, PromotableBrand>): Found {
	return rows.flatMap((row) => {
		const brand = brands.get(row.domain);
		return brand === undefined ? [] : [[row, brand] as [ProductRow, PromotableBrand]];
	});
}

/** A product without a list price has its present price for one. */
function writeResult(row: ProductRow, brand: PromotableBrand, redirectUrl: string): AffiliateResult {
	const regularPriceMicros = row.regularPriceMicros ?? row.finalPriceMicros;
	return {
		id: row.id,
		name: row.name,
		image_url: row.imageUrl,
		currency: row.currency,
		regular_price: regularPriceMicros / MICROS_PER_USD,
		final_price: row.finalPriceMicros / MICROS_PER_USD,
		on_sale: row.finalPriceMicros < regularPriceMicros,
		availability: row.availability,
		merchant: { name: brand.name },
		redirect_url: redirectUrl,
	};
}
