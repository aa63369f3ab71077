/** Turns the entries of a network file into staged rows, and warns of what is likely a mistake. */
import { ALL_HOURS } from "../../campaign-book/book.ts";
import { keysOfBrand } from "../../campaign-book/build.ts";
import { slotOf } from "../../campaign-book/slots.ts";
import type { brands, campaigns } from "../../db/schema/brands.ts";
import type { products, sellerProducts } from "../../db/schema/products.ts";
import type { Fault } from "../../http/errors.ts";
import { storeLearning } from "./learning-file.ts";
import type { BrandEntry, CampaignEntry, ProductEntry, SellerProductEntry } from "./network-file.ts";
import { listedParts } from "./note-changes.ts";
import type { RowStage } from "./stage-rows.ts";
import { stopsOfBrand } from "./stage-stops.ts";
import type { StoredCampaign } from "./stored-entries.ts";

/** What is allowed in a brand but likely a mistake. @param keptCampaigns those that it has beside the ones that the file names */
export function warnOfBrand(brand: BrandEntry, path: string, keptCampaigns: number): Fault[] {
	const warnings: Fault[] = [];
	if (brand.traffic_types.includes("Cashback") && brand.restricted_traffic.includes("Incentivized Traffic")) {
		warnings.push({ path, message: "is mapped to Cashback but restricts Incentivized Traffic, which rules cashback out" });
	}
	if (brand.active && brand.campaigns.length + keptCampaigns === 0) warnings.push({ path, message: "is active but has no campaign" });
	brand.campaigns.forEach((campaign, at) => {
		warnings.push(...warnOfCampaign(campaign, `${path}.campaigns[${at}]`));
	});
	return warnings;
}

function warnOfCampaign(campaign: CampaignEntry, path: string): Fault[] {
	const { homepage_url, deeplink_url, daily_click_cap, daily_budget, total_budget } = campaign;
	const bids = campaign.epc !== null || campaign.default_keyword_epc !== null || Object.keys(campaign.keyword_epc).length > 0;
	const checks: [boolean, string, string][] = [
		[
			(daily_budget !== null || total_budget !== null) && campaign.budget_basis === null,
			path,
			"has a budget but no budget_basis: it counts the price that publishers have of a click (publisher), not what it costs before their share (gross)",
		],
		[bids && daily_click_cap === null && daily_budget === null && total_budget === null, path, "bids without a cap or a budget"],
		[
			homepage_url !== null && !homepage_url.includes("{click_id}"),
			`${path}.homepage_url`,
			"has no {click_id}: its conversions cannot be matched by click",
		],
		[
			deeplink_url !== null && !deeplink_url.includes("{click_id}"),
			`${path}.deeplink_url`,
			"has no {click_id}: its conversions cannot be matched by click",
		],
		[
			deeplink_url !== null && !deeplink_url.includes("{deeplink}"),
			`${path}.deeplink_url`,
			"has no {deeplink}: every deeplink would land on the same page",
		],
		[campaign.deeplink_verified && deeplink_url === null, path, "is verified for deeplinks but has no deeplink_url"],
		[homepage_url === null && deeplink_url === null, path, "has no link: it can neither bid nor be clicked"],
		[campaign.allowed_hours === 0, `${path}.allowed_hours`, "allows no hour: the campaign never bids"],
		[
			campaign.flat_fee !== null && campaign.commission_rate !== null,
			path,
			"has a flat fee and a commission rate: the rate is not shown beside the fee",
		],
	];
	return checks.filter(([applies]) => applies).map(([, place, message]) => ({ path: place, message }));
}

type BrandRow = Omit<typeof brands.$inferSelect, "id">;
export type CampaignRow = Omit<typeof campaigns.$inferSelect, "brandId"> & { domain: string; path: string };

export function writeBrand(brand: BrandEntry): BrandRow {
	return {
		domain: brand.domain,
		name: brand.name,
		category: brand.category,
		active: brand.active,
		marketplace: brand.marketplace,
		newDeal: brand.new_deal,
		lastUpdatedDate: brand.last_updated_date,
		aliases: JSON.stringify(aliasesOf(brand)),
		restrictedTraffic: JSON.stringify(brand.restricted_traffic),
		trafficTypes: JSON.stringify(brand.traffic_types),
		blockedCountries: JSON.stringify([...new Set(brand.blocked_countries)]),
		iabCategories: JSON.stringify([...new Set(brand.iab_categories)]),
	};
}

