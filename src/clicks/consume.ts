/** The consumer of the `clicks` queue: writes each click once and counts it once. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { type DeadLetter, keepDeadLetters } from "../db/dead-letters.ts";
import { clicks } from "../db/schema/clicks.ts";
import { campaignDays, campaignRates, campaignTotals, dailyCampaigns, dailyPublishers, dailySources } from "../db/schema/counters.ts";
import { newUuid } from "../lib/ids.ts";
import { logError } from "../lib/log.ts";
import { type CapDeps, type ClickedCampaign, pauseSpent } from "./consume-caps.ts";
import { type Facts, readFacts } from "./consume-facts.ts";
import { type ClickRow, toRows } from "./consume-rows.ts";
import { hasCap } from "./decide-pause.ts";
import { type ClickMessage, readClickMessage } from "./message.ts";

/**
 * Takes messages in any order, any number of times. One transaction a batch: a click that is written already changes nothing, and
 * the counters take only those that this batch has written. Then campaigns whose caps are met are paused. A body that is no click
 * becomes a dead letter and holds nothing up.
 * @throws whatever the database throws: the whole batch must come again, and what was written of it changes nothing
 */
export async function consumeClicks(deps: CapDeps, letters: readonly DeadLetter[]): Promise<void> {
	const clicks: ClickMessage[] = [];
	const unreadable: DeadLetter[] = [];
	for (const letter of letters) {
		const read = readClickMessage(letter.body);
		if (read.ok) {
			clicks.push(read.click);
			continue;
		}
		logError("click.unreadable", new Error(`not a click message: ${read.faults}`), { message: letter.id });
		unreadable.push(letter);
	}
	if (unreadable.length > 0) await keepDeadLetters(deps.db, "clicks", unreadable, deps.now());
	if (clicks.length === 0) return;
	const facts = await readFacts(deps.db, clicks);
	await writeClicks(deps.db, toRows(clicks, facts));
	await pauseSpent(deps, cappedCampaigns(clicks, facts.campaigns));
}

/** The campaigns with a cap among those that were clicked, each with the time of its latest click. */
function cappedCampaigns(clicks: readonly ClickMessage[], known: Facts["campaigns"]): ClickedCampaign[] {
	const clicked = new Map<number, ClickedCampaign>();
	for (const { campaignId, at, reason } of clicks) {
		const campaign = known.get(campaignId);
		if (reason !== undefined || campaign === undefined || !hasCap(campaign)) continue;
		const latest = Math.max(at, clicked.get(campaignId)?.at ?? 0);
		clicked.set(campaignId, { campaignId, timezone: campaign.timezone, at: latest });
	}
	return [...clicked.values()];
}

