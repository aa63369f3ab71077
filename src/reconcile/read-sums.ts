/** Reads counters and the rows they were made of, both at one moment: the statements of a read are one transaction. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { removedFrom } from "../db/removed-clicks.ts";
import type { PublisherCounter, PublishersState, SumRow } from "./compare-sums.ts";
import { dailyDifferences } from "./daily-sums.ts";
import { type DifferingRow, MAX_DIFFERING, sidesOf } from "./differing-rows.ts";
import { networkDifferences } from "./network-sums.ts";
import type { PublisherPage } from "./parts.ts";
import { VERSION, versionOf } from "./version.ts";

/** With the version of the repairs that it has seen. */
export type Read<State> = { version: number; state: State };
export type TotalsState = { stored: SumRow[]; days: SumRow[]; corrections: SumRow[] };

/** @returns with `isWhole` false where more differs than one read has */
export async function readPublishers(
	db: Database,
	day: string,
	page: PublisherPage,
): Promise<Read<PublishersState> & { isWhole: boolean }> {
	const from = Date.parse(day);
	const results = await runTransaction(db, [
		VERSION,
		removedFrom("clicks", from),
		removedFrom("uncounted clicks", from),
		dailyDifferences(day, page),
		networkDifferences(day, page),
	]);
	const rows = <Row>(at: number) => (results[at]?.results ?? []) as Row[];
	const daily = rows<DifferingRow & { counter: PublisherCounter }>(3);
	const network = rows<DifferingRow>(4);
	const dailyOf = (counter: PublisherCounter) =>
		sidesOf(
			counter,
			daily.filter((row) => row.counter === counter),
		);
	return {
		version: versionOf(rows(0)),
		isWhole: daily.length < MAX_DIFFERING && network.length < MAX_DIFFERING,
		state: {
			day,
			areClicksGone: rows(1).length > 0,
			areUnpaidGone: rows(2).length > 0,
			sides: {
				daily_publishers: dailyOf("daily_publishers"),
				daily_sources: dailyOf("daily_sources"),
				daily_network: sidesOf("daily_network", network),
			},
		},
	};
}

/** The totals of the next campaigns behind an id, of those that have one or should, and what their days give. */
export async function readTotals(db: Database, after: number, limit: number): Promise<Read<TotalsState> & { last: number | null }> {
	const ids = sql`SELECT campaign_id FROM campaign_totals WHERE campaign_id > ${after}
		UNION SELECT campaign_id FROM campaigns WHERE campaign_id > ${after} AND total_budget_micros IS NOT NULL
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
