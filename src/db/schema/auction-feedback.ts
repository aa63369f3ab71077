/** What publishers tell of the auctions that our bids were in: each once, for some days, and counted for good. Nothing is paid by it. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Auctions that are known to be counted. */
export const auctionFeedback = sqliteTable(
	"auction_feedback",
	{
		/** publishers.id. */
		publisherId: text("publisher_id").notNull(),
		/** As the publisher names the auction. */
		auctionId: text("auction_id").notNull(),
		/** Loss code of OpenRTB; 0 for a bid that won. */
		loss: integer().notNull(),
		/** What it was sold for, micro-dollars; null where that was not told. */
		priceMicros: integer("price_micros"),
		/** Request that told it: what it added is counted with it. */
		batchId: text("batch_id").notNull(),
		at: integer().notNull(),
	},
	(table) => [primaryKey({ columns: [table.publisherId, table.auctionId] }), index("auction_feedback_by_time").on(table.at)],
);

export const auctionFeedbackDays = sqliteTable(
	"auction_feedback_days",
	{
		/** UTC day on which it was told. */
		date: text().notNull(),
		publisherId: text("publisher_id").notNull(),
		loss: integer().notNull(),
		auctions: integer().notNull().default(0),
		/** Those with a price, and the sum of their prices. */
		priced: integer().notNull().default(0),
		priceMicros: integer("price_micros").notNull().default(0),
	},
	(table) => [primaryKey({ columns: [table.date, table.publisherId, table.loss] })],
);
