import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { LEDGER_CHECKS } from "../../lib/enums.ts";

/** How far the check of conversions against their events and callbacks has come. One row. */
export const ledgerCheck = sqliteTable("ledger_check", {
	id: integer().primaryKey(),
	/** The last changed conversion that was checked: when it changed, and which it is. */
	changedAt: integer("changed_at").notNull().default(0),
	changedPlatform: text("changed_platform").notNull().default(""),
	changedTxnid: text("changed_txnid").notNull().default(""),
	/** The UTC day whose turn over all conversions was begun last, YYYY-MM-DD. */
	turnDay: text("turn_day").notNull().default(""),
	/** The last conversion of the turn under way; null between turns. */
	turnPlatform: text("turn_platform"),
	turnTxnid: text("turn_txnid"),
	/** Conversions of the turn under way, and JSON of how many there were by why callbacks need not come to the report. */
	turnCount: integer("turn_count").notNull().default(0),
	turnReasons: text("turn_reasons").notNull().default("{}"),
	/** When conversions were last checked. */
	checkedAt: integer("checked_at"),
	/** The last turn that came to its end. */
	wholeAt: integer("whole_at"),
	wholeCount: integer("whole_count").notNull().default(0),
	wholeReasons: text("whole_reasons").notNull().default("{}"),
});

/** What a conversion's row has and its events or callbacks do not bear out, since a check found it and until one finds it right. */
export const ledgerDifferences = sqliteTable(
	"ledger_differences",
	{
		platform: text().notNull(),
		txnid: text().notNull(),
		/** What was checked. */
		kind: text({ enum: LEDGER_CHECKS }).notNull(),
		/** The field of the conversion, or what is amiss with its callbacks. */
		field: text().notNull(),
		publisherId: text("publisher_id"),
		/** What the row has, and what its events or callbacks give, as text; null for none. */
		stored: text(),
		expected: text(),
		foundAt: integer("found_at").notNull(),
	},
	(table) => [
		primaryKey({ columns: [table.platform, table.txnid, table.kind, table.field] }),
		index("ledger_differences_by_time").on(table.foundAt),
	],
);
