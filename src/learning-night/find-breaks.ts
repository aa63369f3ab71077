/** The hourly look for breaks, in campaigns of which a conversion has changed since: the night looks at all. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { type Break, LEAST_EXPECTED } from "../learning/breaks.ts";
import type { PlatformCurves } from "../learning/delay-curve.ts";
import { breakOfCampaign, layCampaign, nightRules } from "../learning/night-steps.ts";
import { type NetworkLearning, networkSettings } from "../learning/policy.ts";
import { pairKey, type SharedFactors, type SourceEvidence, sharedFactor, sharedStanding, Traffic } from "../learning/traffic.ts";
import type { LinkType, TrafficLevel } from "../lib/enums.ts";
import { closeHistories } from "./close-histories.ts";
import type { Progress } from "./night-progress.ts";
import { type KnownHistory, readHistory } from "./read-histories.ts";

/** Campaigns that an hour looks at; those beyond are looked at in the night. */
const MAX_CAMPAIGNS = 1_000;

/** Campaigns that may have broken since: enough was known of them by the night of a day, and a conversion of theirs has changed. */
export async function listUnsettled(db: Database, day: number, since: number): Promise<number[]> {
	const rows = await db.all<{ campaignId: number }>(sql`SELECT DISTINCT v.campaign_id AS "campaignId"
		FROM conversions v JOIN learning_campaigns l ON l.campaign_id = v.campaign_id
		WHERE v.updated_at >= CAST(${since} AS BIGINT) AND l.day = ${day}
			AND CAST(l.learned -> 'campaign' ->> 'expected' AS DOUBLE PRECISION) >= ${LEAST_EXPECTED}
		ORDER BY v.campaign_id LIMIT ${MAX_CAMPAIGNS}`);
	return rows.map(({ campaignId }) => campaignId);
}

/** Looks at a campaign, and learns it again where it has broken since the night of a day. @param at Unix milliseconds @returns the break */
export async function findBreakOf(
	db: Database,
	network: NetworkLearning | null,
	{ day, at }: { day: number; at: number },
	campaignId: number,
): Promise<Break | null> {
	const history = await readHistory(db, network, campaignId);
	const [night] = await db.all<{ progress: string }>(
		sql`SELECT progress FROM learning_nights
		WHERE day = ${day} AND finished_at IS NOT NULL
			AND EXISTS (SELECT 1 FROM learning_campaigns l WHERE l.campaign_id = ${campaignId} AND l.day = ${day})`,
	);
	if (history === undefined || night === undefined) return null;
	const settings = networkSettings(network);
	const { curves, usualMicros, loading } = JSON.parse(night.progress) as Progress;
	const byPlatform = new Map<string, PlatformCurves>(Object.entries(curves));
	const rulesOf = (today: number) => nightRules(today, byPlatform, settings.halfLifeDays, { usualMicros, loading });
	const shared = await readShared(db, history);
	const look = (today: number) => {
		const traffic = fittedTraffic(history, shared);
		return breakOfCampaign(layCampaign(history, rulesOf(today), traffic), rulesOf(today));
	};
	// Of a day that is not over, part of what it brings is there: too little came if it is less than what was due by its beginning, and
	// too much if it is more than will be due by its end.
	const [fall, rise] = [look(day), look(day + 1)];
	const found = fall !== null && fall.z < 0 ? fall : rise !== null && rise.z > 0 ? rise : null;
	if (found === null) return null;
	const lastBreak = { ...found, day };
	const closing = { day, at, settings, rules: rulesOf(day), shared };
	await closeHistories(db, closing, [{ ...history, lastBreak }], fittedTraffic(history, shared));
	return lastBreak;
}

/** The factors of the traffic that a campaign is of, as the night has them. */
async function readShared(db: Database, { cells }: KnownHistory): Promise<SharedFactors> {
	const publishers = JSON.stringify([...new Set(cells.map(({ cell }) => cell.publisher))]);
	const rows = await db.all<{ level: TrafficLevel; publisherId: string; name: string; evidence: string }>(sql`
		SELECT level, publisher_id AS "publisherId", name, evidence FROM learning_traffic
		WHERE (level = 'link' AND publisher_id = '') OR (level IN ('publisher', 'source') AND publisher_id IN (SELECT atom FROM json_each(${publishers})))`);
	const of = <Key>(level: string, keyOf: (row: { publisherId: string; name: string }) => Key) =>
		new Map(rows.filter((row) => row.level === level).map((row) => [keyOf(row), JSON.parse(row.evidence) as SourceEvidence]));
	return {
		publishers: of("publisher", ({ publisherId }) => publisherId),
		sources: of("source", ({ publisherId, name }) => pairKey(publisherId, name)),
		links: of("link", ({ name }) => name as LinkType),
	};
}

function fittedTraffic({ cells }: KnownHistory, shared: SharedFactors): Traffic {
	const traffic = new Traffic();
	for (const { cell } of cells) {
		const kind = traffic.kindOf(cell);
		kind.factor = sharedFactor(shared, cell);
		kind.standing = sharedStanding(shared, cell);
	}
	return traffic;
}
