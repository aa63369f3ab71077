import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Statements of platforms that were applied: each file once. */
export const statements = sqliteTable(
	"statements",
	{
		/** platforms.id. */
		platform: text().notNull(),
		/** SHA-256 of the file and of how it was read, lower-case hex. */
		hash: text().notNull(),
		/** When it was first applied: its postbacks count as received then. Unix milliseconds. */
		at: integer().notNull(),
		/** Who applied it. */
		actor: text().notNull(),
		/** How its columns were told: a network's layout, or `mapping`. */
		layout: text().notNull(),
		rowCount: integer("row_count").notNull(),
		/** JSON of the report before anything was applied. */
		report: text().notNull(),
		/** Postbacks that were made of it. */
		appliedCount: integer("applied_count").notNull().default(0),
		/** When the last of them was settled; null while there may be more. */
		completedAt: integer("completed_at"),
	},
	(table) => [primaryKey({ columns: [table.platform, table.hash] }), index("statements_by_time").on(table.at, table.hash)],
);
