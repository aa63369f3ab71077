/** How the prices of an explained request were made: for operators alone. */
import { sql } from "drizzle-orm";
import type { AskedFor } from "../../bidding/explain.ts";
import type { ExplainedPriceAnswer } from "../../bidding/explain-answer.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import type { Break } from "../../learning/breaks.ts";
import { type CampaignTerms, type Cell, keywordClass, OTHER_SOURCES } from "../../learning/cell.ts";
import { creepInForce } from "../../learning/creep.ts";
import { type ExplainedPrice, explainPrice } from "../../learning/explain.ts";
import type { FactorEvidence } from "../../learning/factor.ts";
import { caution } from "../../learning/guards.ts";
import type { Learned } from "../../learning/night.ts";
import {
	bidMode,
	type CampaignLearning,
	campaignPolicy,
	type NetworkLearning,
	type PublisherLearning,
	readLearning,
} from "../../learning/policy.ts";
import { toldFactor } from "../../learning/price.ts";
import { RELEASED_CAMPAIGN, RELEASED_NETWORK, RELEASED_PUBLISHER, releaseOf, releaseOfCampaign } from "../../learning/released.ts";
import { sourceClass } from "../../learning/sources.ts";
import { factorAgainst, priceInForce, readPriceInForce, readPublished, type Steering, type StoredLearning } from "../../learning/stored.ts";
import { pairKey, type SharedFactors } from "../../learning/traffic.ts";
import { readNetworkLearning } from "../../learning-night/policies.ts";
import type { ChangeCause } from "../../learning-night/publish-factors.ts";
import type { LinkType, PricingModel, TrafficLevel } from "../../lib/enums.ts";
import { hashSource } from "../../lib/hash.ts";
import { ownOf } from "../../lib/json.ts";
import { logError } from "../../lib/log.ts";
import { formatUsd, roundTo, SHARE_SCALE } from "../../lib/money.ts";
import { laterRelease } from "../../lib/release.ts";
import { isoTime } from "../../lib/time.ts";
import { PRICED_CAMPAIGN, type PricedCampaign, termsOf } from "./read-learned.ts";
import { showDay, showKeyword, showMicros } from "./show-learned.ts";

/** Prices that are explained of a request. */
const MAX_EXPLAINED = 20;

/** Digits by which a chain comes to its price to the micro-dollar. */
const EXACT_DIGITS = 9;

type PublisherRow = { id: string; pricingModel: PricingModel; sharePpm: number; epcLearning: string | null };
type CampaignRow = PricedCampaign & { day: number | null; learned: string | null; lastBreak: string | null; steering: string | null };
type FactorRow = { level: string; campaignId: number; publisherId: string; name: string; published: string; target: string };
type TrafficRow = { level: TrafficLevel; name: string; day: number; evidence: string };
type ChangeRow = { campaignId: number; keyword: string; at: number; operatorMicros: number; epcMicros: number; cause: string };

/**
 * Undefined where no price is learned, and where the database does not answer: a decision can be explained without it.
 * @param now Unix milliseconds
 */
export async function explainPrices(db: Database, asked: AskedFor, now: number): Promise<ExplainedPriceAnswer[] | undefined> {
	if (asked.priced.length === 0) return undefined;
	try {
		return await explainPricesOf(db, asked, now);
	} catch (error) {
		logError("explain.prices_unknown", error);
		return undefined;
	}
}

