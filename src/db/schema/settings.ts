import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** What the network file sets for the whole network. One row. */
export const networkSettings = sqliteTable("network_settings", {
	id: integer().primaryKey(),
	/** JSON of TrafficSettings: rules on which clicks are paid; null for the defaults. */
	traffic: text(),
});
