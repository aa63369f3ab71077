import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Validated rows of an import, before one transaction takes them over as a whole. */
export const importRows = sqliteTable(
	"import_rows",
	{
		importId: text("import_id").notNull(),
		/** When the import began, Unix milliseconds: what is left of one that broke off is removed by it. */
		startedAt: integer("started_at").notNull(),
		section: text().notNull(),
		seq: integer().notNull(),
		/** JSON object with the columns of the section's table. */
		row: text().notNull(),
	},
	(table) => [primaryKey({ columns: [table.importId, table.section, table.seq] })],
);
