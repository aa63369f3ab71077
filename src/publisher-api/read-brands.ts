/** The brands that a publisher may promote, page by page: those of its brand list. */
import { type SQL, sql } from "drizzle-orm";
import { containsText } from "../db/contains-text.ts";
import { IS_PAUSED } from "../db/is-paused.ts";
import { writeCursor } from "../http/pages.ts";
import type { Publisher } from "../keys/key-owners.ts";
import { offerIdOf } from "../lib/md5-ids.ts";
import { formatPrice, formatUsd, MICROS_PER_USD, PRICE_SCALE, SHARE_SCALE } from "../lib/money.ts";
import type { PublisherBrand, PublisherBrands } from "./brands-answer.ts";
import type { BrandsQuery } from "./brands-request.ts";
import { type LinkPrices, type LinkPricesDeps, readLinkPrices } from "./link-prices.ts";
import { type Campaign, chooseBest, type LinkTerms, priceOfLink } from "./offers.ts";

/** Brands that a request looks at: where these hold too few that it wants, the cursor goes on behind them. */
const MAX_LOOKED_AT = 20_000;
/** Brands that are read at once where not all of them may be wanted. */
const BRANDS_A_ROUND = 1_000;

type Row = {
	brandId: number;
	domain: string;
	name: string;
	category: string | null;
	newDeal: number;
	lastUpdatedDate: string | null;
	restrictedTraffic: string;
	trafficTypes: string;
	campaignId: number;
	country: string;
	hasHomepage: number;
	hasDeeplink: number;
	platform: string;
	epcMicros: number | null;
	epcLearning: string | null;
	paused: number;
	commissionRate: string | null;
	flatFeeMicros: number | null;
	rateType: string | null;
	rateBasis: string | null;
	maxRate: string | null;
};
type Offered = Campaign & { row: Row; price: number };

/** A page is full, but where all brands that a request looks at hold no more that it wants. */
export async function readBrands(deps: LinkPricesDeps, publisher: Publisher, query: BrandsQuery): Promise<PublisherBrands> {
	const { limit, minPrice } = query;
	const prices = await readLinkPrices(deps, publisher, null);
	const [last] = await deps.db.all<{ id: number }>(sql`SELECT id FROM brands
		WHERE ${isLookedAt(query, null)} ORDER BY id LIMIT 1 OFFSET ${MAX_LOOKED_AT - 1}`);
	const upTo = last?.id ?? null;
	// Which brands pay as much as is wanted is known only once they are read: more of them are, the page's and one that follows it.
	const size = minPrice === null ? limit + 1 : Math.max(limit + 1, BRANDS_A_ROUND);
	const found: { id: number; brand: PublisherBrand }[] = [];
	for (let after: number | null = query.after; after !== null && found.length <= limit; ) {
		const rows: Row[] = await deps.db.all<Row>(brandsPage(publisher, { ...query, after }, upTo, size, prices.terms));
		const priceOf = await prices.priceCampaigns(rows);
		const brands = [...Map.groupBy(rows, ({ brandId }) => brandId)];
		for (const [id, of] of brands) {
			const offered = of.map((row) => toOffered(row, priceOf, prices.terms));
			for (const brand of showBrand(offered, publisher, query)) found.push({ id, brand });
		}
		after = brands.length < size ? null : (brands.at(-1)?.[0] ?? null);
	}
	const shown = found.slice(0, limit);
	const end = found.length > limit ? (shown.at(-1)?.id ?? null) : upTo;
	return { data: shown.map(({ brand }) => brand), limit, next_cursor: end === null ? null : writeCursor([end]) };
}

/** @param upTo the last brand that is looked at; null: all */
function isLookedAt({ domain, after }: Pick<BrandsQuery, "domain" | "after">, upTo: number | null): SQL {
	const isBefore = upTo === null ? sql`true` : sql`id <= ${upTo}`;
	return domain === null ? sql`id > ${after} AND ${isBefore}` : sql`id > ${after} AND ${isBefore} AND domain = ${domain}`;
}

/** Campaigns `c` of a brand `b` that count, as in the brand lists: active, and in a country that neither rules out. */
function isOffered({ blockedBrands }: Publisher, { country }: BrandsQuery): SQL {
	return sql`c.brand_id = b.id AND c.active = 1 AND ${country === null ? sql`true` : sql`c.country = ${country}`}
		AND (b.blocked_countries = '[]' OR c.country NOT IN (SELECT atom FROM json_each(b.blocked_countries)))
		AND (b.domain, c.country) NOT IN (
			SELECT value ->> 'domain', value ->> 'country' FROM json_each(${blockedBrands}) WHERE value ->> 'country' IS NOT NULL)`;
}

/**
 * The next brands, each with its campaigns that count. Where prices are learned there are brands that pay less than is wanted, too: what
 * they pay is not to be seen in their rows.
 */
