/** Keeps what is learned of campaigns whose traffic is fitted: at night of all, by the hour of those that something broke of. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { CampaignTerms } from "../learning/cell.ts";
import { nextCreep } from "../learning/creep.ts";
import type { FactorEvidence } from "../learning/factor.ts";
import { firstGuards } from "../learning/guards.ts";
import { closeCampaign, type LearnedCampaign, layCampaign, type NightRules } from "../learning/night-steps.ts";
import type { Published } from "../learning/publish-step.ts";
import type { LearningSettings } from "../learning/settings.ts";
import {
	isRenumbered,
	type LearnedBefore,
	numberOf,
	priceFactor,
	priceTargets,
	type Renumbered,
	readPublished,
	renumberPrices,
	type Steering,
	storeLearning,
} from "../learning/stored.ts";
import type { SharedFactors, Traffic } from "../learning/traffic.ts";
import { ownOf } from "../lib/json.ts";
import { keepChanges, type PriceChange } from "./publish-factors.ts";
import type { KnownHistory } from "./read-histories.ts";
import { runStatements } from "./run-statements.ts";
import { type ClosedCampaign, writeCampaigns } from "./write-learned.ts";

export type ClosingNight = {
	day: number;
	/** Unix milliseconds. */
	at: number;
	/** The network's. */
	settings: LearningSettings;
	rules: NightRules;
	shared: SharedFactors;
};

export async function closeHistories(
	db: Database,
	{ day, at, settings, rules, shared }: ClosingNight,
	histories: readonly KnownHistory[],
	traffic: Traffic,
): Promise<void> {
	const steered = await readSteering(
		db,
		histories.map(({ terms }) => Number(terms.id)),
	);
	const published = await readPrices(
		db,
		histories.flatMap(({ terms, mode }) => {
			const before = steered.get(Number(terms.id))?.learned ?? null;
			// Prices that are only advised are not in force anywhere.
			return mode === "automatic" && before !== null && isRenumbered(before, terms) ? [Number(terms.id)] : [];
		}),
	);
	const closed = histories.map((history): ClosedCampaign => {
		const learned = closeCampaign(layCampaign(history, rules, traffic), rules, shared);
		const campaignId = Number(history.terms.id);
		const known = steered.get(campaignId);
		const prices = priceTargets(learned);
		const inForce = published.get(campaignId);
		return {
			campaignId,
			learned: storeLearning(learned, history.terms, rules.loading),
			lastBreak: learned.lastBreak,
			steering: steer(history.settings, learned, known, day),
			prices,
			renumbered:
				inForce === undefined || known?.learned == null
					? NONE_RENUMBERED
					: renumberPrices(inForce, prices, history.terms, known.learned, history.settings),
		};
	});
	const terms = new Map(histories.map((history) => [Number(history.terms.id), history.terms]));
	const changes = closed.flatMap((campaign) => changesOf(campaign, terms.get(campaign.campaignId), steered.get(campaign.campaignId)));
	// Before what the hour publishes, be it of the same time.
	await runStatements(db, [...writeCampaigns(closed, day, settings), ...keepChanges(changes, at - 1)]);
}

/** Prices that have changed with the operator's numbers: at once, and told of once they are learned against. */
function changesOf(
	{ campaignId, prices, renumbered, learned }: ClosedCampaign,
	terms: CampaignTerms | undefined,
	known: Known | undefined,
) {
	return [...renumbered].flatMap(([keyword, { before, published }]): PriceChange[] => {
		if (terms === undefined) return [];
		const operatorMicros = numberOf(terms, keyword);
		if ((ownOf(known?.learned?.numbers ?? {}, keyword) ?? operatorMicros) === operatorMicros && before.factor === published.factor)
			return [];
		const target = priceFactor(prices, keyword);
		const cause = { why: "number", before: before.factor, factor: published.factor, target, evidence: learned.campaign } as const;
		return [{ campaignId, keyword, operatorMicros, epcMicros: Math.round(operatorMicros * published.factor), cause }];
	});
}

/** Guards that hold already, as those of a campaign that nothing was known of, stay until the hour puts others there: the book has them. */
function steer(
	settings: LearningSettings,
	{ weekExpected, factors, balance }: LearnedCampaign,
	known: Known | undefined,
	day: number,
): Steering {
	const { observed } = factors.campaign;
	const before = known?.steering ?? null;
	// A night that is gone through again has let it creep already.
	const creep = known?.day === day ? (before?.creep ?? 1) : nextCreep(before?.creep ?? 1, weekExpected, settings.creep);
	const inForce = before ?? { ...firstGuards(settings), bidCreep: 1 };
	return { caution: inForce.caution, overpaid: inForce.overpaid, bidCreep: inForce.bidCreep, creep, observed, balance };
}

type Known = { day: number; steering: Steering | null; learned: LearnedBefore | null };

const NONE_RENUMBERED: ReadonlyMap<string, Renumbered> = new Map();

async function readSteering(db: Database, ids: readonly number[]): Promise<Map<number, Known>> {
	type Row = { campaignId: number; day: number; steering: string | null; campaign: string | null; numbers: string | null };
	const rows = await db.all<Row>(sql`SELECT campaign_id AS "campaignId", day, steering, learned ->> 'campaign' AS campaign,
			learned ->> 'numbers' AS numbers
		FROM learning_campaigns WHERE campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(ids)}))`);
	return new Map(
		rows.map(({ campaignId, day, steering, campaign, numbers }) => [
			campaignId,
			{
				day,
				steering: steering === null ? null : (JSON.parse(steering) as Steering),
				learned:
					campaign === null || numbers === null
						? null
						: { campaign: JSON.parse(campaign) as FactorEvidence, numbers: JSON.parse(numbers) as LearnedBefore["numbers"] },
			},
		]),
	);
}

/** What is in force of campaigns' prices, by campaign and class of keywords. */
async function readPrices(db: Database, ids: readonly number[]): Promise<Map<number, Map<string, Published>>> {
	const prices = new Map(ids.map((id) => [id, new Map<string, Published>()]));
	if (ids.length === 0) return prices;
	const rows = await db.all<{ campaignId: number; name: string; published: string }>(sql`SELECT campaign_id AS "campaignId", name, published
		FROM learning_factors
		WHERE level = 'price' AND campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${JSON.stringify(ids)}))`);
	for (const { campaignId, name, published } of rows) prices.get(campaignId)?.set(name, readPublished(published));
	return prices;
}
