import { isNotNull, sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { BUDGET_BASES } from "../../lib/enums.ts";

export const brands = sqliteTable(
	"brands",
	{
		/** Internal brand id: the advertiser id. Stays with the domain. */
		id: integer().primaryKey({ autoIncrement: true }),
		/** Canonical domain: the natural key. */
		domain: text().notNull(),
		name: text().notNull(),
		category: text(),
		active: integer({ mode: "boolean" }).notNull(),
		marketplace: integer({ mode: "boolean" }).notNull(),
		newDeal: integer("new_deal", { mode: "boolean" }).notNull(),
		/** YYYY-MM-DD. */
		lastUpdatedDate: text("last_updated_date"),
		/** JSON arrays of text. */
		aliases: text().notNull(),
		restrictedTraffic: text("restricted_traffic").notNull(),
		trafficTypes: text("traffic_types").notNull(),
		blockedCountries: text("blocked_countries").notNull(),
		/** JSON array: `IAB22-1`, or another taxonomy and an id in it, `7:473`. */
		iabCategories: text("iab_categories").notNull().default("[]"),
	},
	(table) => [uniqueIndex("brands_by_domain").on(table.domain)],
);

/** Canonical alias hosts; one belongs to one brand. */
export const brandAliases = sqliteTable(
	"brand_aliases",
	{
		alias: text().primaryKey(),
		brandId: integer("brand_id").notNull(),
	},
	(table) => [index("brand_aliases_by_brand").on(table.brandId)],
);

export const campaigns = sqliteTable(
	"campaigns",
	{
		/** Natural key in the network file. */
		campaignId: integer("campaign_id").primaryKey(),
		brandId: integer("brand_id").notNull(),
		merchantId: integer("merchant_id").notNull(),
		/** platforms.id. */
		platform: text().notNull(),
		active: integer({ mode: "boolean" }).notNull(),
		country: text().notNull(),
		homepageUrl: text("homepage_url"),
		deeplinkUrl: text("deeplink_url"),
		deeplinkVerified: integer("deeplink_verified", { mode: "boolean" }).notNull(),
		/** Gross earnings per click, micro-dollars. */
		epcMicros: integer("epc_micros"),
		defaultKeywordEpcMicros: integer("default_keyword_epc_micros"),
		/** JSON object: canonical keyword → micro-dollars. */
		keywordEpcMicros: text("keyword_epc_micros").notNull(),
		commissionRate: text("commission_rate"),
		flatFeeMicros: integer("flat_fee_micros"),
		rateType: text("rate_type"),
		rateBasis: text("rate_basis"),
		maxRate: text("max_rate"),
		dailyClickCap: integer("daily_click_cap"),
		dailyBudgetMicros: integer("daily_budget_micros"),
		totalBudgetMicros: integer("total_budget_micros"),
		/** What both budgets count. */
		budgetBasis: text("budget_basis", { enum: BUDGET_BASES }).notNull().default("publisher"),
		/** IANA name. */
		timezone: text().notNull(),
		/** Bit n is the hour from n to n + 1 on the clocks of the time zone. */
		allowedHours: integer("allowed_hours").notNull(),
		/** JSON of TrafficSettings: the campaign's own rules on which clicks are paid; null for none. */
		traffic: text(),
		/** Most that one conversion may pay, micro-dollars; null for the default. */
		maxPayoutMicros: integer("max_payout_micros"),
		/** JSON of how its prices are learned, where that is not as the network has it; null for that. */
		epcLearning: text("epc_learning"),
	},
	(table) => [
		index("campaigns_by_brand").on(table.brandId),
		// What a publish looks at for budgets that are met.
		index("campaigns_with_total_budget").on(table.campaignId).where(isNotNull(table.totalBudgetMicros)),
		// Whether any is learned otherwise than the network has it.
		index("campaigns_by_learning").on(table.campaignId).where(sql`epc_learning IS NOT NULL`),
	],
);

/**
 * When a brand last changed in what lists show, by `catalogue_state.changes_version`: one row a brand, so that what it was before is not
 * kept. How it stands now is in `brands` and `campaigns`.
 */
export const brandChanges = sqliteTable(
	"brand_changes",
	{
		brandId: integer("brand_id").primaryKey(),
		/** 0 where it was never listed. */
		version: integer().notNull(),
		/** When it was listed first; 0 where that was before changes were kept, or never. */
		firstVersion: integer("first_version").notNull(),
		/** When it last came to be listed, or ceased to. */
		listingVersion: integer("listing_version").notNull(),
		rateVersion: integer("rate_version").notNull(),
		restrictionsVersion: integer("restrictions_version").notNull(),
		/** Of all else that a list shows. */
		detailsVersion: integer("details_version").notNull(),
		/** Whether publishers without blocks find it in a list. */
		listed: integer({ mode: "boolean" }).notNull(),
		/** Hashes of each part as the last import had it. */
		rateHash: text("rate_hash").notNull(),
		restrictionsHash: text("restrictions_hash").notNull(),
		detailsHash: text("details_hash").notNull(),
	},
	(table) => [index("brand_changes_by_version").on(table.version, table.brandId)],
);

/** The entries of the campaign book that a brand appears in: which shard has to hold it. */
export const bookKeys = sqliteTable(
	"book_keys",
	{
		/** 0 to 65535: the hash that decides the shard. */
		slot: integer().notNull(),
		/** `d {host}` or `k {keyword}`. */
		key: text().notNull(),
		brandId: integer("brand_id").notNull(),
	},
	(table) => [primaryKey({ columns: [table.slot, table.key, table.brandId] }), index("book_keys_by_brand").on(table.brandId)],
);
