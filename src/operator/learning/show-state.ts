/** GET /operator/learning: how learning stands. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import type { Break } from "../../learning/breaks.ts";
import { type Curve, LAG_EDGES, partBy } from "../../learning/delay-curve.ts";
import type { LearningMode } from "../../learning/modes.ts";
import { networkSettings, type PlatformLearning, priorCurves, readLearning } from "../../learning/policy.ts";
import { readNetworkLearning } from "../../learning-night/policies.ts";
import { PUBLISHING, PUBLISHING_FAULT, type Publishing } from "../../learning-night/publishing.ts";
import { ownOf } from "../../lib/json.ts";
import { roundTo } from "../../lib/money.ts";
import { DAY_MS, HOUR_MS, isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { exportLearning } from "../network/learning-file.ts";
import type { LearningState } from "./learning-answers.ts";
import { readDoneNight } from "./read-learned.ts";
import { showBreak, showDay } from "./show-learned.ts";

/** How long breaks are told of, and how many of them. */
const TOLD_DAYS = 14;
const MAX_BREAKS = 100;

type Pending = { day: number; startedAt: number; fault: string | null };
type Kind = { mode: LearningMode | null; pinned: number; campaigns: number };

export async function showLearningState(db: Database, now: number): Promise<LearningState> {
	const [done, network] = await Promise.all([readDoneNight(db, now), readNetworkLearning(db)]);
	// The half-life of evidence is the same for everyone.
	const { halfLifeDays: _, ...settings } = networkSettings(network);
	const today = Math.floor(now / DAY_MS);
	const [pending, kinds, learned, platforms, breaks, work] = await runTransaction(db, [
		sql`SELECT day, started_at AS "startedAt", fault FROM learning_nights
			WHERE finished_at IS NULL AND day > ${done?.day ?? 0} ORDER BY day DESC LIMIT 1`,
		sql`SELECT epc_learning ->> 'mode' AS mode, CASE WHEN epc_learning ->> 'pin' IS NULL THEN 0 ELSE 1 END AS pinned, COUNT(*) AS campaigns
			FROM campaigns GROUP BY 1, 2`,
		sql`SELECT COUNT(*) AS campaigns FROM learning_campaigns WHERE learned IS NOT NULL`,
		sql`SELECT p.id AS platform, p.epc_learning AS stated, coalesce(SUM(d.arrivals), 0) AS conversions
			FROM platforms p LEFT JOIN learning_publisher_delays d ON d.platform = p.id GROUP BY p.id, p.epc_learning ORDER BY p.id`,
		sql`SELECT campaign_id AS "campaignId", last_break AS "lastBreak" FROM learning_campaigns
			WHERE last_break IS NOT NULL AND CAST(last_break ->> 'day' AS BIGINT) > ${today - TOLD_DAYS}
			ORDER BY CAST(last_break ->> 'day' AS BIGINT) DESC, campaign_id LIMIT ${MAX_BREAKS}`,
		sql`SELECT name, value FROM learning_work WHERE name IN (${PUBLISHING}, ${PUBLISHING_FAULT})`,
	]);
	const [night] = (pending?.results ?? []) as Pending[];
	const [{ campaigns: learnedCount } = { campaigns: 0 }] = (learned?.results ?? []) as { campaigns: number }[];
	return {
		mode: network?.mode ?? "off",
		settings: { mode: network?.mode ?? "off", ...exportLearning(JSON.stringify(settings)) },
		night: {
			learned_until: done === null ? null : showDay(done.day),
			finished_at: done === null ? null : isoTime(done.finishedAt),
			age_hours: done === null ? null : roundTo((now - done.finishedAt) / HOUR_MS, 1),
			running: night === undefined ? null : { day: showDay(night.day), started_at: isoTime(night.startedAt) },
			fault: night?.fault == null ? null : { day: showDay(night.day), message: readFault(night.fault) },
		},
		publishing: showPublishing((work?.results ?? []) as Work[]),
		campaigns: { ...countModes((kinds?.results ?? []) as Kind[], network?.mode ?? "off"), learned: learnedCount },
		platforms: ((platforms?.results ?? []) as { platform: string; stated: string | null; conversions: number }[]).map((row) => {
			const known = priorCurves(readLearning<PlatformLearning>(row.stated));
			const { arrivals, reversals } = ownOf(done?.curves ?? {}, row.platform) ?? known;
			return {
				platform: row.platform,
				conversions: Math.max(0, row.conversions),
				stated: row.stated !== null,
				arrivals: showCurve(arrivals),
				reversals: showCurve(reversals),
			};
		}),
		breaks: ((breaks?.results ?? []) as { campaignId: number; lastBreak: string }[]).map(({ campaignId, lastBreak }) => ({
			campaign_id: campaignId,
			...showBreak(JSON.parse(lastBreak) as Break),
		})),
	};
}

type Work = { name: string; value: string };

function showPublishing(work: readonly Work[]): LearningState["publishing"] {
	const readValue = <Value>(name: string) => {
		const row = work.find((each) => each.name === name);
		return row === undefined ? null : (JSON.parse(row.value) as Value);
	};
	const hour = readValue<Publishing>(PUBLISHING);
	const fault = readValue<{ at: number; message: string }>(PUBLISHING_FAULT);
	return {
		at: isoTimeOrNull(hour?.at ?? null),
		fault: fault === null ? null : { at: isoTime(fault.at), message: fault.message },
	};
}

/** What a night failed of, in words. @param fault JSON with a `message` */
function readFault(fault: string): string {
	const { message } = JSON.parse(fault) as { message?: string };
	return message ?? fault;
}

function countModes(kinds: readonly Kind[], network: LearningMode): Record<LearningMode, number> {
	const counts = { off: 0, advise: 0, automatic: 0 };
	for (const { mode, pinned, campaigns } of kinds) {
		const own = mode ?? network;
		counts[own === "automatic" && pinned === 1 ? "advise" : own] += campaigns;
	}
	return counts;
}

function showCurve(curve: Curve): { days: number; part: number }[] {
	return LAG_EDGES.map((days) => ({ days, part: roundTo(partBy(curve, days), 4) }));
}
