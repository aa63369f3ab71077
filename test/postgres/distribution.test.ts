/**
 * Which tables Citus would take as they are: `create_distributed_table` wants the column that rows are distributed by in every unique key, and
 * never null in it. Of large tables that it would not take, what is in its way (docs/decisions/0034).
 */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

/** Rows of these grow with clicks, bids or conversions. Everything else is small enough to stand on every node (`create_reference_table`). */
const LARGE: Readonly<Record<string, string>> = {
	adjustments: "publisher_id",
	bid_hours: "publisher_id",
	callback_attempts: "publisher_id",
	callbacks: "publisher_id",
	click_history: "publisher_id",
	clicks: "publisher_id",
	conversion_changes: "publisher_id",
	conversion_events: "platform",
	conversion_history: "platform",
	conversions: "platform",
	daily_campaigns: "publisher_id",
	daily_network: "publisher_id",
	daily_publishers: "publisher_id",
	daily_sources: "publisher_id",
	day_digests: "publisher_id",
	paid_visits: "publisher_id",
	postback_intake: "platform",
};

const IN_THE_WAY: Readonly<Record<string, readonly string[]>> = {
	adjustments: ["adjustments_by_undone", "adjustments_pkey", "publisher_id may be null"],
	callback_attempts: ["callback_attempts_pkey", "publisher_id is no column"],
	callbacks: ["callbacks_in_order", "callbacks_pkey"],
	click_history: ["click_history_pkey"],
	clicks: ["clicks_pkey", "clicks_rest_billed_by_hash", "publisher_id may be null"],
	paid_visits: ["paid_visits_pkey"],
	postback_intake: ["platform may be null", "postback_intake_pkey"],
};

const WITHOUT = `SELECT i.indexrelid::regclass::text AS name FROM pg_index i
	WHERE i.indisunique AND i.indrelid IN (SELECT CAST(CAST(?1 AS text) AS regclass)
		UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = CAST(CAST(?1 AS text) AS regclass) AND inhrelid::regclass::text = ?1 || '_rest')
		AND NOT (i.indrelid::regclass::text <> ?1 AND i.indisprimary)
		AND NOT EXISTS (SELECT 1 FROM unnest(i.indkey) AS k (attnum) JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
			WHERE a.attname = ?2)`;
const NULLABLE = `SELECT attnotnull AS required FROM pg_attribute WHERE attrelid = CAST(CAST(?1 AS text) AS regclass) AND attname = ?2`;

async function findInTheWay(table: string, column: string): Promise<string[]> {
	const keys = await env.DB.prepare(WITHOUT).bind(table, column).all<{ name: string }>();
	const [attribute] = (await env.DB.prepare(NULLABLE).bind(table, column).all<{ required: number }>()).results;
	const ofColumn = attribute === undefined ? [`${column} is no column`] : attribute.required === 1 ? [] : [`${column} may be null`];
	return [...keys.results.map(({ name }) => name), ...ofColumn].sort();
}

describe("postgres: tables on several nodes", () => {
	it.each(Object.entries(LARGE))("%s by %s", async (table, column) => {
		expect(await findInTheWay(table, column)).toEqual(IN_THE_WAY[table] ?? []);
	});
});
