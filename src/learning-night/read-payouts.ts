/** What the whole network's payouts say: its usual one, and what pooled payouts add. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { NightRules } from "../learning/night-steps.ts";
import { addLoading, loadingOf, logMean, measurePayouts, middlePayout, NO_LOADING, type PayoutSizes } from "../learning/payouts.ts";
import { TAKEN_BACK_CLASS } from "../learning/size-class.ts";

/** Rows of earnings that a statement sums up, and those of its last campaign. */
const ROWS_A_PAGE = 100_000;

type SizeRow = { campaignId: number; sizeClass: number; conversions: number; netMicros: number; epcMicros: number | null };

/** Two readings of sums by campaign and size: nothing of a campaign is kept but its mean. */
export async function readPayouts(db: Database, rowsAPage = ROWS_A_PAGE): Promise<Pick<NightRules, "usualMicros" | "loading">> {
	const ends = await readEnds(db, rowsAPage);
	const means: number[] = [];
	for await (const { sizes } of readSizes(db, ends)) {
		const mean = logMean(sizes);
		if (mean !== null) means.push(mean);
	}
	const usualMicros = middlePayout(means);
	const sums = { ...NO_LOADING };
	for await (const { sizes, epcMicros } of readSizes(db, ends)) {
		addLoading(sums, sizes, measurePayouts(sizes, usualMicros, epcMicros).capMicros);
	}
	return { usualMicros, loading: loadingOf(sums) };
}

/** The last campaign of each page but the last one. */
async function readEnds(db: Database, rowsAPage: number): Promise<number[]> {
	const ends: number[] = [];
	for (;;) {
		const [end] = await db.all<{ id: number }>(sql`SELECT campaign_id AS id FROM learning_earnings
			WHERE campaign_id > ${ends.at(-1) ?? 0} ORDER BY campaign_id LIMIT 1 OFFSET ${rowsAPage - 1}`);
		if (end === undefined) return ends;
		ends.push(end.id);
	}
}

/**
 * Campaigns that are no more are not asked. A page is what is between two ends: of the first sums by campaign and size, those of all rows
 * behind them would be made with each page.
 */
async function* readSizes(db: Database, ends: readonly number[]): AsyncIterable<{ sizes: PayoutSizes; epcMicros: number }> {
	for (const [at, end] of [...ends, Number.MAX_SAFE_INTEGER].entries()) {
		const rows = await db.all<SizeRow>(sql`SELECT e.campaign_id AS "campaignId", e.size_class AS "sizeClass",
				sum(e.conversions) AS conversions, sum(e.net_micros) AS "netMicros", c.epc_micros AS "epcMicros"
			FROM learning_earnings e JOIN campaigns c ON c.campaign_id = e.campaign_id
			WHERE e.campaign_id > ${ends[at - 1] ?? 0} AND e.campaign_id <= CAST(${end} AS BIGINT) AND e.size_class <> ${TAKEN_BACK_CLASS}
			GROUP BY e.campaign_id, e.size_class, c.epc_micros ORDER BY e.campaign_id, e.size_class`);
		for (const ofCampaign of Map.groupBy(rows, ({ campaignId }) => campaignId).values()) {
			const sizes = ofCampaign.filter(({ conversions }) => conversions > 0).map(({ sizeClass, ...size }) => [sizeClass, size] as const);
			yield { sizes: new Map(sizes), epcMicros: ofCampaign[0]?.epcMicros ?? 0 };
		}
	}
}
