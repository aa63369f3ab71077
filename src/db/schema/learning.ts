/** What prices are learned from, and what was learned: src/learning says how. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { FACTOR_LEVELS, LINK_TYPES, TRAFFIC_LEVELS } from "../../lib/enums.ts";

/** A cell of src/learning: clicks alike in all that prices are learned by. */
const CELL = {
	/** campaigns.campaign_id. */
	campaignId: integer("campaign_id").notNull(),
	/** publishers.id. */
	publisherId: text("publisher_id").notNull(),
	/** A source that is followed singly, or `*other`. */
	source: text().notNull(),
	/** A keyword that the campaign lists, `*` for another, empty for none. */
	keyword: text().notNull(),
	link: text({ enum: LINK_TYPES }).notNull(),
	/** Days since the epoch, UTC, of the clicks; the middle of their week once that is older than 14 days. */
	day: integer().notNull(),
};

/** Paid clicks by cell and day. */
export const learningClicks = sqliteTable(
	"learning_clicks",
	{
		...CELL,
		clicks: integer().notNull(),
		/** What the clicks were reckoned to be worth (clicks.gross_micros), and what they earned publishers who are paid by click. Micro-dollars. */
		grossMicros: integer("gross_micros").notNull(),
		paidMicros: integer("paid_micros").notNull(),
	},
	(table) => [
		primaryKey({ columns: [table.campaignId, table.publisherId, table.source, table.keyword, table.link, table.day] }),
		/** What was clicked since the night: guards ask for it every hour. */
		index("learning_clicks_by_day").on(table.day),
	],
);

/** What those clicks have earned, by size of conversion. Sums of which all was taken back stay as zeros until they are folded. */
export const learningEarnings = sqliteTable(
	"learning_earnings",
	{
		...CELL,
		sizeClass: integer("size_class").notNull(),
		conversions: integer().notNull(),
		/** Gross, micro-dollars. */
		netMicros: integer("net_micros").notNull(),
	},
	(table) => [
		primaryKey({ columns: [table.campaignId, table.publisherId, table.source, table.keyword, table.link, table.day, table.sizeClass] }),
	],
);

/** Conversions of a platform's clicks of a day from a publisher, by how many days later we settled them. */
export const learningPublisherDelays = sqliteTable(
	"learning_publisher_delays",
	{
		/** platforms.id. */
		platform: text().notNull(),
		/** publishers.id. */
		publisherId: text("publisher_id").notNull(),
		/** Days since the epoch, UTC, of the clicks. */
		day: integer().notNull(),
		lag: integer().notNull(),
		/** First approved, and since taken back. */
		arrivals: integer().notNull(),
		reversals: integer().notNull(),
	},
	(table) => [primaryKey({ columns: [table.platform, table.publisherId, table.day, table.lag] })],
);

/** The same of all publishers together, as earlier versions have it: until a later version drops it. */
export const learningDelays = sqliteTable(
	"learning_delays",
	{
		/** platforms.id. */
		platform: text().notNull(),
		/** Days since the epoch, UTC, of the clicks. */
		day: integer().notNull(),
		lag: integer().notNull(),
		/** First approved, and since taken back. */
		arrivals: integer().notNull(),
		reversals: integer().notNull(),
	},
	(table) => [primaryKey({ columns: [table.platform, table.day, table.lag] })],
);

/**
 * What a conversion has added to the two tables before, so that exactly that is taken back when it changes; where, its click's row and
 * `learning_sources` say. One that never was approved, or is of a click that was never paid or is of no known cell, has no row.
 */
export const learningConversions = sqliteTable(
	"learning_conversions",
	{
		platform: text().notNull(),
		txnid: text().notNull(),
		/** clicks.id. */
		clickId: text("click_id").notNull(),
		/** Days since the epoch, UTC, of the click. */
		day: integer().notNull(),
		/** Days between the click and the first approval, and since when it does not stand; null where it does. */
		approvedLag: integer("approved_lag").notNull(),
		reversedLag: integer("reversed_lag"),
		/** Gross, micro-dollars, and the class of that; earned only while it stands. */
		netMicros: integer("net_micros").notNull(),
		sizeClass: integer("size_class").notNull(),
		/** False while it is voided, or its click is: it adds nothing then. */
		paid: integer({ mode: "boolean" }).notNull(),
	},
	(table) => [
		primaryKey({ columns: [table.platform, table.txnid] }),
		index("learning_conversions_by_click").on(table.clickId),
		index("learning_conversions_by_day").on(table.day),
	],
);

/**
 * Sources of publishers that are followed singly. A publisher of which any click was counted with the others' has a row `*other`, too:
 * what is followed later is followed from the day after.
 */
