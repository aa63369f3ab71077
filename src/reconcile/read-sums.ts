/** Reads counters and the rows they were made of, both at one moment: the statements of a read are one transaction. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS, HOUR_MS } from "../lib/time.ts";
import { COUNTED_CONVERSION } from "../reports/counted.ts";
import { type DayState, MOST_AHEAD_MS, MOST_BEHIND_MS, type QuarterRow, type SumRow } from "./compare-sums.ts";
import { anyClickWithin, IS_COMPLETE } from "./day-rows.ts";
import { countedOf, type NetworkRow, networkDifferences, storedOf } from "./network-sums.ts";

/** With the version of the repairs that it has seen. */
export type Read<State> = { version: number; state: State };
export type TotalsState = { stored: SumRow[]; days: SumRow[]; corrections: SumRow[] };

const VERSION = sql`SELECT version FROM reconciliation WHERE id = 1`;

function clicksWithin(from: number, to: number): SQL {
	return sql`${anyClickWithin(from, to)} AND c.reason IS NULL`;
}

const STORED_SUMS = sql`s.click_count AS "clickCount", s.click_revenue_micros AS "clickRevenueMicros",
	s.conversion_count AS "conversionCount", s.conversion_revenue_micros AS "conversionRevenueMicros",
	s.pending_revenue_micros AS "pendingRevenueMicros", s.gross_micros AS "grossMicros", s.sales_micros AS "salesMicros"`;

const CONVERSIONS = sql`SELECT v.publisher_id AS "publisherId", coalesce(v.source_id, '') AS "sourceId", v.campaign_id AS "campaignId",
	v.brand_id AS "brandId", count(*) AS "conversionCount", sum(coalesce(v.revenue_micros, 0)) AS "conversionRevenueMicros",
	sum(CASE WHEN v.status = 'pending' THEN coalesce(v.revenue_micros, 0) ELSE 0 END) AS "pendingRevenueMicros",
	sum(coalesce(v.gross_micros, 0)) AS "grossMicros", sum(coalesce(v.sales_usd_micros, 0)) AS "salesMicros"`;
const BY_KEYS = sql`GROUP BY v.publisher_id, coalesce(v.source_id, ''), v.campaign_id, v.brand_id`;

export async function readDay(db: Database, day: string): Promise<Read<DayState>> {
	const from = Date.parse(day);
	const to = from + DAY_MS;
	const first = from - MOST_AHEAD_MS;
	const isOfEvents = sql`${COUNTED_CONVERSION} AND v.event_at >= ${from} AND v.event_at < ${to} AND ${IS_COMPLETE}`;
	const isOfClicks = sql`${COUNTED_CONVERSION} AND v.pricing_model = 'CPC' AND v.clicked_at >= ${from} AND v.clicked_at < ${to} AND ${IS_COMPLETE}
		AND c.id = v.click_id AND (c.reason IS NULL OR c.reason = 'voided')`;
	const results = await runTransaction(db, [
		VERSION,
		sql`SELECT name, cursor FROM retention WHERE name IN ('clicks', 'uncounted clicks') AND cursor > ${leastIdAt(first - HOUR_MS)}`,
		sql`SELECT c.publisher_id AS "publisherId", coalesce(c.source_id, '') AS "sourceId", c.campaign_id AS "campaignId", c.brand_id AS "brandId",
			count(*) AS "clickCount", sum(c.revenue_micros) AS "clickRevenueMicros"
			FROM clicks c WHERE ${clicksWithin(from, to)} AND c.publisher_id IS NOT NULL
			GROUP BY c.publisher_id, coalesce(c.source_id, ''), c.campaign_id, c.brand_id`,
		sql`${CONVERSIONS} FROM conversions v WHERE ${isOfEvents} AND v.pricing_model IS DISTINCT FROM 'CPC' ${BY_KEYS}
			UNION ALL ${CONVERSIONS} FROM conversions v CROSS JOIN clicks c WHERE ${isOfClicks} ${BY_KEYS}`,
		sql`${CONVERSIONS} FROM conversions v WHERE ${isOfEvents} ${BY_KEYS}`,
		sql`SELECT a.publisher_id AS "publisherId", sum(a.amount_micros) AS "adjustmentMicros" FROM adjustments a
			WHERE a.kind = 'amount' AND a.date = ${day} AND NOT EXISTS (SELECT 1 FROM adjustments u WHERE u.undoes = a.id)
			GROUP BY a.publisher_id`,
		// Quarters of an hour: QUARTER_MS is written out, since a bound one is another value in GROUP BY.
		sql`SELECT c.campaign_id AS "campaignId", k.timezone, c.clicked_at / 900000 AS quarter,
			count(*) AS "clickCount", sum(c.bid_micros) AS "spendMicros", sum(coalesce(c.gross_micros, c.bid_micros)) AS "grossMicros"
			FROM clicks c CROSS JOIN campaigns k WHERE ${clicksWithin(first, to + MOST_BEHIND_MS)} AND k.campaign_id = c.campaign_id
			GROUP BY c.campaign_id, k.timezone, c.clicked_at / 900000`,
		sql`SELECT campaign_id AS "campaignId", changed_at AS "changedAt" FROM campaign_clocks WHERE changed_at > ${first - DAY_MS}`,
		sql`SELECT s.publisher_id AS "publisherId", ${STORED_SUMS}, s.adjustment_micros AS "adjustmentMicros"
			FROM publishers p CROSS JOIN daily_publishers s WHERE s.publisher_id = p.id AND s.date = ${day}`,
		sql`SELECT s.publisher_id AS "publisherId", s.source_id AS "sourceId", ${STORED_SUMS}
			FROM publishers p CROSS JOIN daily_sources s WHERE s.publisher_id = p.id AND s.date = ${day}`,
		// Campaigns that are no more have sums all the same.
		sql`SELECT s.campaign_id AS "campaignId", s.publisher_id AS "publisherId", s.brand_id AS "brandId", ${STORED_SUMS}
			FROM (SELECT campaign_id FROM campaigns UNION SELECT campaign_id FROM campaign_totals UNION SELECT v.campaign_id FROM conversions v WHERE ${isOfEvents}) k
			CROSS JOIN daily_campaigns s WHERE s.campaign_id = k.campaign_id AND s.date = ${day}`,
		// Nobody knows the clocks of one that is no more.
		sql`SELECT s.campaign_id AS "campaignId", s.click_count AS "clickCount", s.spend_micros AS "spendMicros", s.gross_micros AS "grossMicros"
			FROM campaign_days s CROSS JOIN campaigns k WHERE s.day = ${day} AND k.campaign_id = s.campaign_id`,
		networkDifferences(day),
	]);
	const rows = <Row>(at: number) => (results[at]?.results ?? []) as Row[];
	const cursors = new Map(rows<{ name: string; cursor: string }>(1).map(({ name, cursor }) => [name, cursor]));
	const removed = cursors.get("clicks");
	const isGone = (cursor: string | undefined) => cursor !== undefined && cursor > leastIdAt(from - HOUR_MS);
	return {
		version: versionOf(rows(0)),
		state: {
			day,
			clicks: isGone(removed) ? null : rows<SumRow>(2),
			publisherConversions: rows(3),
			campaignConversions: rows(4),
			adjustments: rows(5),
			quarters: removed === undefined ? rows<QuarterRow>(6) : null,
			clocksChangedAt: new Map(rows<{ campaignId: number; changedAt: number }>(7).map((row) => [row.campaignId, row.changedAt])),
			networkClicks: isGone(removed) ? null : [],
			networkConversions: rows<NetworkRow>(12).map(countedOf),
			areUnpaidGone: isGone(cursors.get("uncounted clicks")),
			stored: {
				daily_publishers: rows(8),
				daily_sources: rows(9),
				daily_campaigns: rows(10),
				campaign_days: rows(11),
				daily_network: rows<NetworkRow>(12).map(storedOf),
			},
		},
	};
}

