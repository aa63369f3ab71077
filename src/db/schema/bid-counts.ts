/** How often publishers were bid for, and why not: kept for some weeks, and nothing is paid by it. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { COUNTED_ENDPOINTS } from "../../lib/enums.ts";

export const bidHours = sqliteTable(
	"bid_hours",
	{
		/** Unix time in hours. */
		hour: integer().notNull(),
		/** publishers.id; empty where nobody has the name that asked. */
		publisherId: text("publisher_id").notNull(),
		endpoint: text({ enum: COUNTED_ENDPOINTS }).notNull(),
		/** `bid`, or the reason of a no-bid; of a notice, what it tells. */
		outcome: text().notNull(),
		requests: integer().notNull().default(0),
	},
	(table) => [
		primaryKey({ columns: [table.hour, table.publisherId, table.endpoint, table.outcome] }),
		index("bid_hours_by_publisher").on(table.publisherId, table.hour),
	],
);

/** Messages of counts that were counted, for as long as one may come again. */
export const bidMessages = sqliteTable("bid_messages", {
	/** Time-ordered. */
	id: text().primaryKey(),
});
