/** What the operator's alerts know of problems between two looks. A row goes once its problem has ended and that was told. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const problemAlerts = sqliteTable("problem_alerts", {
	/** Kind of the problem. */
	kind: text().primaryKey(),
	/** Looks in a row that say otherwise than `standing`. */
	looks: integer().notNull(),
	/** Whether the problem stands: what two looks in a row have said. */
	standing: integer({ mode: "boolean" }).notNull(),
	/** Whether the operator was told that it stands. */
	told: integer({ mode: "boolean" }).notNull(),
	/** The alert that is to be sent, JSON of its body; null where there is none. */
	body: text(),
	/** Its id, the same at every try. */
	messageId: text("message_id"),
	tries: integer().notNull().default(0),
	nextTryAt: integer("next_try_at"),
});
