/** Reads the brands of a list page by page: what is in memory does not grow with the catalogue. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { Publisher } from "../keys/key-owners.ts";
import type { ListRequest } from "./list-request.ts";

/** A brand as a list shows it, with the campaign that speaks for it. */
export type ListedBrand = {
	brandId: number;
	domain: string;
	name: string;
	category: string | null;
	newDeal: boolean;
	lastUpdatedDate: string | null;
	/** JSON array. */
	restrictedTraffic: string;
	campaignId: number;
	merchantId: number;
	/** Of the campaign. */
	country: string;
	/** Every country it is offered in, sorted; by country only its own. */
	countries: readonly string[];
	hasHomepage: boolean;
	/** It has a deeplink, and the deeplink is verified. */
	hasDeeplink: boolean;
	commissionRate: string | null;
	flatFeeMicros: number | null;
	rateType: string | null;
	rateBasis: string | null;
	maxRate: string | null;
};

export type PageSizes = {
	/** Brands of the first page: few, so that the answer begins soon. Each further one has four times as many, up to `most`. */
	first: number;
	most: number;
};

const PAGE_SIZES: PageSizes = { first: 100, most: 2_000 };

/**
 * The pages of a list in the order of brand ids; none of them is empty. The next page is read while one is used.
 *
 * A campaign counts where it and its brand are active, and neither the brand nor the publisher rules its country out; a cap does
 * not matter. A record is spoken for by the one with the lowest id: of the brand, or of the brand in that country.
 */
export async function* readPages(
	db: Database,
	publisher: Publisher,
	request: ListRequest,
	sizes: PageSizes = PAGE_SIZES,
): AsyncGenerator<ListedBrand[]> {
	let size = sizes.first;
	let next: Promise<Page> | null = readPage(db, publisher, request, -1, size);
	while (next !== null) {
		const { brands, lastId }: Page = await next;
		size = Math.min(size * 4, sizes.most);
		next = lastId === null ? null : readPage(db, publisher, request, lastId, size);
		// It may fail before anyone waits for it; whoever waits for it then is told.
		next?.catch(() => {});
		if (brands.length > 0) yield brands;
	}
}

type Page = {
	brands: ListedBrand[];
	/** The page's last brand id; null where there is nothing behind it. */
	lastId: number | null;
};

type Row = [
	brandId: number,
	domain: string,
	name: string,
	category: string | null,
	newDeal: number,
	lastUpdatedDate: string | null,
	restrictedTraffic: string,
	campaignId: number | null,
	merchantId: number,
	country: string,
	countries: string,
	hasHomepage: number,
	hasDeeplink: number,
	commissionRate: string | null,
	flatFeeMicros: number | null,
	rateType: string | null,
	rateBasis: string | null,
	maxRate: string | null,
];

async function readPage(db: Database, publisher: Publisher, request: ListRequest, after: number, size: number): Promise<Page> {
	const rows = await db.values<Row>(listOf(publisher, request, sql`b.id > ${after}`, size));
	const seen = new Set(rows.map(([id]) => id));
	return { brands: rows.flatMap(readRow), lastId: seen.size < size ? null : (rows.at(-1)?.[0] ?? null) };
}

type Blocks = Pick<Publisher, "blockedBrands">;

/** Those of some brands that a list has, in the order of ids. */
export async function readBrands(
	db: Database,
	publisher: Blocks,
	request: ListRequest,
	brandIds: readonly number[],
): Promise<ListedBrand[]> {
	if (brandIds.length === 0) return [];
	const among = sql`b.id IN (SELECT CAST(atom AS BIGINT) FROM json_each(${JSON.stringify(brandIds)}))`;
	return (await db.values<Row>(listOf(publisher, request, among, brandIds.length))).flatMap(readRow);
}

/**
 * For its query plan, too: the records of the first `size` active brands of a selection that the publisher does not block, and of those that
 * have none their ids.
 */
export function listOf(publisher: Blocks, request: ListRequest, among: SQL, size: number): SQL {
	const ofCountry = request.by === "country" ? sql`, c.country` : sql``;
	return sql`
		WITH page AS MATERIALIZED (
			SELECT * FROM brands b
			WHERE ${among} AND b.active = 1 AND ${isOfType(request)}
				AND b.domain NOT IN (SELECT value ->> 'domain' FROM json_each(${publisher.blockedBrands}) WHERE value ->> 'country' IS NULL)
			ORDER BY b.id LIMIT ${size}
		), listed AS (
			SELECT c.brand_id, MIN(c.campaign_id) AS campaign_id, group_concat(DISTINCT c.country ORDER BY c.country) AS countries
			FROM page b CROSS JOIN campaigns c
			WHERE c.brand_id = b.id AND c.active = 1
				AND (b.blocked_countries = '[]' OR c.country NOT IN (SELECT atom FROM json_each(b.blocked_countries)))
				AND (b.domain, c.country) NOT IN (
					SELECT value ->> 'domain', value ->> 'country' FROM json_each(${publisher.blockedBrands}) WHERE value ->> 'country' IS NOT NULL)
			GROUP BY c.brand_id${ofCountry}
		)
		SELECT b.id, b.domain, b.name, b.category, b.new_deal, b.last_updated_date, b.restricted_traffic,
			c.campaign_id, c.merchant_id, c.country, l.countries,
			c.homepage_url IS NOT NULL, c.deeplink_url IS NOT NULL AND c.deeplink_verified = 1,
			c.commission_rate, c.flat_fee_micros, c.rate_type, c.rate_basis, c.max_rate
		FROM page b LEFT JOIN listed l ON l.brand_id = b.id LEFT JOIN campaigns c ON c.campaign_id = l.campaign_id
		ORDER BY b.id${ofCountry}`;
}

function isOfType(request: ListRequest): SQL {
	if (request.by === "domain" || request.trafficType === "All") return sql`true`;
	return sql`EXISTS (SELECT 1 FROM json_each(b.traffic_types) WHERE atom IN ('All', ${request.trafficType}))`;
}

/** A brand without a campaign that counts stands in its page without one: there is nothing of it to list. */
function readRow(row: Row): ListedBrand[] {
	const [brandId, domain, name, category, newDeal, lastUpdatedDate, restrictedTraffic, campaignId, merchantId, country] = row;
	if (campaignId === null) return [];
	const [, , , , , , , , , , countries, hasHomepage, hasDeeplink, commissionRate, flatFeeMicros, rateType, rateBasis, maxRate] = row;
	return [
		{
			brandId,
			domain,
			name,
			category,
			newDeal: newDeal === 1,
			lastUpdatedDate,
			restrictedTraffic,
			campaignId,
			merchantId,
			country,
			countries: countries.length === country.length ? [country] : countries.split(",").sort(),
			hasHomepage: hasHomepage === 1,
			hasDeeplink: hasDeeplink === 1,
			commissionRate,
			flatFeeMicros,
			rateType,
			rateBasis,
			maxRate,
		},
	];
}
