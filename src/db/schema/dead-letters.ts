import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { QUEUE_NAMES } from "../../lib/enums.ts";

/** Messages whose consumer failed to the end. Kept until the operator replays them, and a month longer. */
export const deadLetters = sqliteTable(
	"dead_letters",
	{
		/** The queue's message id. */
		id: text().primaryKey(),
		queue: text({ enum: QUEUE_NAMES }).notNull(),
		/** JSON. */
		body: text().notNull(),
		receivedAt: integer("received_at").notNull(),
		replayedAt: integer("replayed_at"),
	},
	(table) => [
		index("dead_letters_open").on(table.queue, table.receivedAt, table.id).where(sql`replayed_at IS NULL`),
		index("dead_letters_replayed").on(table.replayedAt).where(sql`replayed_at IS NOT NULL`),
	],
);
