/**
 * Daily sums, kept in the same transaction as the clicks and conversions they sum: `daily = what a report over the rows gives`.
 * Clicks count on the UTC day of the click, conversions (approved and pending, not tests) on the UTC day of the event. But with a publisher
 * and a source, those of one paid by clicks count where its report lists them: with their click, if that was ever billed, on its day.
 */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { CAPS } from "../../lib/enums.ts";

const sums = {
	/** Billed clicks. */
	clickCount: integer("click_count").notNull().default(0),
	/** What billed clicks earned a CPC publisher, micro-dollars. */
	clickRevenueMicros: integer("click_revenue_micros").notNull().default(0),
	conversionCount: integer("conversion_count").notNull().default(0),
	/** What conversions earned the publisher, micro-dollars. */
	conversionRevenueMicros: integer("conversion_revenue_micros").notNull().default(0),
	/** What of that is of pending conversions, micro-dollars. */
	pendingRevenueMicros: integer("pending_revenue_micros").notNull().default(0),
	/** Payouts of those conversions in USD before the revenue share, micro-dollars. */
	grossMicros: integer("gross_micros").notNull().default(0),
	/** Sales of those conversions in USD, micro-dollars. */
	salesMicros: integer("sales_micros").notNull().default(0),
};

export const dailyPublishers = sqliteTable(
	"daily_publishers",
	{
		publisherId: text("publisher_id").notNull(),
		date: text().notNull(),
		...sums,
		/** Amounts that the operator added or took, micro-dollars. */
		adjustmentMicros: integer("adjustment_micros").notNull().default(0),
		/** How many sources the day has in `daily_sources`. */
		sourceCount: integer("source_count").notNull().default(0),
	},
	(table) => [primaryKey({ columns: [table.publisherId, table.date] })],
);

export const dailySources = sqliteTable(
	"daily_sources",
	{
		publisherId: text("publisher_id").notNull(),
		date: text().notNull(),
		/** Empty where the click named none. */
		sourceId: text("source_id").notNull(),
		...sums,
	},
	(table) => [primaryKey({ columns: [table.publisherId, table.date, table.sourceId] })],
);

/** Of earlier versions, which may run beside this one: nothing else writes or reads it. What it has is in `daily_network`. */
export const dailyCampaigns = sqliteTable(
	"daily_campaigns",
	{
		campaignId: integer("campaign_id").notNull(),
		brandId: integer("brand_id").notNull(),
		publisherId: text("publisher_id").notNull(),
		date: text().notNull(),
		...sums,
	},
	(table) => [
		primaryKey({ columns: [table.campaignId, table.date, table.publisherId, table.brandId] }),
		index("daily_campaigns_by_publisher").on(table.publisherId, table.date),
	],
);

/**
 * What the network's own reports add up, and publishers' by campaign: clicks, paid or not, on the UTC day of the click, and settled
 * conversions that are no tests, cancelled ones too, on the UTC day of the event. Country, kind and platform are those of the click.
 */
export const dailyNetwork = sqliteTable(
	"daily_network",
	{
		date: text().notNull(),
		campaignId: integer("campaign_id").notNull(),
		/** Empty where nobody knows the publisher. */
		publisherId: text("publisher_id").notNull(),
		brandId: integer("brand_id").notNull(),
		/** Empty where nobody knows it, as country and kind are. */
		platform: text().notNull(),
		/** As of the clicks. */
		country: text().notNull(),
		kind: text().notNull(),
		/** Why clicks are not paid; empty for paid ones, and for conversions. */
		reason: text().notNull(),
		clickCount: integer("click_count").notNull().default(0),
		/** Of paid clicks, micro-dollars: what they cost before the publishers' shares, and what they earned publishers by themselves. */
		clickGrossMicros: integer("click_gross_micros").notNull().default(0),
		clickRevenueMicros: integer("click_revenue_micros").notNull().default(0),
		approvedCount: integer("approved_count").notNull().default(0),
		pendingCount: integer("pending_count").notNull().default(0),
		cancelledCount: integer("cancelled_count").notNull().default(0),
		/** Of approved and pending conversions, micro-dollars, as in the other sums. */
		conversionRevenueMicros: integer("conversion_revenue_micros").notNull().default(0),
		pendingRevenueMicros: integer("pending_revenue_micros").notNull().default(0),
		grossMicros: integer("gross_micros").notNull().default(0),
		/** What of that is of pending ones. */
		pendingGrossMicros: integer("pending_gross_micros").notNull().default(0),
		salesMicros: integer("sales_micros").notNull().default(0),
	},
	(table) => [
		// By publisher first: a second index for their reports would be a page more of most clicks.
		primaryKey({
			columns: [
				...([table.publisherId, table.date, table.campaignId, table.brandId] as const),
				...([table.platform, table.country, table.kind, table.reason] as const),
			],
		}),
	],
);

