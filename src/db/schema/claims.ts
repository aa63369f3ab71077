/** Claims of publishers: sales that they miss, or find wrong. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { CLAIM_KINDS, CLAIM_STATES } from "../../lib/enums.ts";

/** One row a claim. What was written to and fro stands in it: it is bounded, and read as a whole. */
export const claims = sqliteTable(
	"claims",
	{
		/** Time-ordered. */
		id: text().primaryKey(),
		/** publishers.id. */
		publisherId: text("publisher_id").notNull(),
		kind: text({ enum: CLAIM_KINDS }).notNull(),
		/** The click, transaction or order that the publisher names. */
		aboutId: text("about_id").notNull(),
		/** clicks.click_hash of its sale's click; null where nobody can tell which that is, and in rows of earlier versions. */
		clickHash: text("click_hash"),
		/** As the publisher has it; null where nothing was said. */
		brand: text(),
		/** When the sale was made, as the publisher has it. */
		soldAt: integer("sold_at"),
		/** What the publisher expects, micro-dollars. */
		amountMicros: integer("amount_micros"),
		state: text({ enum: CLAIM_STATES }).notNull(),
		/** JSON array of `{ at, by, text }`, the first first. */
		thread: text().notNull(),
		/** Grows by one with each change: two who change it at once are told. */
		version: integer().notNull(),
		createdAt: integer("created_at").notNull(),
		changedAt: integer("changed_at").notNull(),
		/** adjustments.id of what granted it; null where there is none. */
		adjustmentId: text("adjustment_id"),
	},
	(table) => [
		index("claims_by_publisher").on(table.publisherId, table.id),
		index("claims_by_state").on(table.state, table.id),
		uniqueIndex("claims_under_way").on(table.publisherId, table.aboutId, table.kind).where(sql`state IN ('open', 'answered')`),
	],
);