function brandsPage(publisher: Publisher, query: BrandsQuery, upTo: number | null, size: number, { reckonings }: LinkTerms): SQL {
	const { minPrice } = query;
	const isPaid =
		minPrice === null || reckonings !== null
			? sql`true`
			: sql`(coalesce(c.epc_micros, 0) * CAST(${publisher.revenueSharePpm} AS BIGINT) + ${PRICE_UNIT / 2}) / ${PRICE_UNIT} >= CAST(${minPrice} AS BIGINT)`;
	return sql`
		WITH page AS MATERIALIZED (
			SELECT * FROM (SELECT * FROM brands WHERE ${isLookedAt(query, upTo)} ORDER BY id LIMIT ${MAX_LOOKED_AT}) b
			WHERE b.active = 1 AND ${isWanted(query)}
				AND b.domain NOT IN (SELECT value ->> 'domain' FROM json_each(${publisher.blockedBrands}) WHERE value ->> 'country' IS NULL)
				AND EXISTS (SELECT 1 FROM campaigns c WHERE ${isOffered(publisher, query)} AND ${isPaid})
			ORDER BY b.id LIMIT ${size}
		)
		SELECT b.id AS "brandId", b.domain, b.name, b.category, b.new_deal AS "newDeal", b.last_updated_date AS "lastUpdatedDate",
			b.restricted_traffic AS "restrictedTraffic", b.traffic_types AS "trafficTypes", c.campaign_id AS "campaignId", c.country,
			c.homepage_url IS NOT NULL AS "hasHomepage", c.deeplink_url IS NOT NULL AND c.deeplink_verified = 1 AS "hasDeeplink",
			c.platform, c.epc_micros AS "epcMicros", c.epc_learning AS "epcLearning", ${IS_PAUSED} AS paused, c.commission_rate AS "commissionRate", c.flat_fee_micros AS "flatFeeMicros",
			c.rate_type AS "rateType", c.rate_basis AS "rateBasis", c.max_rate AS "maxRate"
		FROM page b CROSS JOIN campaigns c LEFT JOIN campaign_pauses p ON p.campaign_id = c.campaign_id
		WHERE ${isOffered(publisher, query)}
		ORDER BY b.id, c.campaign_id`;
}

/** What a price's unit is of EPC × share: micro-dollars times parts per million. */
const PRICE_UNIT = (MICROS_PER_USD / PRICE_SCALE) * SHARE_SCALE;

function isWanted({ text, category, trafficType, allows, newDeal, updatedSince }: BrandsQuery): SQL {
	const conditions = [
		text === null ? null : sql`(${containsText(sql`b.name`, text)} OR ${containsText(sql`b.domain`, text)})`,
		category === null ? null : sql`lower(b.category) = lower(${category})`,
		trafficType === null ? null : sql`EXISTS (SELECT 1 FROM json_each(b.traffic_types) WHERE atom IN ('All', ${trafficType}))`,
		allows === null ? null : sql`NOT EXISTS (SELECT 1 FROM json_each(b.restricted_traffic) WHERE atom = ${allows})`,
		newDeal === null ? null : sql`b.new_deal = ${Number(newDeal)}`,
		updatedSince === null ? null : sql`b.last_updated_date >= ${updatedSince}`,
	].filter((condition) => condition !== null);
	return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}

/** None where no offer pays as much as is wanted. */
function showBrand(offered: readonly Offered[], publisher: Publisher, { minPrice }: BrandsQuery): PublisherBrand[] {
	const brand = offered[0]?.row;
	if (brand === undefined) return [];
	const countries = Map.groupBy(offered, ({ country }) => country);
	const offers = [...countries.keys()].sort().flatMap((country) => {
		const campaigns = countries.get(country) ?? [];
		const best = chooseBest(campaigns, ({ price }) => price);
		if (best === undefined || best.price < (minPrice ?? 0)) return [];
		return [showOffer(best, campaigns, publisher)];
	});
	if (offers.length === 0) return [];
	return [
		{
			domain: brand.domain,
			name: brand.name,
			category: brand.category,
			offer_id: offerIdOf(brand.domain),
			restricted_traffic: JSON.parse(brand.restrictedTraffic) as PublisherBrand["restricted_traffic"],
			traffic_types: JSON.parse(brand.trafficTypes) as PublisherBrand["traffic_types"],
			new_deal: brand.newDeal === 1,
			last_updated_date: brand.lastUpdatedDate,
			offers,
		},
	];
}

/** Of what clicks on its homepage's link pay; on its pages' where it has no other. */
function toOffered(row: Row, priceOf: Awaited<ReturnType<LinkPrices["priceCampaigns"]>>, terms: LinkTerms): Offered {
	const { campaignId, country, hasHomepage, hasDeeplink, paused } = row;
	const campaign: Campaign = {
		campaignId,
		active: true,
		country,
		...priceOf(campaignId),
		hasHomepage: hasHomepage === 1,
		hasDeeplink: hasDeeplink === 1,
		paused: paused === 1,
	};
	return { ...campaign, row, price: priceOfLink(campaign, campaign.hasHomepage ? "homepage" : "deeplink", terms) };
}

/** Fees are seen, as in the brand lists, where that is enabled. @param all the country's campaigns: links lead to the best that can serve them */
function showOffer(campaign: Offered, all: readonly Offered[], { cashbackEnabled }: Publisher): PublisherBrand["offers"][number] {
	const { commissionRate, flatFeeMicros, rateType, rateBasis, maxRate } = campaign.row;
	const seesFee = cashbackEnabled && flatFeeMicros !== null;
	const linking = all.filter(({ paused }) => paused === campaign.paused);
	return {
		country: campaign.country,
		campaign_id: campaign.campaignId,
		price: formatPrice(campaign.price),
		available: !campaign.paused,
		homepage: linking.some(({ hasHomepage }) => hasHomepage),
		deeplinks: linking.some(({ hasDeeplink }) => hasDeeplink),
		commission_rate: seesFee ? null : commissionRate,
		...(seesFee && { flat_fee: formatUsd(flatFeeMicros) }),
		rate_type: rateType,
		rate_basis: rateBasis,
		max_rate: maxRate,
	};
}
