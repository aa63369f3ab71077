/** What is stored of learning: nights and campaigns. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import type { CampaignTerms } from "../../learning/cell.ts";
import type { DelayCurves } from "../../learning/delay-curve.ts";
import { DAY_MS } from "../../lib/time.ts";

/** The last night that was done, by which prices go: one of a day to come is of a clock that was ahead. */
export type DoneNight = { day: number; finishedAt: number; curves: Readonly<Record<string, DelayCurves>> };

/** @param now Unix milliseconds */
export async function readDoneNight(db: Database, now: number): Promise<DoneNight | null> {
	const [row] = await db.all<{ day: number; finishedAt: number; progress: string }>(sql`
		SELECT day, finished_at AS "finishedAt", progress FROM learning_nights
		WHERE finished_at IS NOT NULL AND day <= ${Math.floor(now / DAY_MS)} ORDER BY day DESC LIMIT 1`);
	if (row === undefined) return null;
	const { curves = {} } = JSON.parse(row.progress) as { curves?: Record<string, DelayCurves> };
	return { day: row.day, finishedAt: row.finishedAt, curves };
}

export async function hasCampaign(db: Database, campaignId: number): Promise<boolean> {
	return (await db.all(sql`SELECT 1 AS found FROM campaigns WHERE campaign_id = ${campaignId}`)).length > 0;
}

/** A stored campaign's side of its prices. */
export type PricedCampaign = {
	campaignId: number;
	brand: string;
	platform: string;
	epcMicros: number | null;
	defaultKeywordEpcMicros: number | null;
	keywordEpcMicros: string;
	epcLearning: string | null;
};

/** The columns of one, of the campaign `c` of the brand `b`. */
export const PRICED_CAMPAIGN: SQL = sql`c.campaign_id AS "campaignId", b.domain AS brand, c.platform, c.epc_micros AS "epcMicros",
	c.default_keyword_epc_micros AS "defaultKeywordEpcMicros", c.keyword_epc_micros AS "keywordEpcMicros", c.epc_learning AS "epcLearning"`;

export function termsOf(row: Omit<PricedCampaign, "brand" | "epcLearning">): CampaignTerms {
	const { campaignId, platform, epcMicros, defaultKeywordEpcMicros, keywordEpcMicros } = row;
	const keywords = Object.entries(JSON.parse(keywordEpcMicros) as Record<string, number>);
	return { id: String(campaignId), platform, epcMicros, defaultKeywordEpcMicros, keywordEpcMicros: new Map(keywords) };
}
