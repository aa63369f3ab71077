import { sqliteTable, text } from "drizzle-orm/sqlite-core";

/** How far the removal of old rows has come. */
export const retention = sqliteTable("retention", {
	/** What is removed. */
	name: text().primaryKey(),
	/** Id of the last row that was looked at: ids are time-ordered, and what it passed by stays for good. */
	cursor: text().notNull(),
});
