/** The statements that keep what a night has learned: of campaigns, of traffic, and where each factor is going from there. */
import { type SQL, sql } from "drizzle-orm";
import { insertRows } from "../db/json-rows.ts";
import { learningCampaigns, learningFactors, learningTraffic } from "../db/schema/learning.ts";
import type { Break } from "../learning/breaks.ts";
import { type StepRules, UNPUBLISHED } from "../learning/publish-step.ts";
import { LISTED_KEYWORDS, priceFactor, type Renumbered, type Steering, type StoredLearning, writePublished } from "../learning/stored.ts";
import type { SharedFactors } from "../learning/traffic.ts";
import type { FactorLevel } from "../lib/enums.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import { markCampaigns, markCampaignsOf } from "./mark-book.ts";

/** A campaign as the night leaves it. */
export type ClosedCampaign = {
	campaignId: number;
	learned: StoredLearning;
	lastBreak: Break | null;
	steering: Steering;
	/** Of `priceTargets`. */
	prices: ReadonlyMap<string, number>;
	/** Of `renumberPrices`, where the operator has changed numbers since the last night; else none. */
	renumbered: ReadonlyMap<string, Renumbered>;
};

type Target = {
	level: FactorLevel;
	campaignId: number;
	publisherId: string;
	name: string;
	target: number;
};

export function writeCampaigns(closed: readonly ClosedCampaign[], day: number, rules: StepRules): SQL[] {
	if (closed.length === 0) return [];
	const rows = closed.map(({ campaignId, learned, lastBreak, steering }) => ({
		campaignId,
		day,
		learned: JSON.stringify(learned),
		lastBreak: lastBreak === null ? null : JSON.stringify(lastBreak),
		steering: JSON.stringify(steering),
	}));
	const targets = closed.flatMap(({ campaignId, learned, prices }): Target[] => {
		const base = prices.get(LISTED_KEYWORDS) ?? 1;
		const own = [...prices].filter(([, target]) => isFar(target, rules) || isFar(base, rules));
		return [
			...own.map(([name, target]): Target => ({ level: "price", campaignId, publisherId: "", name, target })),
			...Object.entries(learned.publishers)
				.filter(([, { factor }]) => isFar(factor, rules))
				.map(([publisherId, { factor }]): Target => ({ level: "campaign_publisher", campaignId, publisherId, name: "", target: factor })),
		];
	});
	const bases = closed.map(({ campaignId, prices }) => ({ campaignId, base: String(prices.get(LISTED_KEYWORDS) ?? 1) }));
	return [
		...splitByBytes(rows).map((part) =>
			insertRows(
				learningCampaigns,
				part,
				sql`ON CONFLICT (campaign_id) DO UPDATE SET day = excluded.day, learned = excluded.learned, last_break = excluded.last_break,
					steering = excluded.steering`,
			),
		),
		// What nothing tells of any more goes to what holds without it; what is told of follows.
		...splitByBytes(bases).map(
			(part) => sql`UPDATE learning_factors SET moving = 1, target = CASE level WHEN 'price' THEN (
					SELECT value ->> 'base' FROM json_each(${JSON.stringify(part)})
					WHERE CAST(value ->> 'campaignId' AS BIGINT) = learning_factors.campaign_id) ELSE '1' END
				WHERE level IN ('price', 'campaign_publisher')
					AND campaign_id IN (SELECT CAST(value ->> 'campaignId' AS BIGINT) FROM json_each(${JSON.stringify(part)}))`,
		),
		...aim(targets),
		...renumber(closed),
	];
}

/** Prices whose number the operator has changed stay where the book has them, and go on from there. It may have others of those never published. */
function renumber(closed: readonly ClosedCampaign[]): SQL[] {
	const rows = closed.flatMap(({ campaignId, prices, renumbered }) =>
		[...renumbered].map(([name, { published }]) => {
			const target = JSON.stringify(priceFactor(prices, name));
			return { level: "price" as const, campaignId, publisherId: "", name, published: writePublished(published), target, moving: true };
		}),
	);
	return [
		...splitByBytes(rows).map((part) =>
			insertRows(
				learningFactors,
				part,
				sql`ON CONFLICT (level, campaign_id, publisher_id, name) DO UPDATE SET published = excluded.published, target = excluded.target,
					moving = excluded.moving`,
			),
		),
		...markCampaigns(closed.filter(({ renumbered }) => renumbered.size > 0).map(({ campaignId }) => campaignId)),
	];
}

