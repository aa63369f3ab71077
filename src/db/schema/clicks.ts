import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { LINK_TYPES, PRICING_MODELS, TOKEN_KINDS } from "../../lib/enums.ts";
import { CLICK_REASONS } from "../../lib/traffic-rules.ts";

/** `written_by` of a click whose user was erased: what is told of it later is not kept, but for the money. */
export const ERASED = "erased";

/**
 * `written_by` of a click that alone has a publisher's click id, since another click that had it was erased: whose sale is meant by the
 * id nobody can tell, as before.
 */
export const SHARED_ID = "shared_id";

/**
 * Every redirect that was answered, written once. A row with a null `reason` is a billed click: there is at most one for a click
 * hash. After it is written only an adjustment changes it: its `reason`, `voidedBy` and `sequence`.
 */
export const clicks = sqliteTable(
	"clicks",
	{
		/** Id of the redirect, time-ordered. */
		id: text().primaryKey(),
		/** 32 hex characters, lower case: what the platform reports back. */
		clickHash: text("click_hash").notNull(),
		kind: text({ enum: TOKEN_KINDS }).notNull(),
		reason: text({ enum: CLICK_REASONS }),
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
		/** How its publisher is paid for it and for its conversions, by the bid or the book at the click: nothing changes it later. */
		pricingModel: text("pricing_model", { enum: PRICING_MODELS }),
		/** The publisher's part of its conversions, parts per million, likewise; null in rows of earlier versions: today's counts. */
		revenueSharePpm: integer("revenue_share_ppm"),
		/** What the click costs before the publisher's share, micro-dollars; null in rows of earlier versions, where the bid counts. */
		grossMicros: integer("gross_micros"),
		/** ISO code of the campaign that the link led to; earlier versions wrote what the link says (`cc`). */
		country: text(),
		/** The user's network, never the address: IPv4 to 24 bits, IPv6 to 48. */
		ipPrefix: text("ip_prefix"),
		/** First 16 hex characters of the SHA-256 of the user agent. */
		userAgentHash: text("user_agent_hash"),
		/** Traffic rules that hold and only flag, separated by blanks; null for none. */
		flags: text(),
		/** The keyword that priced the bid, its beginning where it is long. */
		keyword: text(),
		/** The network that asked for the bid. */
		askedFrom: text("asked_from"),
		/** Which link of its campaign it was priced by; null in rows of earlier versions. */
		link: text({ enum: LINK_TYPES }),
		/** The keyword as prices are learned by it: one that the campaign listed, `*` for another, null for none. */
		keywordClass: text("keyword_class"),
		/** The source likewise: `hashSource` of the one that the bid was asked for, whatever the click's address says; null in older rows. */
		sourceHash: text("source_hash"),
		/**
		 * {@link ERASED}, {@link SHARED_ID}, or empty; earlier versions told new rows by it from redelivered ones. Old code may still run while
		 * a new version is deployed.
		 */
		writtenBy: text("written_by").notNull(),
		/** adjustments.id of what took the click back. */
		voidedBy: text("voided_by"),
		/** `report_sequence` of its last change that reports show. */
		sequence: integer().notNull().default(0),
	},
	(table) => [
		uniqueIndex("clicks_billed_by_hash").on(table.clickHash).where(sql`reason IS NULL OR reason = 'voided'`),
		// The others: a click is in one of the two, so that none costs two rows of them (src/db/clicks-of-hash.ts).
		index("clicks_by_hash").on(table.clickHash).where(sql`reason <> 'voided'`),
		index("clicks_by_publisher_click_id").on(table.publisherClickId).where(sql`publisher_click_id IS NOT NULL`),
		// What reports list and count: with every column that they ask of it, so that a count reads no row of the table.
		index("clicks_paid_by_publisher")
			.on(table.publisherId, table.clickedAt, table.id, table.revenueMicros, table.reason, table.sequence)
			.where(sql`reason IS NULL AND pricing_model = 'CPC'`),
		// Narrower than clicks_other_by_publisher, which holds voided clicks too: else that might be read.
		index("clicks_voided_by_publisher")
			.on(table.publisherId, table.clickedAt, table.id, table.revenueMicros, table.sequence)
			.where(sql`reason = 'voided' AND pricing_model = 'CPC'`),
		index("clicks_by_void").on(table.voidedBy, table.id).where(sql`voided_by IS NOT NULL`),
		// Whose data an operator erases.
		index("clicks_by_uid").on(table.uid).where(sql`uid IS NOT NULL`),
		// The others, for a publisher's list of its clicks: a click is in one of the two, so that the paid one costs no further row.
		index("clicks_other_by_publisher")
			.on(table.publisherId, table.clickedAt, table.id, table.reason, table.pricingModel)
			.where(sql`reason IS NOT NULL OR pricing_model = 'CPA'`),
	],
);

