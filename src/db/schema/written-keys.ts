import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Keys of KV whose clicks are in the database: KV deletes fewer keys a minute than it keeps in an outage. */
export const writtenKeys = sqliteTable("written_keys", {
	key: text().primaryKey(),
	writtenAt: integer("written_at").notNull(),
});
