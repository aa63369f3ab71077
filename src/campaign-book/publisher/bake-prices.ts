/** What prices are learned to be, laid over the operator's numbers of campaigns that the book is made of. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { type CampaignTerms, NO_KEYWORD, OTHER_KEYWORDS } from "../../learning/cell.ts";
import { creepInForce } from "../../learning/creep.ts";
import { firstGuards } from "../../learning/guards.ts";
import {
	type CampaignLearning,
	campaignPolicy,
	type NetworkLearning,
	type PublisherLearning,
	readLearning as parseLearning,
} from "../../learning/policy.ts";
import { RELEASED_CAMPAIGN, RELEASED_NETWORK, RELEASED_PUBLISHER, releaseOf, releaseOfCampaign } from "../../learning/released.ts";
import { type PriceInForce, priceInForce, readPriceInForce, type Steering, type StoredLearning } from "../../learning/stored.ts";
import { HELD_SCALE, MAX_EPC_MICROS } from "../../lib/money.ts";
import type { Release } from "../../lib/release.ts";
import type { CampaignInput } from "../build.ts";

/** What the network, and its publishers together, say of learned prices. */
export type Learning = {
	network: NetworkLearning | null;
	/** Whether some publisher is bid the operator's numbers, or nearly these: then they stand in the book, too. */
	hasRestrained: boolean;
	/** Since when publishers, by their id, and the network's campaigns are no longer bid by the operator's numbers; see `Release`. */
	released: { publishers: ReadonlyMap<string, Release>; network: Release | null };
	/** Whether any campaign bids what was learned. */
	setsPrices: boolean;
	/** When that was, Unix milliseconds. */
	at: number;
};

/** Reads it. @param now Unix milliseconds */
export async function readLearning(db: Database, now: number): Promise<Learning> {
	const [row] = await db.all<{ epcLearning: string | null; restrained: number; automatic: number }>(sql`SELECT
		(SELECT epc_learning FROM network_settings) AS "epcLearning",
		(SELECT count(*) FROM publishers WHERE epc_learning ->> 'mode' IN ('off', 'advise')) AS restrained,
		(SELECT count(*) FROM (SELECT 1 AS found FROM campaigns WHERE epc_learning IS NOT NULL AND epc_learning ->> 'mode' = 'automatic' LIMIT 1) f) AS automatic`);
	const network = parseLearning<NetworkLearning>(row?.epcLearning ?? null);
	const setsPrices = network?.mode === "automatic" || (row?.automatic ?? 0) > 0;
	const released = await readReleases(db, network, setsPrices, now);
	const hasRestrained = setsPrices && ((row?.restrained ?? 0) > 0 || released.publishers.size > 0);
	return { network, hasRestrained, released, setsPrices, at: now };
}

/** Those that hold something back still. */
async function readReleases(
	db: Database,
	network: NetworkLearning | null,
	setsPrices: boolean,
	now: number,
): Promise<Learning["released"]> {
	const rows = !setsPrices
		? []
		: await db.all<{ name: string; value: string }>(sql`SELECT name, value FROM learning_work
			WHERE name = ${RELEASED_NETWORK} OR name LIKE ${`${RELEASED_PUBLISHER}%`}`);
	const publishers = new Map<string, Release>();
	let ofNetwork: Release | null = null;
	for (const { name, value } of rows) {
		const release = releaseOf(network, Number(value), now);
		if (release === null) continue;
		if (name === RELEASED_NETWORK) ofNetwork = release;
		else publishers.set(name.slice(RELEASED_PUBLISHER.length), release);
	}
	return { publishers, network: ofNetwork };
}

/** Whether a publisher is bid the operator's numbers, whatever was learned. */
export function isRestrained(epcLearning: string | null): boolean {
	const mode = parseLearning<PublisherLearning>(epcLearning)?.mode ?? "automatic";
	return mode !== "automatic";
}

/** Statements that it takes where a campaign of the ones that are read learns. */
export const STATEMENTS_TO_BAKE = 2;

type Priced = Pick<CampaignInput, "campaignId" | "epcMicros" | "defaultKeywordEpcMicros" | "keywordEpcMicros">;
type Row = Priced & { epcLearning: string | null; platform: string };