/** Where there is no row yet a factor is 1, and of a keyword that had no clicks what the listed ones have. */
function aim(targets: readonly Target[]): SQL[] {
	const published = writePublished(UNPUBLISHED);
	const rows = targets.map((target) => ({ ...target, target: JSON.stringify(target.target), published, moving: true }));
	const isNew = sql`coalesce((SELECT f.published FROM learning_factors f WHERE f.level = 'price' AND value ->> 'level' = 'price'
		AND f.campaign_id = CAST(value ->> 'campaignId' AS BIGINT) AND f.publisher_id = '' AND f.name = ${LISTED_KEYWORDS}), value ->> 'published')`;
	return splitByBytes(rows).map((part) =>
		insertRows(
			learningFactors,
			part,
			sql`ON CONFLICT (level, campaign_id, publisher_id, name) DO UPDATE SET target = excluded.target, moving = excluded.moving`,
			{ published: isNew },
		),
	);
}

/** Whether a factor that never was published would be. */
function isFar(factor: number, { publishStep }: StepRules): boolean {
	return factor >= 1 + publishStep || factor <= 1 / (1 + publishStep);
}

/** What the night has learned of traffic; and what was learned before of what has no clicks any more goes. */
export function writeTraffic({ publishers, sources, links }: SharedFactors, day: number, rules: StepRules): SQL[] {
	const levels = [
		...[...publishers].map(([publisherId, evidence]) => ({ level: "publisher" as const, publisherId, name: "", evidence })),
		...[...sources].map(([key, evidence]) => {
			const at = key.indexOf("\u0000");
			return { level: "source" as const, publisherId: key.slice(0, at), name: key.slice(at + 1), evidence };
		}),
		...[...links].map(([name, evidence]) => ({ level: "link" as const, publisherId: "", name, evidence })),
	];
	const rows = levels.map(({ evidence, ...level }) => ({ ...level, day, evidence: JSON.stringify(evidence) }));
	const targets = levels
		.filter(({ evidence }) => isFar(evidence.factor, rules))
		.map(({ evidence, ...level }): Target => ({ ...level, campaignId: 0, target: evidence.factor }));
	return [
		...splitByBytes(rows).map((part) =>
			insertRows(
				learningTraffic,
				part,
				sql`ON CONFLICT (level, publisher_id, name) DO UPDATE SET day = excluded.day, evidence = excluded.evidence`,
			),
		),
		sql`DELETE FROM learning_traffic WHERE day < ${day}`,
		// What came back to nothing and was told of by no night since: publishers make up sources without end.
		sql`DELETE FROM learning_factors WHERE level <> 'price' AND moving = 0 AND target = '1'`,
		sql`UPDATE learning_factors SET target = '1', moving = 1 WHERE campaign_id = 0`,
		...aim(targets),
	];
}

/**
 * Campaigns of whose clicks nothing is left go back to the operator's numbers, once. Never NOT IN a query: for more ids than its memory
 * holds PostgreSQL would go through all of them for each row.
 */
export function forgetOthers(day: number): SQL[] {
	const isNone = (table: SQL, campaignId: SQL) => sql`NOT EXISTS (SELECT 1 FROM ${table} WHERE known.campaign_id = ${campaignId})`;
	const ofFactor = sql`learning_factors.campaign_id`;
	const hasLearned = sql`(SELECT campaign_id FROM learning_campaigns WHERE day = ${day} AND learned IS NOT NULL) known`;
	const hasToForget = sql`day < ${day} AND (learned IS NOT NULL OR steering IS NOT NULL)`;
	return [
		sql`UPDATE learning_factors SET target = '1', moving = 1 WHERE campaign_id <> 0 AND target <> '1' AND ${isNone(hasLearned, ofFactor)}`,
		sql`DELETE FROM learning_factors WHERE campaign_id <> 0 AND ${isNone(sql`campaigns known`, ofFactor)}`,
		sql`DELETE FROM learning_campaigns WHERE ${isNone(sql`campaigns known`, sql`learning_campaigns.campaign_id`)}`,
		markCampaignsOf(sql`SELECT campaign_id FROM learning_campaigns WHERE ${hasToForget}`),
		sql`UPDATE learning_campaigns SET learned = NULL, steering = NULL, day = ${day} WHERE ${hasToForget}`,
	];
}