export const learningSources = sqliteTable(
	"learning_sources",
	{
		publisherId: text("publisher_id").notNull(),
		source: text().notNull(),
		/** Its clicks count singly from this day on: 0 for all of them. Null for `*other`. */
		fromDay: integer("from_day"),
		/** Of its last click. */
		lastDay: integer("last_day").notNull(),
	},
	(table) => [primaryKey({ columns: [table.publisherId, table.source] })],
);

/** What is known of a campaign, and what is done about it. */
export const learningCampaigns = sqliteTable(
	"learning_campaigns",
	{
		campaignId: integer("campaign_id").primaryKey(),
		/** The night that learned it: days since the epoch. */
		day: integer().notNull(),
		/** JSON: factors with their evidence, payouts, balance, what the week is expected to bring. Null where nothing is left to learn from. */
		learned: text(),
		/** JSON of the last break; null for none. */
		lastBreak: text("last_break"),
		/** JSON: creep and guards in force. */
		steering: text(),
	},
	(table) => [
		index("learning_campaigns_by_day").on(table.day),
		/** Of the status, which is looked at every few minutes. */
		index("learning_campaigns_broken").on(table.campaignId).where(sql`last_break IS NOT NULL`),
	],
);

/** What is learned of traffic, whatever the campaign. */
export const learningTraffic = sqliteTable(
	"learning_traffic",
	{
		level: text({ enum: TRAFFIC_LEVELS }).notNull(),
		/** publishers.id; empty for a kind of link. */
		publisherId: text("publisher_id").notNull(),
		/** A source or a kind of link; else empty. */
		name: text().notNull(),
		day: integer().notNull(),
		/** JSON of the factor with its evidence. */
		evidence: text().notNull(),
	},
	(table) => [primaryKey({ columns: [table.level, table.publisherId, table.name] })],
);

/** Factors in force, and where each is going. One that never was published has no row, and is 1. */
export const learningFactors = sqliteTable(
	"learning_factors",
	{
		/** `price`: a campaign's with its keyword's; `campaign_publisher`: an exception of a campaign; the others of traffic. */
		level: text({ enum: FACTOR_LEVELS }).notNull(),
		/** 0 for traffic. */
		campaignId: integer("campaign_id").notNull(),
		/** publishers.id; else empty. */
		publisherId: text("publisher_id").notNull(),
		/** A class of keywords, a source, or a kind of link; else empty. */
		name: text().notNull(),
		/** JSON of src/learning/publish-step.ts' Published. */
		published: text().notNull(),
		/** JSON number: what was learned. */
		target: text().notNull(),
		/** 1 until it has come to its target. */
		moving: integer({ mode: "boolean" }).notNull(),
	},
	(table) => [
		primaryKey({ columns: [table.level, table.campaignId, table.publisherId, table.name] }),
		index("learning_factors_moving").on(table.moving, table.campaignId),
	],
);

/** A campaign's prices over time: one row whenever something of them was published. */
export const learningChanges = sqliteTable(
	"learning_changes",
	{
		campaignId: integer("campaign_id").notNull(),
		/** Unix milliseconds. */
		at: integer().notNull(),
		/** A class of keywords. */
		keyword: text().notNull(),
		operatorMicros: integer("operator_micros").notNull(),
		/** Operator's number × the factor in force, gross. */
		epcMicros: integer("epc_micros").notNull(),
		/** JSON: why, and the evidence at the time. */
		cause: text().notNull(),
	},
	(table) => [primaryKey({ columns: [table.campaignId, table.at, table.keyword] }), index("learning_changes_by_time").on(table.at)],
);

/**
 * What jobs that are cut off go on with: `traffic 0` and so on, the parts of what a night has summed up, `followed 0` and so on, of which
 * sources; `publishing`, how far an hour is; `tidy`, how far a day. `learned from`, the day from which on clicks were all there when
 * learning began; `clock ahead`, since when runs are refused. And since when what is released: see src/learning/released.ts.
 */
export const learningWork = sqliteTable("learning_work", {
	name: text().primaryKey(),
	/** JSON. */
	value: text().notNull(),
});

/** Nights: each is done in slices, and goes on where it was cut off. */
export const learningNights = sqliteTable("learning_nights", {
	/** The day that begins: days since the epoch. */
	day: integer().primaryKey(),
	startedAt: integer("started_at").notNull(),
	finishedAt: integer("finished_at"),
	/** JSON: the step, and how far it is. */
	progress: text().notNull(),
	/** What the last try failed of; null where it did not. */
	fault: text(),
});
