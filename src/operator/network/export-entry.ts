/**
 * Stored rows as entries of the network file, with every field: what an import lays its fields over, what differences compare, and
 * what an export writes. Reading an entry of these gives the row again.
 */
import type { InferSelectModel } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { ALL_HOURS } from "../../campaign-book/book.ts";
import type { brands, campaigns } from "../../db/schema/brands.ts";
import type { exchangeRates, platforms } from "../../db/schema/platforms.ts";
import type { products, sellerProducts } from "../../db/schema/products.ts";
import type { publishers } from "../../db/schema/publishers.ts";
import { mayAct } from "../../http/actor.ts";
import type { PersonRole } from "../../lib/access-enums.ts";
import { maskCallbackUrl } from "../../lib/mask-url.ts";
import { formatUsd, SHARE_SCALE } from "../../lib/money.ts";
import { TRAFFIC_RULES, type TrafficSettings } from "../../lib/traffic-rules.ts";
import { exportLearning } from "./learning-file.ts";

/** An entry in the form of the file. */
export type FileEntry = Readonly<Record<string, unknown>>;

/** A row as a plain statement gives it, booleans 0 and 1, or as the query builder does. */
export type Stored<Table extends SQLiteTable> = {
	[Property in keyof InferSelectModel<Table>]: InferSelectModel<Table>[Property] extends boolean
		? boolean | number
		: InferSelectModel<Table>[Property];
};

export function exportPlatform(row: Stored<typeof platforms>): FileEntry {
	return {
		id: row.id,
		platform_id: row.platformId,
		name: row.name,
		currency: row.currency,
		status_map: sorted(row.statusMap),
		max_payout: usdOrNull(row.maxPayoutMicros),
		match_by_publisher_click_id: Boolean(row.matchByPublisherClickId),
		postback_secret: row.postbackSecret,
		source_ranges: parsed(row.sourceRanges),
		negative_payout: row.negativePayout,
		postbacks_per_minute: row.postbacksPerMinute,
		epc_learning: exportLearning(row.epcLearning),
	};
}

export function exportPublisher(row: Stored<typeof publishers>): FileEntry {
	return {
		id: row.id,
		name: row.name,
		publisher_id: row.publisherId,
		publisher_identity: row.publisherIdentity,
		serving_engine_enabled: Boolean(row.servingEngineEnabled),
		openrtb_enabled: Boolean(row.openrtbEnabled),
		seat: row.seat,
		revenue_share: row.revenueSharePpm / SHARE_SCALE,
		pricing_model: row.pricingModel,
		cashback_enabled: Boolean(row.cashbackEnabled),
		sales_data_enabled: Boolean(row.salesDataEnabled),
		campaign_id_enabled: Boolean(row.campaignIdEnabled),
		marketplace_tag: row.marketplaceTag,
		callback_url: row.callbackUrl,
		status: row.status,
		amendments: row.amendments,
		bid_pay_minutes: row.bidPayMinutes,
		privacy: row.privacy,
		traffic: exportTraffic(row.traffic),
		openrtb: parsed(row.openrtb),
		response_profile: row.responseProfile,
		epc_learning: exportLearning(row.epcLearning),
		blocked_brands: parsed(row.blockedBrands),
	};
}

/** A brand without its campaigns. */
export function exportBrand(row: Omit<Stored<typeof brands>, "id">): FileEntry {
	return {
		domain: row.domain,
		name: row.name,
		aliases: parsed(row.aliases),
		category: row.category,
		active: Boolean(row.active),
		marketplace: Boolean(row.marketplace),
		new_deal: Boolean(row.newDeal),
		last_updated_date: row.lastUpdatedDate,
		restricted_traffic: parsed(row.restrictedTraffic),
		traffic_types: parsed(row.trafficTypes),
		blocked_countries: parsed(row.blockedCountries),
		iab_categories: parsed(row.iabCategories),
	};
}

export function exportCampaign(row: Omit<Stored<typeof campaigns>, "brandId">): FileEntry {
	const keywords = sorted(row.keywordEpcMicros) as Record<string, number>;
	return {
		campaign_id: row.campaignId,
		merchant_id: row.merchantId,
		platform: row.platform,
		active: Boolean(row.active),
		country: row.country,
		homepage_url: row.homepageUrl,
		deeplink_url: row.deeplinkUrl,
		deeplink_verified: Boolean(row.deeplinkVerified),
		epc: usdOrNull(row.epcMicros),
		default_keyword_epc: usdOrNull(row.defaultKeywordEpcMicros),
		keyword_epc: Object.fromEntries(Object.entries(keywords).map(([keyword, micros]) => [keyword, formatUsd(micros)])),
		commission_rate: row.commissionRate,
		flat_fee: usdOrNull(row.flatFeeMicros),
		rate_type: row.rateType,
		rate_basis: row.rateBasis,
		max_rate: row.maxRate,
		daily_click_cap: row.dailyClickCap,
		daily_budget: usdOrNull(row.dailyBudgetMicros),
		total_budget: usdOrNull(row.totalBudgetMicros),
		budget_basis: row.budgetBasis,
		timezone: row.timezone,
		allowed_hours: row.allowedHours === ALL_HOURS ? null : hoursOf(row.allowedHours),
		traffic: exportTraffic(row.traffic),
		max_payout: usdOrNull(row.maxPayoutMicros),
		epc_learning: exportLearning(row.epcLearning),
	};
}

