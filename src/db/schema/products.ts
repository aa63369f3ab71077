/**
 * The products database. Its search indexes, `products_fts` and `seller_products_fts`, are FTS5 tables that drizzle cannot
 * describe: they are in the migrations, and triggers on the tables below maintain them.
 */
export { importRows } from "./imports.ts";

import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Products of affiliate brands. */
export const products = sqliteTable(
	"products",
	{
		/** Natural key: the feed's product id. */
		id: text().primaryKey(),
		/** Canonical domain of the brand. */
		domain: text().notNull(),
		name: text().notNull(),
		description: text(),
		brand: text(),
		category: text(),
		url: text().notNull(),
		imageUrl: text("image_url"),
		currency: text().notNull(),
		/** Millionths of the currency. */
		regularPriceMicros: integer("regular_price_micros"),
		finalPriceMicros: integer("final_price_micros").notNull(),
		/** Canonical (see `canonicalAvailability`): only `InStock` is searchable. */
		availability: text().notNull(),
		/** The feed upload that last had this product; null where a network file brought it. */
		feedId: text("feed_id"),
		/** When a feed last wrote it, Unix milliseconds; null where a network file brought it. */
		fedAt: integer("fed_at"),
	},
	(table) => [index("products_by_domain").on(table.domain)],
);

/** Products of sellers on a marketplace. */
export const sellerProducts = sqliteTable(
	"seller_products",
	{
		asin: text().notNull(),
		sellerId: text("seller_id").notNull(),
		/** Canonical domain of the marketplace's brand. */
		domain: text().notNull(),
		sellerName: text("seller_name"),
		name: text(),
		description: text(),
		manufacturer: text(),
		category: text(),
		catalogName: text("catalog_name"),
		/** Millionths of a USD. */
		currentPriceMicros: integer("current_price_micros"),
		imageUrl: text("image_url"),
		stockAvailability: text("stock_availability"),
		url: text().notNull(),
		/** As in `products`. */
		feedId: text("feed_id"),
		fedAt: integer("fed_at"),
	},
	(table) => [primaryKey({ columns: [table.asin, table.sellerId] }), index("seller_products_by_domain").on(table.domain)],
);

/** Feeds that come in several parts, since when: what others write meanwhile is not theirs to remove. */
export const feeds = sqliteTable("feeds", {
	/** The name that the parts share. */
	id: text().primaryKey(),
	/** Unix milliseconds. */
	beganAt: integer("began_at").notNull(),
});
