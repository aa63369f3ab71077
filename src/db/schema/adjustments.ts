import { isNotNull } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { ADJUSTMENT_KINDS } from "../../lib/enums.ts";

/** What operators took back, gave back, added or took: rows are only ever added. */
export const adjustments = sqliteTable(
	"adjustments",
	{
		/** Of the operator's choosing, or of the claim that it grants; else time-ordered. */
		id: text().primaryKey(),
		kind: text({ enum: ADJUSTMENT_KINDS }).notNull(),
		/** Who did it. */
		actor: text().notNull(),
		at: integer().notNull(),
		/** Why, in the operator's words. */
		text: text().notNull(),
		/** JSON of the request: what was selected; of a conversion's, `was` is the verdict before, `was_released_micros` what that passed. */
		request: text().notNull(),
		/** For `amount`: whose, on which UTC day, and how much, micro-dollars. */
		publisherId: text("publisher_id"),
		date: text(),
		amountMicros: integer("amount_micros"),
		/** adjustments.id of what this one undoes. */
		undoes: text(),
		/** Id of the last click that was looked at while there may be more of them; null once it is done. */
		cursor: text(),
		/** Clicks and conversions that changed, and by how much the sums did, micro-dollars. */
		clicks: integer().notNull().default(0),
		conversions: integer().notNull().default(0),
		publisherRevenueMicros: integer("publisher_revenue_micros").notNull().default(0),
		grossRevenueMicros: integer("gross_revenue_micros").notNull().default(0),
		/** `report_sequence` of the transaction that booked an amount. */
		sequence: integer().notNull().default(0),
	},
	(table) => [
		index("adjustments_by_publisher").on(table.publisherId, table.date, table.sequence),
		index("adjustments_by_sequence").on(table.publisherId, table.sequence, table.id).where(isNotNull(table.publisherId)),
		// Nothing is undone twice.
		uniqueIndex("adjustments_by_undone").on(table.undoes),
		index("adjustments_by_time").on(table.at, table.id),
	],
);