async function explainPricesOf(db: Database, asked: AskedFor, now: number): Promise<ExplainedPriceAnswer[] | undefined> {
	const priced = asked.priced.slice(0, MAX_EXPLAINED);
	const network = await readNetworkLearning(db);
	const [publisher] = await db.all<PublisherRow>(sql`SELECT p.id, p.pricing_model AS "pricingModel",
			p.revenue_share_ppm AS "sharePpm", p.epc_learning AS "epcLearning"
		FROM publisher_names n JOIN publishers p ON p.id = n.publisher_id
		WHERE n.kind = ${asked.publisher.kind} AND n.value = ${asked.publisher.value}`);
	if (publisher === undefined) return undefined;
	const known = await readKnown(db, publisher.id, asked.sourceId, [...new Set(priced.map(({ campaignId }) => campaignId))], now);
	const prices = priced.flatMap((each) => {
		const row = known.campaigns.get(each.campaignId);
		return row === undefined ? [] : [explainOne(network, publisher, known, row, each)];
	});
	return prices.every(({ mode }) => mode === "off") ? undefined : prices;
}

type Known = {
	/** Its class, and the name that it is shown by. */
	source: string;
	sourceName: string;
	campaigns: ReadonlyMap<number, CampaignRow>;
	factors: readonly FactorRow[];
	shared: SharedFactors;
	/** Of the night that has learned of it; null where none has. */
	sharedDay: number | null;
	changes: readonly ChangeRow[];
	/** By name, see src/learning/released.ts. */
	releases: ReadonlyMap<string, number>;
	now: number;
};

async function readKnown(
	db: Database,
	publisherId: string,
	sourceId: string | null,
	campaignIds: readonly number[],
	now: number,
): Promise<Known> {
	const names = [RELEASED_NETWORK, RELEASED_PUBLISHER + publisherId, ...campaignIds.map((id) => RELEASED_CAMPAIGN + id)];
	const ids = sql`(SELECT CAST(atom AS BIGINT) FROM json_each(${JSON.stringify(campaignIds)}))`;
	const followed = await db.all<{ source: string; lastDay: number }>(
		sql`SELECT source, last_day AS "lastDay" FROM learning_sources WHERE publisher_id = ${publisherId} AND from_day IS NOT NULL`,
	);
	const source = sourceClass(new Map(followed.map((row) => [row.source, row.lastDay])), hashSource(sourceId));
	const [campaigns, factors, traffic, changes, releases] = await runTransaction(db, [
		sql`SELECT ${PRICED_CAMPAIGN}, l.day, l.learned, l.last_break AS "lastBreak", l.steering
			FROM campaigns c JOIN brands b ON b.id = c.brand_id LEFT JOIN learning_campaigns l ON l.campaign_id = c.campaign_id
			WHERE c.campaign_id IN ${ids}`,
		sql`SELECT level, campaign_id AS "campaignId", publisher_id AS "publisherId", name, published, target FROM learning_factors
			WHERE (level = 'price' AND campaign_id IN ${ids})
				OR (level = 'campaign_publisher' AND campaign_id IN ${ids} AND publisher_id = ${publisherId})
				OR (level = 'publisher' AND campaign_id = 0 AND publisher_id = ${publisherId})
				OR (level = 'source' AND campaign_id = 0 AND publisher_id = ${publisherId} AND name = ${source})
				OR (level = 'link' AND campaign_id = 0)`,
		sql`SELECT level, name, day, evidence FROM learning_traffic
			WHERE (level = 'publisher' AND publisher_id = ${publisherId})
				OR (level = 'source' AND publisher_id = ${publisherId} AND name = ${source}) OR (level = 'link' AND publisher_id = '')`,
		sql`SELECT g.campaign_id AS "campaignId", g.keyword, g.at, g.operator_micros AS "operatorMicros", g.epc_micros AS "epcMicros", g.cause
			FROM learning_changes g JOIN (
				SELECT campaign_id, keyword, MAX(at) AS at FROM learning_changes WHERE campaign_id IN ${ids} GROUP BY campaign_id, keyword) newest
			ON newest.campaign_id = g.campaign_id AND newest.keyword = g.keyword AND newest.at = g.at`,
		sql`SELECT name, value FROM learning_work WHERE name IN (SELECT atom FROM json_each(${JSON.stringify(names)}))`,
	]);
	return {
		source,
		sourceName: source === OTHER_SOURCES ? source : (sourceId ?? ""),
		campaigns: new Map(((campaigns?.results ?? []) as CampaignRow[]).map((row) => [row.campaignId, row])),
		factors: (factors?.results ?? []) as FactorRow[],
		shared: sharedOf((traffic?.results ?? []) as TrafficRow[], publisherId),
		sharedDay: ((traffic?.results ?? []) as TrafficRow[])[0]?.day ?? null,
		changes: (changes?.results ?? []) as ChangeRow[],
		releases: new Map(((releases?.results ?? []) as { name: string; value: string }[]).map(({ name, value }) => [name, Number(value)])),
		now,
	};
}

