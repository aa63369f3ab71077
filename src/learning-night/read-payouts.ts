/** What the whole network's payouts say: its usual one, and what pooled payouts add. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { NightRules } from "../learning/night-steps.ts";
import { addLoading, loadingOf, logMean, measurePayouts, middlePayout, NO_LOADING, type PayoutSizes } from "../learning/payouts.ts";
import { TAKEN_BACK_CLASS } from "../learning/size-class.ts";

const ROWS_A_PAGE = 10_000;

type SizeRow = { campaignId: number; sizeClass: number; conversions: number; netMicros: number; epcMicros: number | null };

/** Two readings of sums by campaign and size: nothing of a campaign is kept but its mean. */
export async function readPayouts(db: Database): Promise<Pick<NightRules, "usualMicros" | "loading">> {
	const means: number[] = [];
	for await (const { sizes } of readSizes(db)) {
		const mean = logMean(sizes);
		if (mean !== null) means.push(mean);
	}
	const usualMicros = middlePayout(means);
	const sums = { ...NO_LOADING };
	for await (const { sizes, epcMicros } of readSizes(db)) addLoading(sums, sizes, measurePayouts(sizes, usualMicros, epcMicros).capMicros);
	return { usualMicros, loading: loadingOf(sums) };
}

/** Campaigns that are no more are not asked. */
async function* readSizes(db: Database): AsyncIterable<{ sizes: PayoutSizes; epcMicros: number }> {
	let after = 0;
	for (;;) {
		const page = await db.all<SizeRow>(sql`SELECT e.campaign_id AS "campaignId", e.size_class AS "sizeClass",
				sum(e.conversions) AS conversions, sum(e.net_micros) AS "netMicros", c.epc_micros AS "epcMicros"
			FROM learning_earnings e JOIN campaigns c ON c.campaign_id = e.campaign_id
			WHERE e.campaign_id > ${after} AND e.size_class <> ${TAKEN_BACK_CLASS}
			GROUP BY e.campaign_id, e.size_class, c.epc_micros ORDER BY e.campaign_id, e.size_class LIMIT ${ROWS_A_PAGE}`);
		// The last campaign of a full page may go on in the next; no campaign has as many sizes as a page has rows.
		const cut = page.length < ROWS_A_PAGE ? null : page.at(-1)?.campaignId;
		const byCampaign = Map.groupBy(page, ({ campaignId }) => campaignId);
		for (const [campaignId, rows] of byCampaign) {
			if (campaignId === cut) continue;
			after = campaignId;
			const sizes = rows.filter(({ conversions }) => conversions > 0).map(({ sizeClass, ...size }) => [sizeClass, size] as const);
			yield { sizes: new Map(sizes), epcMicros: rows[0]?.epcMicros ?? 0 };
		}
		if (cut === null) return;
	}
}
