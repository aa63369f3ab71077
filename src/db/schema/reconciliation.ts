import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** How far the comparison of counters with their rows has come. One row. */
export const reconciliation = sqliteTable("reconciliation", {
	id: integer().primaryKey(),
	/** Grows by one with every repair: a difference that was found before another repair is not added twice. */
	version: integer().notNull(),
	/** Until when changes have been looked for. */
	selectedAt: integer("selected_at").notNull(),
	/** The day whose turn it was last; every day has its turn, whether or not it is known to have changed. */
	turnDay: text("turn_day"),
	/** The campaign up to which totals were compared; 0 before the first. */
	totalsAfter: integer("totals_after").notNull(),
	/** When a day was last compared. */
	comparedAt: integer("compared_at"),
});

/** Days that wait to be compared, YYYY-MM-DD. */
export const reconciliationDays = sqliteTable("reconciliation_days", {
	day: text().primaryKey(),
	/** How often the comparison of its next part was begun this hour: one that never ends must not keep the others waiting. */
	tries: integer().notNull().default(0),
	/** Which part of the day is next: `publishers` or `campaigns`, and the id behind which it begins; null at the beginning. */
	part: text(),
});

/** Counters that differ from the rows they were made of, since a comparison found them and until one finds them right. */
export const sumDifferences = sqliteTable(
	"sum_differences",
	{
		/** YYYY-MM-DD; empty for totals. */
		day: text().notNull(),
		/** The table. */
		counter: text().notNull(),
		/** JSON object: what tells the row from others of its table. */
		key: text().notNull(),
		column: text("column_name").notNull(),
		stored: integer().notNull(),
		/** What the rows give. */
		counted: integer().notNull(),
		foundAt: integer("found_at").notNull(),
	},
	(table) => [primaryKey({ columns: [table.day, table.counter, table.key, table.column] })],
);

/** Campaigns whose clocks changed: days of theirs that began before cannot be told from their clicks any more. */
export const campaignClocks = sqliteTable("campaign_clocks", {
	campaignId: integer("campaign_id").primaryKey(),
	/** When an import last gave it another time zone, or removed it. */
	changedAt: integer("changed_at").notNull(),
});