function sharedOf(rows: readonly TrafficRow[], publisherId: string): SharedFactors {
	const of = <Key>(level: TrafficRow["level"], keyOf: (name: string) => Key) =>
		new Map(rows.filter((row) => row.level === level).map(({ name, evidence }) => [keyOf(name), JSON.parse(evidence) as FactorEvidence]));
	return {
		publishers: of("publisher", () => publisherId),
		sources: of("source", (name) => pairKey(publisherId, name)),
		links: of("link", (name) => name as LinkType),
	};
}

function explainOne(
	network: NetworkLearning | null,
	publisher: PublisherRow,
	known: Known,
	row: CampaignRow,
	{ link, keyword }: AskedFor["priced"][number],
): ExplainedPriceAnswer {
	const { source, sourceName, factors, changes, releases, now } = known;
	const own = readLearning<CampaignLearning>(row.epcLearning);
	const { settings } = campaignPolicy(network, own);
	const releasedAt = (name: string) => releases.get(name) ?? null;
	const release = laterRelease(
		releaseOfCampaign(
			network,
			releaseOf(network, releasedAt(RELEASED_NETWORK), now),
			own,
			releasedAt(RELEASED_CAMPAIGN + row.campaignId),
			now,
		),
		releaseOf(network, releasedAt(RELEASED_PUBLISHER + publisher.id), now),
	);
	const mode = bidMode(network, own, readLearning<PublisherLearning>(publisher.epcLearning));
	const steering = row.steering === null ? null : (JSON.parse(row.steering) as Steering);
	const terms = termsOf(row);
	const cell: Cell = { campaign: terms.id, publisher: publisher.id, source, keyword: keywordClass(terms, keyword), link };
	const factorOf = (level: string, campaignId: number, name = "") => {
		const found = factors.find(
			(factor) => factor.level === level && factor.campaignId === campaignId && (name === "" || factor.name === name),
		);
		return found === undefined ? 1 : toldFactor(readPublished(found.published).factor);
	};
	const ofPrices = new Map(
		factors
			.filter(({ level, campaignId }) => level === "price" && campaignId === row.campaignId)
			.map(({ name, ...price }) => [name, readPriceInForce(price)]),
	);
	const learned = row.learned === null ? null : (JSON.parse(row.learned) as StoredLearning);
	// As the book has a campaign of which nothing is known.
	const guards = steering ?? { caution: caution(settings.caution, settings.kappa.campaign, 0), overpaid: 1 };
	const target = (learned?.campaign.factor ?? 1) * (ownOf(learned?.keywords ?? {}, cell.keyword)?.factor ?? 1);
	const explained = explainPrice(
		terms,
		cell,
		{
			factors: {
				campaignKeyword: priceInForce(ofPrices, cell.keyword, terms, learned, settings),
				publisher: factorOf("publisher", 0),
				source: factorOf("source", 0),
				campaignPublisher: factorOf("campaign_publisher", row.campaignId),
				link: factorOf("link", 0, link),
			},
			mode,
			sharePpm: publisher.sharePpm,
			guards: publisher.pricingModel === "CPC" ? guards : null,
			creep: creepInForce(steering, settings.creep),
			release: release === null ? null : { release, now },
		},
		learnedOf(terms, row, known),
		learned === null ? 1 : factorAgainst(target, terms, learned, cell.keyword, settings) / target,
	);
	const change = changes.find((each) => each.campaignId === row.campaignId && each.keyword === cell.keyword);
	return {
		...show(row.campaignId, { ...cell, source: sourceName }, mode, explained, settings, change),
		released_at: release === null || mode !== "automatic" ? null : isoTime(release.since),
	};
}