export function exportRate(row: Stored<typeof exchangeRates>): FileEntry {
	const digits = String(row.usdNanos).padStart(10, "0");
	return { currency: row.currency, date: row.date, usd: `${digits.slice(0, -9)}.${digits.slice(-9).replace(/0{1,5}$/, "")}` };
}

export function exportProduct(row: Omit<Stored<typeof products>, "feedId" | "fedAt">): FileEntry {
	return {
		id: row.id,
		domain: row.domain,
		name: row.name,
		description: row.description,
		brand: row.brand,
		category: row.category,
		url: row.url,
		image_url: row.imageUrl,
		currency: row.currency,
		regular_price: usdOrNull(row.regularPriceMicros),
		final_price: formatUsd(row.finalPriceMicros),
		availability: row.availability,
	};
}

export function exportSellerProduct(row: Omit<Stored<typeof sellerProducts>, "feedId" | "fedAt">): FileEntry {
	return {
		asin: row.asin,
		domain: row.domain,
		seller_id: row.sellerId,
		seller_name: row.sellerName,
		name: row.name,
		description: row.description,
		manufacturer: row.manufacturer,
		category: row.category,
		catalog_name: row.catalogName,
		current_price: usdOrNull(row.currentPriceMicros),
		image_url: row.imageUrl,
		stock_availability: row.stockAvailability,
		url: row.url,
	};
}

/** Rules of traffic as the file has them. @param text JSON of TrafficSettings */
export function exportTraffic(text: string | null): FileEntry | null {
	if (text === null) return null;
	const {
		modes = {},
		repeatMinutes,
		visitorPerHour,
		addressPerHour,
		networkPerHour,
		asns,
		useDefaultList,
	} = JSON.parse(text) as TrafficSettings;
	const thresholds: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
		repeat: { minutes: repeatMinutes },
		velocity: { visitor_per_hour: visitorPerHour, address_per_hour: addressPerHour, network_per_hour: networkPerHour },
		data_centre: { asns, use_default_list: useDefaultList },
	};
	const rules = TRAFFIC_RULES.map((rule) => {
		const given = Object.entries(thresholds[rule] ?? {}).filter(([, value]) => value !== undefined);
		const mode = modes[rule];
		if (given.length === 0) return [rule, mode];
		return [rule, { ...(mode !== undefined && { mode }), ...Object.fromEntries(given) }];
	});
	return Object.fromEntries(rules.filter(([, value]) => value !== undefined));
}

/** Fields that no answer and no export shows. The keys are not even stored. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set(["access_key", "publisher_key", "postback_secret"]);

export function withoutSecrets(entry: FileEntry): FileEntry {
	return Object.fromEntries(Object.entries(entry).filter(([field]) => !SECRET_FIELDS.has(field)));
}

/** An entry as a role may see it: who cannot change a publisher's callback address sees it without what may be a secret in it. */
export function shownTo(role: PersonRole, entry: FileEntry): FileEntry {
	const { callback_url: url } = entry;
	return typeof url !== "string" || mayAct(role, "manager") ? entry : { ...entry, callback_url: maskCallbackUrl(url) };
}

/** An entry without the fields that a new entry would have without them. @param fields the schemas of the section's fields */
export function compactEntry(entry: FileEntry, fields: Readonly<Record<string, object>>): FileEntry {
	return Object.fromEntries(Object.entries(entry).filter(([field, value]) => !isDefault(fields[field], field, value, entry)));
}

/** What an entry has in a field that it does not name, in the form of the file; undefined where the field must be named. */
function defaultOf(schema: object | undefined): unknown {
	return schema !== undefined && "default" in schema ? schema.default : undefined;
}

/** With a budget an entry says what it counts: an import warns of one that does not. */
function isDefault(schema: object | undefined, field: string, value: unknown, entry: FileEntry): boolean {
	if (field === "budget_basis") return value === "publisher" && entry.daily_budget === null && entry.total_budget === null;
	return sameValue(value, defaultOf(schema));
}

/** Whether two values of exported fields are the same. */
export function sameValue(one: unknown, other: unknown): boolean {
	return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function usdOrNull(micros: number | null): string | null {
	return micros === null ? null : formatUsd(micros);
}

function hoursOf(mask: number): number[] {
	return Array.from({ length: 24 }, (_, hour) => hour).filter((hour) => (mask & (1 << hour)) !== 0);
}

function parsed(text: string | null): unknown {
	return text === null ? null : JSON.parse(text);
}

/** An object with its names in order: a database may give them in any. */
function sorted(text: string): Record<string, unknown> {
	const value = JSON.parse(text) as Record<string, unknown>;
	return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
