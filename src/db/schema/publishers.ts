import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { KEY_KINDS, NAME_KINDS, OPERATOR_ROLES } from "../../lib/access-enums.ts";
import { AMENDMENTS, PRICING_MODELS, PRIVACY_POLICIES, PUBLISHER_STATUSES } from "../../lib/enums.ts";
import { RESPONSE_PROFILES } from "../../lib/openrtb-options.ts";

export const publishers = sqliteTable(
	"publishers",
	{
		/** Natural key in the network file. */
		id: text().primaryKey(),
		name: text().notNull(),
		/** `pubi` of the Serving Engine. */
		publisherId: text("publisher_id").notNull(),
		/** Path segment of the OpenRTB endpoint. */
		publisherIdentity: text("publisher_identity").notNull(),
		servingEngineEnabled: integer("serving_engine_enabled", { mode: "boolean" }).notNull(),
		openrtbEnabled: integer("openrtb_enabled", { mode: "boolean" }).notNull(),
		seat: text(),
		/** The publisher's part of revenue, parts per million. */
		revenueSharePpm: integer("revenue_share_ppm").notNull(),
		pricingModel: text("pricing_model", { enum: PRICING_MODELS }).notNull(),
		cashbackEnabled: integer("cashback_enabled", { mode: "boolean" }).notNull(),
		salesDataEnabled: integer("sales_data_enabled", { mode: "boolean" }).notNull(),
		campaignIdEnabled: integer("campaign_id_enabled", { mode: "boolean" }).notNull(),
		marketplaceTag: text("marketplace_tag"),
		callbackUrl: text("callback_url"),
		/** JSON array of {domain, country?}: brands the publisher may not promote. */
		blockedBrands: text("blocked_brands").notNull(),
		status: text({ enum: PUBLISHER_STATUSES }).notNull().default("active"),
		/** Whether the publisher is told of another amount of what it was credited with. */
		amendments: text({ enum: AMENDMENTS }).notNull().default("none"),
		/** How long a click on a bid is paid; null for the network's time. */
		bidPayMinutes: integer("bid_pay_minutes"),
		/** What becomes of a user's data where a privacy signal says no. */
		privacy: text({ enum: PRIVACY_POLICIES }).notNull().default("strip"),
		/** JSON of what restrains learned prices of its bids; null for nothing. */
		epcLearning: text("epc_learning"),
		/** JSON of TrafficSettings: the publisher's own rules on which clicks are paid; null for none. */
		traffic: text(),
		/** JSON of OpenRtbOptions; null for none. */
		openrtb: text(),
		responseProfile: text("response_profile", { enum: RESPONSE_PROFILES }).notNull().default("contract"),
	},
	(table) => [
		uniqueIndex("publishers_by_publisher_id").on(table.publisherId),
		uniqueIndex("publishers_by_identity").on(table.publisherIdentity),
	],
);

/** Credentials, as hashes only. A key belongs to one owner for good, even after its revocation. */
export const accessKeys = sqliteTable(
	"access_keys",
	{
		/** SHA-256 of the key, lower-case hex. */
		hash: text().primaryKey(),
		kind: text({ enum: KEY_KINDS }).notNull(),
		/** publishers.id; platforms.id of a platform key; of an operator key the name of its holder. */
		ownerId: text("owner_id").notNull(),
		createdAt: integer("created_at").notNull(),
		/** From when the key is no longer valid, Unix milliseconds; null while it is. */
		expiresAt: integer("expires_at"),
		/** Last UTC day of use, YYYY-MM-DD. */
		lastUsedOn: text("last_used_on"),
		/** Of an operator key: what its holder may do. */
		role: text({ enum: OPERATOR_ROLES }),
		/** Of an operator key: last use, Unix milliseconds, some minutes behind. */
		lastUsedAt: integer("last_used_at"),
	},
	(table) => [index("access_keys_by_owner").on(table.kind, table.ownerId)],
);

/**
 * Every Publisher Id and Publisher Identity that was ever in use, so that one is never given to another publisher and clicks of
 * an earlier identity still find theirs. The present ones stand in `publishers`.
 */
export const publisherNames = sqliteTable(
	"publisher_names",
	{
		kind: text({ enum: NAME_KINDS }).notNull(),
		value: text().notNull(),
		/** publishers.id. */
		publisherId: text("publisher_id").notNull(),
		/** From when requests may no longer use it, Unix milliseconds; null while they may. Clicks keep resolving it. */
		expiresAt: integer("expires_at"),
	},
	(table) => [primaryKey({ columns: [table.kind, table.value] }), index("publisher_names_by_publisher").on(table.publisherId)],
);

/** The catalogue's version: grows with every change that a brand list may show. One row. */
export const catalogueState = sqliteTable("catalogue_state", {
	id: integer().primaryKey(),
	version: integer().notNull(),
	/** The version of what `brand_changes` and `block_changes` tell: grows with every import. It follows the clock, as the one above. */
	changesVersion: integer("changes_version").notNull().default(0),
});

/**
 * Which brands a publisher's blocks hide, or no longer hide, as of which `changes_version`: the last change of each. What came of it stands
 * in `publishers`.
 */
export const blockChanges = sqliteTable(
	"block_changes",
	{
		publisherId: text("publisher_id").notNull(),
		domain: text().notNull(),
		version: integer().notNull(),
	},
	(table) => [primaryKey({ columns: [table.publisherId, table.domain] })],
);