/** The totals of the next campaigns behind an id, and what their days give. */
export async function readTotals(db: Database, after: number, limit: number): Promise<Read<TotalsState> & { last: number | null }> {
	const ids = sql`SELECT campaign_id FROM campaign_totals WHERE campaign_id > ${after}
		UNION SELECT campaign_id FROM campaign_days WHERE campaign_id > ${after}
		ORDER BY 1 LIMIT ${limit}`;
	const results = await runTransaction(db, [
		VERSION,
		ids,
		sql`SELECT t.campaign_id AS "campaignId", t.click_count AS "clickCount", t.spend_micros AS "spendMicros", t.gross_micros AS "grossMicros"
			FROM (${ids}) k CROSS JOIN campaign_totals t WHERE t.campaign_id = k.campaign_id`,
		sql`SELECT d.campaign_id AS "campaignId", sum(d.click_count) AS "clickCount", sum(d.spend_micros) AS "spendMicros", sum(d.gross_micros) AS "grossMicros"
			FROM (${ids}) k CROSS JOIN campaign_days d WHERE d.campaign_id = k.campaign_id GROUP BY d.campaign_id`,
		// Days that are known to be wrong count as their clicks have them.
		sql`SELECT CAST(f.key ->> 'campaignId' AS BIGINT) AS "campaignId",
			CASE f.column_name WHEN 'clickCount' THEN f.counted - f.stored ELSE 0 END AS "clickCount",
			CASE f.column_name WHEN 'spendMicros' THEN f.counted - f.stored ELSE 0 END AS "spendMicros",
			CASE f.column_name WHEN 'grossMicros' THEN f.counted - f.stored ELSE 0 END AS "grossMicros"
			FROM sum_differences f WHERE f.counter = 'campaign_days' AND CAST(f.key ->> 'campaignId' AS BIGINT) IN (SELECT campaign_id FROM (${ids}) k)`,
	]);
	const rows = <Row>(at: number) => (results[at]?.results ?? []) as Row[];
	const found = rows<{ campaign_id: number }>(1);
	return {
		version: versionOf(rows(0)),
		state: { stored: rows(2), days: rows(3), corrections: rows<SumRow>(4).map((row) => ({ ...row, campaignId: Number(row.campaignId) })) },
		last: found.length < limit ? null : (found.at(-1)?.campaign_id ?? null),
	};
}

function versionOf([row]: { version: number }[]): number {
	if (row === undefined) throw new Error("reconciliation has no row: the migrations did not run");
	return row.version;
}
