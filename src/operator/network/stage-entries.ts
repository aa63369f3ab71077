/** Turns the entries of a network file into staged rows, and finds what contradicts itself within the file. */
import { keysOfBrand } from "../../campaign-book/build.ts";
import { ALL_HOURS } from "../../campaign-book/format.ts";
import { slotOf } from "../../campaign-book/slots.ts";
import type { brands, campaigns } from "../../db/schema/brands.ts";
import type { products, sellerProducts } from "../../db/schema/products.ts";
import type { Fault } from "../../http/errors.ts";
import type { BrandEntry, CampaignEntry, ProductEntry, SellerProductEntry } from "./network-file.ts";
import { listedParts, type Parts } from "./note-changes.ts";
import type { RowStage } from "./stage-rows.ts";
import { stopsOfBrand } from "./stage-stops.ts";

/** What must be known of all entries to check one against another. */
export type FileIndex = {
	/** Natural keys, by section, and where each stands. */
	seen: Map<string, string>;
	/** Hosts of brands (domains and aliases) → the brand's domain. */
	hosts: Map<string, string>;
	/** Platforms that campaigns name → the first place. */
	platformsUsed: Map<string, string>;
};

export function newFileIndex(): FileIndex {
	return { seen: new Map(), hosts: new Map(), platformsUsed: new Map() };
}

/** Notes a natural key; a fault where it stands twice. */
export function claimKey(index: FileIndex, section: string, key: string, path: string): Fault[] {
	const id = `${section} ${key}`;
	const first = index.seen.get(id);
	if (first !== undefined) return [{ path, message: `is the same as ${first}` }];
	index.seen.set(id, path);
	return [];
}

/** Faults of a brand that its own schema cannot see: hosts and campaign ids that stand elsewhere in the file. */
export function checkBrand(index: FileIndex, brand: BrandEntry, path: string): Fault[] {
	const faults = claimKey(index, "brand", brand.domain, `${path}.domain`);
	const hosts: [string, string][] = [
		[brand.domain, `${path}.domain`],
		...brand.aliases.map((alias, at): [string, string] => [alias, `${path}.aliases[${at}]`]),
	];
	for (const [host, place] of hosts) {
		const owner = index.hosts.get(host) ?? brand.domain;
		index.hosts.set(host, owner);
		if (owner !== brand.domain) faults.push({ path: place, message: `${host} is a host of ${owner} too` });
	}
	brand.campaigns.forEach((campaign, at) => {
		const place = `${path}.campaigns[${at}]`;
		faults.push(...claimKey(index, "campaign", String(campaign.campaign_id), `${place}.campaign_id`));
		if (!index.platformsUsed.has(campaign.platform)) index.platformsUsed.set(campaign.platform, `${place}.platform`);
	});
	return faults;
}

/** What is allowed in a brand but likely a mistake. */
export function warnOfBrand(brand: BrandEntry, path: string): Fault[] {
	const warnings: Fault[] = [];
	if (brand.traffic_types.includes("Cashback") && brand.restricted_traffic.includes("Incentivized Traffic")) {
		warnings.push({ path, message: "is mapped to Cashback but restricts Incentivized Traffic, which rules cashback out" });
	}
	if (brand.active && brand.campaigns.length === 0) warnings.push({ path, message: "is active but has no campaign" });
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
			"has a budget but no budget_basis: it counts what publishers are paid (publisher), not what clicks cost before their share (gross)",
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

type BrandRow = Omit<typeof brands.$inferInsert, "id">;
type CampaignRow = Omit<typeof campaigns.$inferInsert, "brandId"> & { domain: string; path: string };

/** Stages a brand, its campaigns, its aliases and the keys under which the campaign book lists it. */
export async function stageBrand(stage: RowStage, brand: BrandEntry, path: string): Promise<void> {
	const aliases = [...new Set(brand.aliases)].filter((alias) => alias !== brand.domain);
	const campaignRows = brand.campaigns.map((campaign, at) => writeCampaign(brand.domain, campaign, `${path}.campaigns[${at}]`));
	await stage.add("brands", {
		domain: brand.domain,
		name: brand.name,
		category: brand.category,
		active: brand.active,
		marketplace: brand.marketplace,
		newDeal: brand.new_deal,
		lastUpdatedDate: brand.last_updated_date,
		aliases: JSON.stringify(aliases),
		restrictedTraffic: JSON.stringify(brand.restricted_traffic),
		trafficTypes: JSON.stringify(brand.traffic_types),
		blockedCountries: JSON.stringify([...new Set(brand.blocked_countries)]),
		...listedParts(brand),
	} satisfies BrandRow & Parts);
	for (const row of campaignRows) await stage.add("campaigns", row);
	for (const row of stopsOfBrand(brand)) await stage.add("stops", row);
	for (const [at, alias] of aliases.entries()) await stage.add("aliases", { alias, domain: brand.domain, path: `${path}.aliases[${at}]` });
	const keys = keysOfBrand({
		domain: brand.domain,
		aliases,
		campaigns: brand.campaigns.map(({ keyword_epc }) => ({ keywordEpcMicros: keyword_epc })),
	});
	for (const key of keys) await stage.add("book_keys", { slot: slotOf(key), key, domain: brand.domain });
}

function writeCampaign(domain: string, campaign: CampaignEntry, path: string): CampaignRow {
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
	};
}

export function writeProduct(product: ProductEntry): typeof products.$inferInsert {
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

export function writeSellerProduct(product: SellerProductEntry): typeof sellerProducts.$inferInsert {
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
