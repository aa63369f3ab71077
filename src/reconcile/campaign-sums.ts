/**
 * Days of campaigns on their own clocks against their clicks, of some campaigns. No index has clicks by campaign, so those of the day, and of
 * what clocks may be ahead or behind, are gone through in the order of their ids, a bounded number a statement; the campaigns' sums are kept
 * in memory meanwhile.
 */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { removedFrom } from "../db/removed-clicks.ts";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS, HOUR_MS } from "../lib/time.ts";
import {
	CampaignDay,
	compareCampaignDays,
	type Difference,
	MAX_AHEAD_MS,
	MAX_BEHIND_MS,
	type QuarterRow,
	type SumRow,
} from "./compare-sums.ts";
import type { PartLimits } from "./parts.ts";
import { VERSION, versionOf } from "./version.ts";

export type CampaignsRead = {
	version: number;
	differences: Difference[];
	areClicksGone: boolean;
	/** The last campaign; null where there are no more behind it. */
	last: number | null;
};

/**
 * Where one statement goes through all clicks, everything is read at one moment. Else clicks that come late, or are taken back, may be missed
 * or counted beside the sums: a difference is one that two readings find alike.
 */
export async function readCampaigns(db: Database, day: string, after: number, limits: PartLimits): Promise<CampaignsRead> {
	const first = await readOnce(db, day, after, limits);
	if (first.statements === 1 || first.differences.length === 0) return first;
	const second = await readOnce(db, day, after, limits);
	const isSame = (one: Difference, other: Difference) =>
		one.key.campaignId === other.key.campaignId && one.column === other.column && one.counted - one.stored === other.counted - other.stored;
	return { ...second, differences: second.differences.filter((one) => first.differences.some((other) => isSame(one, other))) };
}

async function readOnce(db: Database, day: string, after: number, limits: PartLimits): Promise<CampaignsRead & { statements: number }> {
	const campaigns = await db.all<{ campaignId: number; timezone: string }>(sql`SELECT campaign_id AS "campaignId", timezone
		FROM campaigns WHERE campaign_id > ${after} ORDER BY campaign_id LIMIT ${limits.campaigns}`);
	const last = campaigns.length < limits.campaigns ? null : (campaigns.at(-1)?.campaignId ?? null);
	const from = Date.parse(day) - MAX_AHEAD_MS;
	const to = Date.parse(day) + DAY_MS + MAX_BEHIND_MS;
	const sums = new CampaignDay(day, new Map(campaigns.map(({ campaignId, timezone }) => [campaignId, timezone])));
	const isThese = last === null ? sql`campaign_id > ${after}` : sql`campaign_id > ${after} AND campaign_id <= ${last}`;
	// Quarters of an hour: QUARTER_MS is written out, since a bound one is another value in GROUP BY.
	const clicksOf = (begin: string, end: string) => sql`SELECT campaign_id AS "campaignId", clicked_at / 900000 AS quarter,
			count(*) AS "clickCount", sum(bid_micros) AS "spendMicros", sum(coalesce(gross_micros, bid_micros)) AS "grossMicros"
		FROM clicks WHERE id >= ${begin} AND id < ${end} AND clicked_at >= ${from} AND clicked_at < ${to} AND reason IS NULL AND ${isThese}
		GROUP BY campaign_id, clicked_at / 900000`;
	const end = leastIdAt(to + HOUR_MS);
	let begin = leastIdAt(from - HOUR_MS);
	for (let statements = 1; ; statements++) {
		const [bound] = await db.all<{ id: string }>(
			sql`SELECT id FROM clicks WHERE id >= ${begin} AND id < ${end} ORDER BY id LIMIT 1 OFFSET ${limits.clicksAStatement}`,
		);
		if (bound !== undefined) {
			sums.add(await db.all<QuarterRow>(clicksOf(begin, bound.id)));
			begin = bound.id;
			continue;
		}
		const results = await runTransaction(db, [
			VERSION,
			removedFrom("clicks", from),
			clicksOf(begin, end),
			sql`SELECT campaign_id AS "campaignId", changed_at AS "changedAt" FROM campaign_clocks WHERE changed_at > ${from - DAY_MS} AND ${isThese}`,
			// Nobody knows the clocks of one that is no more.
			sql`SELECT s.campaign_id AS "campaignId", s.click_count AS "clickCount", s.spend_micros AS "spendMicros", s.gross_micros AS "grossMicros"
				FROM (SELECT campaign_id FROM campaigns WHERE ${isThese}) k CROSS JOIN campaign_days s WHERE s.campaign_id = k.campaign_id AND s.day = ${day}`,
		]);
		const rows = <Row>(at: number) => (results[at]?.results ?? []) as Row[];
		sums.add(rows(2));
		const areClicksGone = rows(1).length > 0;
		const clocks = new Map(rows<{ campaignId: number; changedAt: number }>(3).map((row) => [row.campaignId, row.changedAt]));
		const differences = areClicksGone ? [] : compareCampaignDays(day, rows<SumRow>(4), sums.rows, clocks);
		return { version: versionOf(rows(0)), differences, areClicksGone, last, statements };
	}
}