/** Paid clicks of the last day or so, by the connection they came from: what repeats and velocities are told by. */
export const paidVisits = sqliteTable(
	"paid_visits",
	{
		/** clicks.id. */
		clickId: text("click_id").primaryKey(),
		/** publishers.id. */
		publisherId: text("publisher_id").notNull(),
		/** Keyed hash of the site of the user's connection (`splitConnection`). */
		connection: text().notNull(),
		/** Behind it the network of the site, where there is one: with the connection it stands for a visitor. */
		userAgentHash: text("user_agent_hash").notNull(),
		brandId: integer("brand_id").notNull(),
		clickedAt: integer("clicked_at").notNull(),
		/** adjustments.id of what took the click back: nothing repeats the visit until that is undone; among those of its hour it counts on. */
		voidedBy: text("voided_by"),
	},
	(table) => [index("paid_visits_by_connection").on(table.publisherId, table.connection, table.clickedAt)],
);

/** Paid clicks of the last day or so by IPv6 network of 48 bits and hour: one holder may have all of its 256 sites. */
export const paidNetworks = sqliteTable(
	"paid_networks",
	{
		/** publishers.id. */
		publisherId: text("publisher_id").notNull(),
		/** As `networkPrefix` writes it. */
		network: text().notNull(),
		/** Unix time in hours. */
		hour: integer().notNull(),
		/** Those that were taken back since count on. */
		clickCount: integer("click_count").notNull().default(0),
	},
	// By hour first, for what is removed: beside an index by hour alone PostgreSQL would take that one where it thinks that there are few.
	(table) => [primaryKey({ columns: [table.hour, table.publisherId, table.network] })],
);

/** Unpaid clicks by connection and hour: past a number of them they are only counted. */
export const unpaidHours = sqliteTable(
	"unpaid_hours",
	{
		connection: text().notNull(),
		/** Unix time in hours. */
		hour: integer().notNull(),
		/** Those that were stored. */
		stored: integer().notNull().default(0),
		/** Those that were only counted here: again where the queue brings them again, since nothing else is known of them. */
		dropped: integer().notNull().default(0),
	},
	(table) => [primaryKey({ columns: [table.connection, table.hour] }), index("unpaid_hours_by_hour").on(table.hour)],
);

/**
 * What transactions that counted clicks have changed of what others may rest on, by the version that each made of {@link clickSequence}: one
 * that was decided before stands where it rests on none of it (src/clicks/consumer/turn.ts). The last ones only.
 */
export const clickTurns = sqliteTable("click_turns", {
	version: integer().primaryKey(),
	/** Paid clicks, and the most that they count of any budget, micro-dollars. */
	clickCount: integer("click_count").notNull(),
	costMicros: integer("cost_micros").notNull(),
	/** JSON list of names. */
	touched: text().notNull(),
});

/**
 * Grows by one with every import, and every transaction that counts clicks or takes them back: what a decision rests on has not changed
 * since it was read.
 * One row.
 */
export const clickSequence = sqliteTable("click_sequence", {
	id: integer().primaryKey(),
	version: integer().notNull(),
	/**
	 * Whether paid clicks are added to what prices are learned from: null until anyone first learns (src/learning-rows/gap.ts). Then the week
	 * from which on rows are still to be made of clicks that were stored before, days since the epoch; 0 once none are missing.
	 */
	learningGap: integer("learning_gap"),
});