/** What caps are held against: billed clicks by the day of the campaign's own time zone. */
export const campaignDays = sqliteTable(
	"campaign_days",
	{
		campaignId: integer("campaign_id").notNull(),
		/** YYYY-MM-DD on the clocks of the campaign. */
		day: text().notNull(),
		clickCount: integer("click_count").notNull().default(0),
		/** Bid amounts of those clicks, micro-dollars. */
		spendMicros: integer("spend_micros").notNull().default(0),
		/** What they cost before the publishers' shares, micro-dollars. */
		grossMicros: integer("gross_micros").notNull().default(0),
	},
	(table) => [primaryKey({ columns: [table.campaignId, table.day] }), index("campaign_days_by_day").on(table.day)],
);

/** What total budgets are held against: billed clicks of all days, of campaigns that have such a budget, or had one. */
export const campaignTotals = sqliteTable("campaign_totals", {
	campaignId: integer("campaign_id").primaryKey(),
	clickCount: integer("click_count").notNull().default(0),
	spendMicros: integer("spend_micros").notNull().default(0),
	grossMicros: integer("gross_micros").notNull().default(0),
});

/** How fast campaigns with a cap are clicked: billed clicks by ten seconds of the click. Kept for some minutes. */
export const campaignRates = sqliteTable(
	"campaign_rates",
	{
		campaignId: integer("campaign_id").notNull(),
		/** Unix time in units of ten seconds. */
		slot: integer().notNull(),
		clickCount: integer("click_count").notNull().default(0),
		spendMicros: integer("spend_micros").notNull().default(0),
		grossMicros: integer("gross_micros").notNull().default(0),
	},
	// By slot first: what a batch of clicks adds is side by side, whatever campaigns it is of.
	(table) => [primaryKey({ columns: [table.slot, table.campaignId] })],
);

/** The one row that says whether the KV keys of the pauses are behind `campaign_pauses`, and when they may be written again. */
export const pausePublication = sqliteTable("pause_publication", {
	id: integer().primaryKey(),
	/** Raised by whoever changes a pause. */
	changes: integer().notNull(),
	/** How many of the changes are in KV. */
	published: integer().notNull(),
	/** Before that nobody may write: another does so now, or has just done so. Unix milliseconds. */
	nextWriteAt: integer("next_write_at").notNull(),
});

/** Campaigns that stand still because a cap is met. The KV key `book:paused` is made from these rows. */
export const campaignPauses = sqliteTable("campaign_pauses", {
	campaignId: integer("campaign_id").primaryKey(),
	cap: text({ enum: CAPS }).notNull(),
	/** Day of the pause on the clocks of the campaign, YYYY-MM-DD: a daily cap holds for that day. */
	day: text().notNull(),
	pausedAt: integer("paused_at").notNull(),
	/** What was still expected to be clicked, and spent on the campaign's basis, before the pause is known everywhere. */
	aheadClicks: integer("ahead_clicks").notNull(),
	aheadMicros: integer("ahead_micros").notNull(),
});