function aliasesOf({ domain, aliases }: BrandEntry): string[] {
	return [...new Set(aliases)].filter((alias) => alias !== domain);
}

/**
 * Stages a brand as a whole: its campaigns, its aliases and the keys under which the campaign book lists it.
 * @param rows the campaigns that the file names
 * @param kept those that it does not name, as they are stored
 */
export async function stageBrand(
	stage: RowStage,
	brand: BrandEntry,
	row: BrandRow,
	rows: readonly CampaignRow[],
	kept: readonly StoredCampaign[],
	path: string,
): Promise<void> {
	await stage.add("brands", { ...row, ...listedParts(brand, [...rows, ...kept]) }, path);
	for (const campaign of rows) await stage.add("campaigns", campaign, path);
	for (const { brandId: _, ...campaign } of kept) await stage.add("campaigns", { ...campaign, path });
	const all = [
		...brand.campaigns.map(({ campaign_id, active, keyword_epc }) => ({ campaign_id, active, keywordEpcMicros: keyword_epc })),
		...kept.map((campaign) => ({
			campaign_id: campaign.campaignId,
			active: Boolean(campaign.active),
			keywordEpcMicros: JSON.parse(campaign.keywordEpcMicros) as Record<string, number>,
		})),
	];
	for (const stop of stopsOfBrand({ ...brand, campaigns: all })) await stage.add("stops", stop);
	const aliases = aliasesOf(brand);
	for (const [at, alias] of aliases.entries()) await stage.add("aliases", { alias, domain: brand.domain, path: `${path}.aliases[${at}]` });
	const keys = keysOfBrand({ domain: brand.domain, aliases, campaigns: all });
	for (const key of keys) await stage.add("book_keys", { slot: slotOf(key), key, domain: brand.domain });
}

export function writeCampaign(domain: string, campaign: CampaignEntry, path: string): CampaignRow {
	return {
		domain,
		path,
		campaignId: campaign.campaign_id,
		merchantId: campaign.merchant_id,
		platform: campaign.platform,
		active: campaign.active,
		country: campaign.country,
		homepageUrl: campaign.homepage_url,
		deeplinkUrl: campaign.deeplink_url,
		deeplinkVerified: campaign.deeplink_verified,
		epcMicros: campaign.epc,
		defaultKeywordEpcMicros: campaign.default_keyword_epc,
		keywordEpcMicros: JSON.stringify(campaign.keyword_epc),
		commissionRate: campaign.commission_rate,
		flatFeeMicros: campaign.flat_fee,
		rateType: campaign.rate_type,
		rateBasis: campaign.rate_basis,
		maxRate: campaign.max_rate,
		dailyClickCap: campaign.daily_click_cap,
		dailyBudgetMicros: campaign.daily_budget,
		totalBudgetMicros: campaign.total_budget,
		budgetBasis: campaign.budget_basis ?? "publisher",
		timezone: campaign.timezone,
		allowedHours: campaign.allowed_hours ?? ALL_HOURS,
		traffic: campaign.traffic === null ? null : JSON.stringify(campaign.traffic),
		maxPayoutMicros: campaign.max_payout,
		epcLearning: storeLearning(campaign.epc_learning),
	};
}

export function writeProduct(product: ProductEntry): Omit<typeof products.$inferSelect, "feedId" | "fedAt"> {
	return {
		id: product.id,
		domain: product.domain,
		name: product.name,
		description: product.description,
		brand: product.brand,
		category: product.category,
		url: product.url,
		imageUrl: product.image_url,
		currency: product.currency,
		regularPriceMicros: product.regular_price,
		finalPriceMicros: product.final_price,
		availability: product.availability,
	};
}

export function writeSellerProduct(product: SellerProductEntry): Omit<typeof sellerProducts.$inferSelect, "feedId" | "fedAt"> {
	return {
		asin: product.asin,
		sellerId: product.seller_id,
		domain: product.domain,
		sellerName: product.seller_name,
		name: product.name,
		description: product.description,
		manufacturer: product.manufacturer,
		category: product.category,
		catalogName: product.catalog_name,
		currentPriceMicros: product.current_price,
		imageUrl: product.image_url,
		stockAvailability: product.stock_availability,
		url: product.url,
	};
}