/** Lays learned prices over those campaigns that set their own by them; the others stay as they are. */
export async function bakePrices<Campaign extends Row>(
	db: Database,
	{ network, hasRestrained, released: { network: ofNetwork }, at }: Learning,
	campaigns: readonly Campaign[],
): Promise<Campaign[]> {
	const policies = new Map(
		campaigns.map(({ campaignId, epcLearning }) => [campaignId, campaignPolicy(network, parseLearning<CampaignLearning>(epcLearning))]),
	);
	const learning = campaigns.filter(({ campaignId }) => policies.get(campaignId)?.mode === "automatic");
	if (learning.length === 0) return [...campaigns];
	const { factors, known } = await readLearned(
		db,
		learning.map(({ campaignId }) => campaignId),
	);
	return campaigns.map((campaign) => {
		const policy = policies.get(campaign.campaignId);
		if (policy?.mode !== "automatic") return campaign;
		const { settings } = policy;
		const { steering = null, learned = null, releasedAt = null } = known.get(campaign.campaignId) ?? {};
		const prices = factors.get(campaign.campaignId) ?? new Map<string, PriceInForce>();
		const terms = termsOf(campaign);
		const factorOf = (keyword: string) => priceInForce(prices, keyword, terms, learned, settings);
		const guards = steering ?? firstGuards(settings);
		const creep = creepInForce(steering, settings.creep);
		const own = parseLearning<CampaignLearning>(campaign.epcLearning);
		const released = releaseOfCampaign(network, ofNetwork, own, releasedAt, at);
		return {
			...campaign,
			...priced(campaign, factorOf),
			...(released !== null && { released }),
			...((hasRestrained || released !== null) && {
				operatorPrices: {
					epcMicros: campaign.epcMicros,
					defaultKeywordEpcMicros: campaign.defaultKeywordEpcMicros,
					keywordEpcMicros: campaign.keywordEpcMicros,
				},
			}),
			heldBack: { byClick: part(guards.caution * guards.overpaid * creep), all: part(creep) },
		};
	});
}

function clip(micros: number): number {
	return Math.min(MAX_EPC_MICROS, Math.round(micros));
}

function part(value: number): number {
	return Math.round(value * HELD_SCALE);
}

function termsOf({ campaignId, platform, epcMicros, defaultKeywordEpcMicros, keywordEpcMicros }: Row): CampaignTerms {
	return {
		id: String(campaignId),
		platform,
		epcMicros,
		defaultKeywordEpcMicros,
		keywordEpcMicros: new Map(Object.entries(keywordEpcMicros)),
	};
}

function priced(
	{ epcMicros, defaultKeywordEpcMicros, keywordEpcMicros }: Row,
	factorOf: (keyword: string) => number,
): Omit<Priced, "campaignId"> {
	const times = (micros: number | null, keyword: string) => (micros === null ? null : clip(micros * factorOf(keyword)));
	const ofOthers = times(defaultKeywordEpcMicros ?? epcMicros, OTHER_KEYWORDS);
	const own = times(epcMicros, NO_KEYWORD);
	return {
		epcMicros: own,
		// Keywords without a number of their own may be worth more or less than clicks without any, though the operator has one for both.
		defaultKeywordEpcMicros: defaultKeywordEpcMicros === null && ofOthers === own ? null : ofOthers,
		keywordEpcMicros: Object.fromEntries(
			Object.entries(keywordEpcMicros).map(([keyword, micros]) => [keyword, clip(micros * factorOf(keyword))]),
		),
	};
}

type Known = { steering: Steering | null; learned: Pick<StoredLearning, "campaign" | "numbers"> | null; releasedAt: number | null };

async function readLearned(
	db: Database,
	ids: readonly number[],
): Promise<{ factors: Map<number, Map<string, PriceInForce>>; known: Map<number, Known> }> {
	const list = JSON.stringify(ids);
	const [factorRows, campaignRows] = await runTransaction(db, [
		sql`SELECT campaign_id AS "campaignId", name, published, target FROM learning_factors
			WHERE level = 'price' AND campaign_id IN (SELECT CAST(value AS BIGINT) FROM json_each(${list}))`,
		sql`SELECT CAST(i.value AS BIGINT) AS "campaignId", l.steering, l.learned ->> 'campaign' AS campaign, l.learned ->> 'numbers' AS numbers,
				w.value AS "releasedAt"
			FROM json_each(${list}) i LEFT JOIN learning_campaigns l ON l.campaign_id = CAST(i.value AS BIGINT)
			LEFT JOIN learning_work w ON w.name = ${RELEASED_CAMPAIGN} || CAST(CAST(i.value AS BIGINT) AS TEXT)
			WHERE l.campaign_id IS NOT NULL OR w.name IS NOT NULL`,
	]);
	type FactorRow = { campaignId: number; name: string; published: string; target: string };
	const factors = new Map<number, Map<string, PriceInForce>>();
	for (const { campaignId, name, ...row } of (factorRows?.results ?? []) as FactorRow[]) {
		const ofCampaign = factors.get(campaignId) ?? new Map<string, PriceInForce>();
		factors.set(campaignId, ofCampaign.set(name, readPriceInForce(row)));
	}
	type CampaignRow = {
		campaignId: number;
		steering: string | null;
		campaign: string | null;
		numbers: string | null;
		releasedAt: string | null;
	};
	const known = new Map<number, Known>();
	for (const { campaignId, steering, campaign, numbers, releasedAt } of (campaignRows?.results ?? []) as CampaignRow[]) {
		known.set(campaignId, {
			steering: steering === null ? null : (JSON.parse(steering) as Steering),
			releasedAt: releasedAt === null ? null : Number(releasedAt),
			learned:
				campaign === null || numbers === null
					? null
					: { campaign: JSON.parse(campaign) as StoredLearning["campaign"], numbers: JSON.parse(numbers) as StoredLearning["numbers"] },
		});
	}
	return { factors, known };
}
