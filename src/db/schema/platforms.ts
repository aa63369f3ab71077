import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { NEGATIVE_PAYOUTS } from "../../lib/enums.ts";

/** Affiliate and offer networks that report conversions. */
export const platforms = sqliteTable("platforms", {
	/** Natural key in the network file. */
	id: text().primaryKey(),
	/** Numeric platform id, the click URL's `pli`. */
	platformId: integer("platform_id"),
	name: text().notNull(),
	/** Currency of payouts that name none. */
	currency: text().notNull(),
	/** JSON object: network status → approved, pending or cancelled. */
	statusMap: text("status_map").notNull(),
	/** Most that one conversion may pay, micro-dollars; null for the default. */
	maxPayoutMicros: integer("max_payout_micros"),
	/** Whether a postback may name a click by the publisher's own click id. */
	matchByPublisherClickId: integer("match_by_publisher_click_id", { mode: "boolean" }).notNull().default(true),
	/** Secret of the HMAC over a postback's query; null where the platform signs none. */
	postbackSecret: text("postback_secret"),
	/** JSON array of address ranges that postbacks come from; null for any. */
	sourceRanges: text("source_ranges"),
	/** What a payout below zero does: it cancels the conversion, or corrects its amount. */
	negativePayout: text("negative_payout", { enum: NEGATIVE_PAYOUTS }).notNull().default("cancel"),
	/** Most postbacks a minute; null for any number. */
	postbacksPerMinute: integer("postbacks_per_minute"),
	/** JSON of the delay curve that the operator states; null where it is learned alone. */
	epcLearning: text("epc_learning"),
});

/** US dollars a unit of a currency is worth, by UTC day. */
export const exchangeRates = sqliteTable("exchange_rates", {
	/** `{currency} {YYYY-MM-DD}`. */
	id: text().primaryKey(),
	currency: text().notNull(),
	date: text().notNull(),
	/** Billionths of a USD. */
	usdNanos: integer("usd_nanos").notNull(),
});
