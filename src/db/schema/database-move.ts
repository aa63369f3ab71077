import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { MOVE_PHASES, MOVE_STEPS } from "../../lib/enums.ts";

/**
 * Where a move of the network database stands; one row, in the database that is left and in the one that is moved to, each its own.
 * Of all tables these two alone are not copied.
 */
export const databaseMove = sqliteTable("database_move", {
	id: integer().primaryKey(),
	phase: text({ enum: MOVE_PHASES }).notNull(),
	/** Which move it is: the same in both databases. */
	moveId: text("move_id").notNull().default(""),
	/** Unix milliseconds. */
	startedAt: integer("started_at"),
});

/** How far a move has come; in the database that is moved to. */
export const databaseMoveProgress = sqliteTable(
	"database_move_progress",
	{
		step: text({ enum: MOVE_STEPS }).notNull(),
		/** Name of the table that is copied or compared. */
		ofTable: text("of_table").notNull(),
		/** The last key that was passed; empty before the first. */
		lastKey: text("last_key").notNull().default(""),
		rowCount: integer("row_count").notNull().default(0),
		differenceCount: integer("difference_count").notNull().default(0),
		/** JSON object: what the rows so far add up to, by column. */
		sums: text().notNull().default("{}"),
		done: integer({ mode: "boolean" }).notNull().default(false),
	},
	(table) => [primaryKey({ columns: [table.step, table.ofTable] })],
);