async function writeClicks(db: Database, rows: readonly ClickRow[]): Promise<void> {
	if (rows.length === 0) return;
	const writtenBy = newUuid();
	const inserted = JSON.stringify(rows.map((row) => row.values));
	const days = JSON.stringify(rows.map((row) => [row.id, row.utcDay, row.localDay, row.rateSlot]));
	// A click is a duplicate where its hash is billed already, by a row of old or an earlier message of this batch.
	const insert = sql`INSERT INTO ${clicks} (
			id, click_hash, kind, reason, clicked_at, publisher_id, brand_id, campaign_id, platform, publisher_click_id, source_id,
			subi, psorc, pcat, subid1, subid2, subid3, subid4, subid5, uid, atag,
			bid_micros, revenue_micros, pricing_model, country, ip_prefix, user_agent_hash, written_by)
		SELECT new.id, new.hash, new.kind, new.reason, new.at, new.publisher_id, new.brand_id, new.campaign_id, new.platform,
			new.clickid, new.source_id, new.subi, new.psorc, new.pcat, new.subid1, new.subid2, new.subid3, new.subid4, new.subid5,
			new.uid, new.atag, new.bid, CASE WHEN new.reason IS NULL AND new.pricing_model = 'CPC' THEN new.bid ELSE 0 END,
			new.pricing_model, new.country, new.ip_prefix, new.user_agent_hash, ${writtenBy}
		FROM (
			SELECT value ->> 0 AS id, value ->> 1 AS hash, value ->> 2 AS kind, value ->> 4 AS at, value ->> 5 AS publisher_id,
				CASE WHEN value ->> 3 IS NULL AND EXISTS (
					SELECT 1 FROM ${clicks} old WHERE old.click_hash = value ->> 1 AND old.reason IS NULL AND old.id <> value ->> 0
				) THEN 'duplicate' ELSE value ->> 3 END AS reason,
				value ->> 6 AS brand_id, value ->> 7 AS campaign_id, value ->> 8 AS platform, value ->> 9 AS clickid,
				value ->> 10 AS source_id, value ->> 11 AS subi, value ->> 12 AS psorc, value ->> 13 AS pcat, value ->> 14 AS subid1,
				value ->> 15 AS subid2, value ->> 16 AS subid3, value ->> 17 AS subid4, value ->> 18 AS subid5, value ->> 19 AS uid,
				value ->> 20 AS atag, value ->> 21 AS bid, value ->> 22 AS pricing_model, value ->> 23 AS country,
				value ->> 24 AS ip_prefix, value ->> 25 AS user_agent_hash
			FROM json_each(${inserted})
		) new WHERE true
		ON CONFLICT (id) DO NOTHING`;
	// Only rows that this very transaction has written, and only those that are billed.
	const written = sql`(
		SELECT c.*, day.value ->> 1 AS utc_day, day.value ->> 2 AS local_day, day.value ->> 3 AS rate_slot
		FROM json_each(${days}) day CROSS JOIN ${clicks} c ON c.id = day.value ->> 0
		WHERE c.written_by = ${writtenBy} AND c.reason IS NULL
	)`;
	const count = sql`click_count = click_count + excluded.click_count`;
	const countAndRevenue = sql`${count}, click_revenue_micros = click_revenue_micros + excluded.click_revenue_micros`;
	const countAndSpend = sql`${count}, spend_micros = spend_micros + excluded.spend_micros`;
	await runTransaction(db, [
		insert,
		sql`INSERT INTO ${dailyPublishers} (publisher_id, date, click_count, click_revenue_micros)
			SELECT publisher_id, utc_day, count(*), sum(revenue_micros) FROM ${written} WHERE publisher_id IS NOT NULL GROUP BY 1, 2
			ON CONFLICT (publisher_id, date) DO UPDATE SET ${countAndRevenue}`,
		sql`INSERT INTO ${dailySources} (publisher_id, date, source_id, click_count, click_revenue_micros)
			SELECT publisher_id, utc_day, coalesce(source_id, ''), count(*), sum(revenue_micros)
			FROM ${written} WHERE publisher_id IS NOT NULL GROUP BY 1, 2, 3
			ON CONFLICT (publisher_id, date, source_id) DO UPDATE SET ${countAndRevenue}`,
		sql`INSERT INTO ${dailyCampaigns} (campaign_id, brand_id, publisher_id, date, click_count, click_revenue_micros)
			SELECT campaign_id, brand_id, publisher_id, utc_day, count(*), sum(revenue_micros)
			FROM ${written} WHERE publisher_id IS NOT NULL GROUP BY 1, 2, 3, 4
			ON CONFLICT (campaign_id, date, publisher_id, brand_id) DO UPDATE SET ${countAndRevenue}`,
		sql`INSERT INTO ${campaignDays} (campaign_id, day, click_count, spend_micros)
			SELECT campaign_id, local_day, count(*), sum(bid_micros) FROM ${written} WHERE true GROUP BY 1, 2
			ON CONFLICT (campaign_id, day) DO UPDATE SET ${countAndSpend}`,
		sql`INSERT INTO ${campaignTotals} (campaign_id, click_count, spend_micros)
			SELECT campaign_id, count(*), sum(bid_micros) FROM ${written} WHERE true GROUP BY 1
			ON CONFLICT (campaign_id) DO UPDATE SET ${countAndSpend}`,
		sql`INSERT INTO ${campaignRates} (campaign_id, slot, click_count, spend_micros)
			SELECT campaign_id, rate_slot, count(*), sum(bid_micros) FROM ${written} WHERE rate_slot IS NOT NULL GROUP BY 1, 2
			ON CONFLICT (campaign_id, slot) DO UPDATE SET ${countAndSpend}`,
	]);
}
