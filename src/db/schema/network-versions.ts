import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { NETWORK_CHANGE_KINDS } from "../../lib/enums.ts";

/** Every change of the network by an import, the oldest version first: the last one is the network's version. */
export const networkVersions = sqliteTable(
	"network_versions",
	{
		/** Grows with every change, and follows the clock: a database that was set back does not count through the same numbers again. */
		version: integer().primaryKey(),
		/** Of the import. */
		id: text().notNull(),
		kind: text({ enum: NETWORK_CHANGE_KINDS }).notNull(),
		/** Unix milliseconds. */
		at: integer().notNull(),
		actor: text().notNull(),
		/** SHA-256 of the file, lower-case hex; null where there was none. */
		fileHash: text("file_hash"),
		/** The import that this one undid. */
		undoes: text(),
	},
	(table) => [index("network_versions_by_id").on(table.id)],
);

/** What each of them changed, in parts of many entries, so that a large import writes few rows. */
export const networkChanges = sqliteTable(
	"network_changes",
	{
		version: integer().notNull(),
		seq: integer().notNull(),
		/** JSON array of {section, id, brand?, before, after?}: fields as they were, and as they are since. */
		entries: text().notNull(),
	},
	(table) => [primaryKey({ columns: [table.version, table.seq] })],
);
