/**
 * The SQL of a batch of clicks: constant text with numbered parameters, since it runs a hundred times a second and building it again
 * would cost more than most of it takes. All of it is one transaction.
 */
import { type SQL, sql } from "drizzle-orm";
import { textOf } from "../../db/client.ts";
import { addColumns, cellsAsColumns, columnNames, namedCells, writeCells } from "../../db/json-rows.ts";
import { clicks } from "../../db/schema/clicks.ts";
import { campaignDays, campaignRates, campaignTotals, dailyCampaigns, dailyPublishers, dailySources } from "../../db/schema/counters.ts";
import { CLICK_COLUMNS } from "./click-columns.ts";
import type { ClickRow } from "./click-rows.ts";

/**
 * ?1 is a JSON array of the `values` of rows, ?2 the delivery's id. A click is a duplicate where its hash is billed already by another
 * row; those of one batch were told apart before.
 */
const INSERT_CLICKS = textOf(sql`WITH given AS MATERIALIZED (
		SELECT ${cellsAsColumns(clicks, CLICK_COLUMNS, sql`value`)} FROM json_each(?1)
	), checked AS MATERIALIZED (
		SELECT given.*, reason IS NULL AND EXISTS (
			SELECT 1 FROM clicks old WHERE old.click_hash = given.click_hash AND old.reason IS NULL AND old.id <> given.id
		) AS repeated FROM given
	)
	INSERT INTO clicks (${columnNames(clicks, CLICK_COLUMNS)}, revenue_micros, written_by)
	SELECT ${columnNames(clicks, CLICK_COLUMNS, { reason: sql`CASE WHEN repeated THEN 'duplicate' ELSE reason END` })},
		CASE WHEN reason IS NULL AND pricing_model = 'CPC' AND NOT repeated THEN bid_micros ELSE 0 END, ?2
	FROM checked WHERE true
	ON CONFLICT (id) DO NOTHING`);

/** What the counters are told of a row. */
const COUNTED = ["id", "utcDay", "localDay", "rateSlot"] as const satisfies readonly (keyof ClickRow)[];
const counted = namedCells(COUNTED, sql`counted.value`);
const rateSlot = sql`CAST(${counted.rateSlot} AS BIGINT)`;

/** The billed rows that this very delivery has written. ?1 is a JSON array of rows of {@link COUNTED}, ?2 the delivery's id. */
const ofWritten = sql`FROM json_each(?1) counted CROSS JOIN clicks c
		WHERE c.id = ${counted.id} AND c.written_by = ?2 AND c.reason IS NULL`;

const REVENUE = ["clickCount", "clickRevenueMicros"];
const SPEND = ["clickCount", "spendMicros"];

const COUNTERS: readonly string[] = [
	sql`INSERT INTO daily_publishers (publisher_id, date, click_count, click_revenue_micros)
		SELECT c.publisher_id, ${counted.utcDay}, count(*), sum(c.revenue_micros) ${ofWritten} AND c.publisher_id IS NOT NULL GROUP BY 1, 2
		ON CONFLICT (publisher_id, date) DO UPDATE SET ${addColumns(dailyPublishers, REVENUE)}`,
	sql`INSERT INTO daily_sources (publisher_id, date, source_id, click_count, click_revenue_micros)
		SELECT c.publisher_id, ${counted.utcDay}, coalesce(c.source_id, ''), count(*), sum(c.revenue_micros)
		${ofWritten} AND c.publisher_id IS NOT NULL GROUP BY 1, 2, 3
		ON CONFLICT (publisher_id, date, source_id) DO UPDATE SET ${addColumns(dailySources, REVENUE)}`,
	sql`INSERT INTO daily_campaigns (campaign_id, brand_id, publisher_id, date, click_count, click_revenue_micros)
		SELECT c.campaign_id, c.brand_id, c.publisher_id, ${counted.utcDay}, count(*), sum(c.revenue_micros)
		${ofWritten} AND c.publisher_id IS NOT NULL GROUP BY 1, 2, 3, 4
		ON CONFLICT (campaign_id, date, publisher_id, brand_id) DO UPDATE SET ${addColumns(dailyCampaigns, REVENUE)}`,
	sql`INSERT INTO campaign_days (campaign_id, day, click_count, spend_micros)
		SELECT c.campaign_id, ${counted.localDay}, count(*), sum(c.bid_micros) ${ofWritten} GROUP BY 1, 2
		ON CONFLICT (campaign_id, day) DO UPDATE SET ${addColumns(campaignDays, SPEND)}`,
	sql`INSERT INTO campaign_totals (campaign_id, click_count, spend_micros)
		SELECT c.campaign_id, count(*), sum(c.bid_micros) ${ofWritten} GROUP BY 1
		ON CONFLICT (campaign_id) DO UPDATE SET ${addColumns(campaignTotals, SPEND)}`,
	sql`INSERT INTO campaign_rates (campaign_id, slot, click_count, spend_micros)
		SELECT c.campaign_id, ${rateSlot}, count(*), sum(c.bid_micros) ${ofWritten} AND ${counted.rateSlot} IS NOT NULL GROUP BY 1, 2
		ON CONFLICT (campaign_id, slot) DO UPDATE SET ${addColumns(campaignRates, SPEND)}`,
].map((statement: SQL) => textOf(statement));

/**
 * Statements that write rows once and count once those that they have written.
 * @param writtenBy a fresh id of this delivery
 */
export function writeStatements(db: D1Database, rows: readonly ClickRow[], writtenBy: string): D1PreparedStatement[] {
	const values = JSON.stringify(rows.map((row) => row.values));
	const told = writeCells(COUNTED, rows);
	return [db.prepare(INSERT_CLICKS).bind(values, writtenBy), ...COUNTERS.map((statement) => db.prepare(statement).bind(told, writtenBy))];
}
