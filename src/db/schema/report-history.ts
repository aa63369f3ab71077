/** What lets pages of a report be of one moment: the order in which rows changed, and what the changes replaced (decision 0033). */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { CONVERSION_CHANGE_REASONS, CONVERSION_STATUSES, PRICING_MODELS } from "../../lib/enums.ts";

/** One row. */
export const reportSequence = sqliteTable("report_sequence", {
	id: integer().primaryKey(),
	/** Grows by one with every transaction that changes rows of reports: each such row has the number of its last change. */
	present: integer().notNull().default(0),
	/** Where `present` stood at `marked_at`: it becomes `oldest` with the next mark. */
	marked: integer().notNull().default(0),
	markedAt: integer("marked_at").notNull().default(0),
	/** The earliest moment that can still be read: what was replaced up to it is removed. */
	oldest: integer().notNull().default(0),
	/** The earliest moment since which `conversion_changes` has every change. */
	changesFrom: integer("changes_from").notNull().default(0),
});

/** How a change of a row was numbered before, and the number of the change that replaced it: it stood at `sequence` <= n < `until_sequence`. */
const reported = {
	sequence: integer().notNull(),
	untilSequence: integer("until_sequence").notNull(),
};

/** Clicks of reports as they were before an adjustment took them back, or gave them back. */
export const clickHistory = sqliteTable(
	"click_history",
	{
		...reported,
		/** clicks.id, and what that row had or has. */
		clickId: text("click_id").notNull(),
		publisherId: text("publisher_id").notNull(),
		clickedAt: integer("clicked_at").notNull(),
		revenueMicros: integer("revenue_micros").notNull(),
		/** Null where it was paid, else `voided`. */
		reason: text(),
	},
	(table) => [
		primaryKey({ columns: [table.untilSequence, table.clickId] }),
		index("click_history_by_publisher").on(table.publisherId, table.untilSequence),
	],
);

/** Conversions of reports as they were before they changed or were cancelled. */
export const conversionHistory = sqliteTable(
	"conversion_history",
	{
		...reported,
		/** What the row of `conversions` had. */
		platform: text().notNull(),
		txnid: text().notNull(),
		status: text({ enum: CONVERSION_STATUSES }).notNull(),
		eventAt: integer("event_at").notNull(),
		grossMicros: integer("gross_micros"),
		salesUsdMicros: integer("sales_usd_micros"),
		revenueMicros: integer("revenue_micros"),
		/** What its callbacks came to, credits less cancellations; null where an earlier version wrote it. */
		creditedMicros: integer("credited_micros"),
		clickId: text("click_id"),
		clickedAt: integer("clicked_at"),
		publisherId: text("publisher_id"),
		publisherClickId: text("publisher_click_id"),
		sourceId: text("source_id"),
		brandId: integer("brand_id"),
		campaignId: integer("campaign_id"),
		pricingModel: text("pricing_model", { enum: PRICING_MODELS }),
	},
	(table) => [
		primaryKey({ columns: [table.untilSequence, table.platform, table.txnid] }),
		index("conversion_history_by_publisher").on(table.publisherId, table.untilSequence),
		index("conversion_history_by_click").on(table.clickId, table.untilSequence),
	],
);

/**
 * Every change of a conversion that reports show, as its publisher reads them in order. What stood before and what stands since; null where
 * no report has it. Micro-dollars.
 */
export const conversionChanges = sqliteTable(
	"conversion_changes",
	{
		publisherId: text("publisher_id").notNull(),
		/** `report_sequence` of the transaction that wrote it: the order of commits. */
		sequence: integer().notNull(),
		platform: text().notNull(),
		txnid: text().notNull(),
		at: integer().notNull(),
		why: text({ enum: CONVERSION_CHANGE_REASONS }).notNull(),
		oldStatus: text("old_status", { enum: CONVERSION_STATUSES }),
		oldEventAt: integer("old_event_at"),
		oldRevenueMicros: integer("old_revenue_micros"),
		/** Null in changes that an earlier version wrote. */
		oldGrossMicros: integer("old_gross_micros"),
		oldSalesUsdMicros: integer("old_sales_usd_micros"),
		oldCreditedMicros: integer("old_credited_micros"),
		status: text({ enum: CONVERSION_STATUSES }),
		eventAt: integer("event_at"),
		revenueMicros: integer("revenue_micros"),
		grossMicros: integer("gross_micros"),
		salesUsdMicros: integer("sales_usd_micros"),
		creditedMicros: integer("credited_micros"),
	},
	(table) => [
		primaryKey({ columns: [table.publisherId, table.sequence, table.platform, table.txnid] }),
		index("conversion_changes_by_time").on(table.at),
	],
);
