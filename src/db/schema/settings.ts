import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { STOP_REASONS } from "../../lib/traffic-rules.ts";

/** What the network file sets for the whole network. One row. */
export const networkSettings = sqliteTable("network_settings", {
	id: integer().primaryKey(),
	/** JSON of TrafficSettings: rules on which clicks are paid; null for the defaults. */
	traffic: text(),
	/** JSON of how prices are learned; null for the defaults, which leave them alone. */
	epcLearning: text("epc_learning"),
});

/**
 * What has stopped, and since when: inactive and removed campaigns, inactive brands, suspended publishers, blocks. What is active has no
 * row. A click that was made before is paid, however late its message comes.
 */
export const stops = sqliteTable(
	"stops",
	{
		/** What the network file says it of: see src/lib/stop-subject.ts. */
		subject: text().notNull(),
		/** The brand that a publisher's block is of; else empty. */
		domain: text().notNull(),
		reason: text({ enum: STOP_REASONS }).notNull(),
		/** The campaigns' country in which it holds; empty for all of them. */
		country: text().notNull(),
		/** Unix milliseconds. */
		since: integer().notNull(),
	},
	(table) => [
		primaryKey({ columns: [table.subject, table.domain, table.reason, table.country] }),
		/** Who may not promote a brand: a packed book has it with the brand. */
		index("stops_by_domain").on(table.domain).where(sql`reason = 'blocked' AND domain <> ''`),
	],
);
