import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** A digest over the records of a publisher's closed UTC day, as it stood when it was computed. */
export const dayDigests = sqliteTable(
	"day_digests",
	{
		publisherId: text("publisher_id").notNull(),
		/** YYYY-MM-DD. */
		day: text().notNull(),
		/** 64 hexadecimal digits; null before it is first computed. */
		digest: text(),
		recordCount: integer("record_count"),
		/** The day's sums as the digest has them: text of a row of `daily_publishers`. */
		sums: text(),
		computedAt: integer("computed_at"),
		/** It is to be computed, for the first time or again. */
		due: integer({ mode: "boolean" }).notNull(),
		/** JSON: how far that has come, or when it failed; null where it is not begun. */
		progress: text(),
		/** Grows by one with every write: what tells a writer that another was faster. */
		version: integer().notNull().default(0),
	},
	(table) => [
		primaryKey({ columns: [table.publisherId, table.day] }),
		index("day_digests_due").on(table.day, table.publisherId).where(sql`due = 1`),
	],
);

/** Which closed days have been looked at for changes. One row. */
export const dayDigestState = sqliteTable("day_digest_state", {
	id: integer().primaryKey(),
	/** Until when changes have been looked for. */
	selectedAt: integer("selected_at").notNull(),
	/** The day whose turn it was last. */
	turnDay: text("turn_day"),
});