/** What is stored of a campaign, and of the traffic that is asked about, as a night has it. Of a campaign without clicks the traffic tells. */
function learnedOf(terms: CampaignTerms, row: CampaignRow, { shared, sharedDay }: Pick<Known, "shared" | "sharedDay">): Learned | null {
	if (row.learned === null || row.day === null) {
		return sharedDay === null ? null : { today: sharedDay, loading: 0, shared, campaigns: new Map() };
	}
	const stored = JSON.parse(row.learned) as StoredLearning;
	const { campaign, keywords, publishers, payouts, balance, weekExpected, weekGainMicros = 0, loading } = stored;
	const factors = { campaign, keywords: new Map(Object.entries(keywords)), publishers: new Map(Object.entries(publishers)) };
	const lastBreak = row.lastBreak === null ? null : (JSON.parse(row.lastBreak) as Break);
	return {
		today: row.day,
		loading,
		shared,
		campaigns: new Map([[terms.id, { factors, payouts, balance, weekExpected, weekGainMicros, lastBreak }]]),
	};
}

function show(
	campaignId: number,
	cell: Cell,
	mode: ExplainedPriceAnswer["mode"],
	price: ExplainedPrice,
	{ lowestFactor, highestFactor }: { lowestFactor: number; highestFactor: number },
	change: ChangeRow | undefined,
): Omit<ExplainedPriceAnswer, "released_at"> {
	return {
		campaign_id: campaignId,
		link: cell.link,
		keyword: showKeyword(cell.keyword),
		source: cell.source,
		mode,
		operator_epc: formatUsd(price.operatorMicros),
		factors: price.factors.map((factor) => ({
			level: factor.level,
			in_force: roundTo(factor.inForce, EXACT_DIGITS),
			learned: roundTo(factor.factor, EXACT_DIGITS),
			clicks: roundTo(factor.clicks, 1),
			expected: showMicros(factor.expectedMicros),
			earned: showMicros(factor.earnedMicros),
			expected_conversions: roundTo(factor.expected, 2),
			earned_conversions: roundTo(factor.observed, 2),
			weight: roundTo(factor.weight, 4),
			maturity: roundTo(factor.maturity, 4),
		})),
		lowest_factor: lowestFactor,
		highest_factor: highestFactor,
		payout_cap: price.payoutCapMicros === null ? null : formatUsd(price.payoutCapMicros),
		payout_weight: price.payoutWeightMicros === null ? null : formatUsd(price.payoutWeightMicros),
		loading: roundTo(price.loading, 4),
		renumbered: roundTo(price.renumbered, EXACT_DIGITS),
		reversal_level: roundTo(price.reversalLevel, 4),
		advised_epc: formatUsd(price.advisedEpcMicros),
		epc: formatUsd(price.epcMicros),
		caution: roundTo(price.caution, EXACT_DIGITS),
		overpaid: roundTo(price.overpaid, EXACT_DIGITS),
		creep: roundTo(price.creep, EXACT_DIGITS),
		revenue_share: price.sharePpm / SHARE_SCALE,
		price: formatUsd(price.bidMicros),
		learned_until: price.learnedUntil === null ? null : showDay(price.learnedUntil),
		last_break: price.lastBreak === null ? null : { day: showDay(price.lastBreak.day), z: roundTo(price.lastBreak.z, 2) },
		last_change:
			change === undefined
				? null
				: {
						at: isoTime(change.at),
						operator_epc: formatUsd(change.operatorMicros),
						epc: formatUsd(change.epcMicros),
						why: (JSON.parse(change.cause) as ChangeCause).why,
					},
	};
}
