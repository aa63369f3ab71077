/** Lets campaigns creep of which no click tells: who never wins is never found to be worth more than is believed. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { learningCampaigns } from "../db/schema/learning.ts";
import { nextCreep } from "../learning/creep.ts";
import { firstGuards } from "../learning/guards.ts";
import { type CampaignLearning, campaignPolicy, type NetworkLearning, readLearning } from "../learning/policy.ts";
import type { Steering } from "../learning/stored.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import { runStatements } from "./run-statements.ts";

const CAMPAIGNS_A_SLICE = 1_000;

type Row = { campaignId: number; epcLearning: string | null; steering: string | null };

/**
 * Goes on with the next campaigns that the night of a day has learned nothing of.
 * @returns the last of them; null where none is left
 */
export async function creepStarved(db: Database, network: NetworkLearning | null, day: number, after: number): Promise<number | null> {
	const mayCreep = (network?.creep ?? 0) > 0 ? sql`true` : sql`c.epc_learning IS NOT NULL AND c.epc_learning ->> 'creep' IS NOT NULL`;
	const rows = await db.all<Row>(sql`SELECT c.campaign_id AS "campaignId", c.epc_learning AS "epcLearning", l.steering
		FROM campaigns c LEFT JOIN learning_campaigns l ON l.campaign_id = c.campaign_id
		WHERE c.campaign_id > ${after} AND c.active = 1 AND ${mayCreep} AND (l.day IS NULL OR l.day < ${day})
		ORDER BY c.campaign_id LIMIT ${CAMPAIGNS_A_SLICE}`);
	const crept = rows.flatMap(({ campaignId, epcLearning, steering }) => {
		const { mode, settings } = campaignPolicy(network, readLearning<CampaignLearning>(epcLearning));
		if (mode !== "automatic" || settings.creep === 0) return [];
		const before = steering === null ? null : (JSON.parse(steering) as Steering);
		const next: Steering = {
			...firstGuards(settings),
			bidCreep: before?.bidCreep ?? 1,
			creep: nextCreep(before?.creep ?? 1, 0, settings.creep),
			observed: 0,
			balance: { paidMicros: 0, projectedMicros: 0 },
		};
		return [{ campaignId, day, learned: null, steering: JSON.stringify(next) }];
	});
	await runStatements(
		db,
		splitByBytes(crept).map((part) =>
			insertRows(
				learningCampaigns,
				part,
				sql`ON CONFLICT (campaign_id) DO UPDATE SET day = excluded.day, learned = excluded.learned, steering = excluded.steering`,
			),
		),
	);
	return rows.length < CAMPAIGNS_A_SLICE ? null : (rows.at(-1)?.campaignId ?? null);
}
