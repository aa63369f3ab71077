import { isNull, sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { PRICING_MODELS, TOKEN_KINDS, UNCOUNTED_REASONS } from "../../lib/enums.ts";

/**
 * Every redirect that was answered, written once. A row with a null `reason` is a billed click: there is at most one for a click
 * hash. Never updated after it is written.
 */
export const clicks = sqliteTable(
	"clicks",
	{
		/** Id of the redirect, time-ordered. */
		id: text().primaryKey(),
		/** 32 hex characters, lower case: what the platform reports back. */
		clickHash: text("click_hash").notNull(),
		kind: text({ enum: TOKEN_KINDS }).notNull(),
		reason: text({ enum: UNCOUNTED_REASONS }),
		clickedAt: integer("clicked_at").notNull(),
		/** publishers.id; null where no publisher has the token's identity. */
		publisherId: text("publisher_id"),
		/** brands.id. */
		brandId: integer("brand_id").notNull(),
		campaignId: integer("campaign_id").notNull(),
		/** platforms.id of the campaign when the click was written. */
		platform: text(),
		/** The publisher's own click id (`clickid`). */
		publisherClickId: text("publisher_click_id"),
		/** `subi`, else `psorc`: the source_id of reports. */
		sourceId: text("source_id"),
		subi: text(),
		psorc: text(),
		pcat: text(),
		subid1: text(),
		subid2: text(),
		subid3: text(),
		subid4: text(),
		subid5: text(),
		/** RTB user id. */
		uid: text(),
		/** Marketplace tag of a product link. */
		atag: text(),
		/** What the bid promised the publisher, micro-dollars; for a tracking link the campaign's EPC × share. 0 for a test. */
		bidMicros: integer("bid_micros").notNull(),
		/** What the click itself earns the publisher, micro-dollars: the bid for a billed click of a CPC publisher, else 0. */
		revenueMicros: integer("revenue_micros").notNull(),
		pricingModel: text("pricing_model", { enum: PRICING_MODELS }),
		/** ISO code the link was made for (`cc`). */
		country: text(),
		/** The user's network, never the address: IPv4 to 24 bits, IPv6 to 48. */
		ipPrefix: text("ip_prefix"),
		/** First 16 hex characters of the SHA-256 of the user agent. */
		userAgentHash: text("user_agent_hash"),
		/** The delivery that wrote the row: what tells new rows from redelivered ones inside a transaction. */
		writtenBy: text("written_by").notNull(),
	},
	(table) => [
		uniqueIndex("clicks_billed_by_hash").on(table.clickHash).where(isNull(table.reason)),
		index("clicks_by_hash").on(table.clickHash),
		index("clicks_by_publisher_click_id").on(table.publisherClickId).where(sql`publisher_click_id IS NOT NULL`),
		// What reports list and count: with every column that they ask of it, so that a count reads no row of the table.
		index("clicks_paid_by_publisher")
			.on(table.publisherId, table.clickedAt, table.id, table.revenueMicros, table.reason)
			.where(sql`reason IS NULL AND pricing_model = 'CPC'`),
	],
);
