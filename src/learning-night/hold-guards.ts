/** The hourly guards of campaigns: what bids are held back by while more was paid for their clicks than those are projected to earn. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { learningCampaigns } from "../db/schema/learning.ts";
import { caution, firstGuards, isGuardMoved, overpaidGuard } from "../learning/guards.ts";
import { type CampaignLearning, campaignPolicy, type NetworkLearning, readLearning } from "../learning/policy.ts";
import type { LearningSettings } from "../learning/settings.ts";
import type { Steering } from "../learning/stored.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import { markCampaigns } from "./mark-book.ts";
import { runStatements } from "./run-statements.ts";

const CAMPAIGNS_A_SLICE = 2_000;

type GuardRow = {
	campaignId: number;
	epcLearning: string | null;
	steering: string | null;
	paidMicros: number;
	/** What its clicks since the night were reckoned to earn. */
	projectedMicros: number;
};

/**
 * Puts the guards of the next campaigns in force where they have moved: of those whose clicks were paid for since the night, or of all.
 * @param day the last night's @returns the last campaign; null where none is left
 */
export async function holdGuards(
	db: Database,
	network: NetworkLearning | null,
	{ day, after, all }: { day: number; after: number; all: boolean },
): Promise<number | null> {
	const dirty = await readDirty(db, day, after, all);
	const last = dirty.at(-1)?.campaignId;
	if (last === undefined) return null;
	const rows = await db.all<GuardRow>(sql`SELECT c.campaign_id AS "campaignId", c.epc_learning AS "epcLearning", l.steering,
			CAST(s.value ->> 'paidMicros' AS BIGINT) AS "paidMicros", CAST(s.value ->> 'projectedMicros' AS BIGINT) AS "projectedMicros"
		FROM json_each(${JSON.stringify(dirty)}) s JOIN campaigns c ON c.campaign_id = CAST(s.value ->> 'campaignId' AS BIGINT)
		LEFT JOIN learning_campaigns l ON l.campaign_id = c.campaign_id`);
	const moved = rows.flatMap((row) => {
		const { mode, settings } = campaignPolicy(network, readLearning<CampaignLearning>(row.epcLearning));
		const next = steer(row, settings);
		return next === null ? [] : [{ campaignId: row.campaignId, steering: JSON.stringify(next), mode }];
	});
	const automatic = moved.filter(({ mode }) => mode === "automatic").map(({ campaignId }) => campaignId);
	await runStatements(db, [
		...splitByBytes(moved).map((part) =>
			insertRows(
				learningCampaigns,
				part.map(({ campaignId, steering }) => ({ campaignId, day, steering })),
				sql`ON CONFLICT (campaign_id) DO UPDATE SET steering = excluded.steering`,
			),
		),
		...markCampaigns(automatic),
	]);
	return dirty.length < CAMPAIGNS_A_SLICE ? null : last;
}

type DirtyRow = Pick<GuardRow, "campaignId" | "paidMicros" | "projectedMicros">;

/**
 * The next campaigns whose guards may have moved: those whose clicks were paid for since the night, found by the day of these; and where
 * all are asked for, those that have guards. Campaigns and days without either are not read: `+` keeps D1 from going by campaigns.
 */
function readDirty(db: Database, day: number, after: number, all: boolean): Promise<DirtyRow[]> {
	const guarded = all
		? sql`UNION ALL SELECT * FROM (SELECT campaign_id, 0 AS paid, 0 AS projected FROM learning_campaigns
			WHERE campaign_id > ${after} AND steering IS NOT NULL ORDER BY campaign_id LIMIT ${CAMPAIGNS_A_SLICE}) guarded`
		: sql``;
	// A night that is under way has closed some campaigns' books up to its own day.
	return db.all<DirtyRow>(sql`SELECT +campaign_id AS "campaignId", sum(paid) AS "paidMicros", sum(projected) AS "projectedMicros" FROM (
			SELECT k.campaign_id, k.paid_micros AS paid, k.gross_micros AS projected
			FROM learning_clicks k LEFT JOIN learning_campaigns n ON n.campaign_id = k.campaign_id
			WHERE k.day >= ${day} AND k.day >= coalesce(n.day, ${day}) AND k.paid_micros > 0 AND +k.campaign_id > ${after}
			${guarded}) dirty
		GROUP BY +campaign_id ORDER BY +campaign_id LIMIT ${CAMPAIGNS_A_SLICE}`);
}

/** What is to be in force; null where that is what is. */
function steer(row: GuardRow, settings: LearningSettings): Steering | null {
	const { caution: strength, kappa, allowanceMicros, publishStep } = settings;
	const before = row.steering === null ? null : (JSON.parse(row.steering) as Steering);
	const { observed = 0, creep = 1, balance = { paidMicros: 0, projectedMicros: 0 } } = before ?? {};
	const whole = { paidMicros: balance.paidMicros + row.paidMicros, projectedMicros: balance.projectedMicros + row.projectedMicros };
	const next = { caution: caution(strength, kappa.campaign, observed), overpaid: overpaidGuard(whole, allowanceMicros) };
	// Where nothing was kept the book has the caution of a campaign that nothing is known of.
	const inForce = before ?? { ...firstGuards(settings), bidCreep: 1 };
	const crept = creep / inForce.bidCreep;
	const isCrept = creep !== inForce.bidCreep && (creep === 1 || crept >= 1 + publishStep || crept <= 1 / (1 + publishStep));
	if (!isCrept && !isGuardMoved(inForce, next, publishStep)) return null;
	return { ...next, creep, bidCreep: creep, observed, balance };
}
