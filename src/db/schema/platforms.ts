import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

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
