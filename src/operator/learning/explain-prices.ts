/** How the prices of an explained request were made: for operators alone. */
import type { AskedFor } from "../../bidding/explain.ts";
import type { ExplainedPriceAnswer } from "../../bidding/explain-answer.ts";
import type { Database } from "../../db/client.ts";
import type { Break } from "../../learning/breaks.ts";
import { type CampaignTerms, type Cell, keywordClass } from "../../learning/cell.ts";
import { creepInForce } from "../../learning/creep.ts";
import { type ExplainedPrice, explainPrice } from "../../learning/explain.ts";
import { firstGuards } from "../../learning/guards.ts";
import type { Learned } from "../../learning/night.ts";
import {
	bidMode,
	type CampaignLearning,
	campaignPolicy,
	type NetworkLearning,
	type PublisherLearning,
	readLearning,
} from "../../learning/policy.ts";
import { type PriceInput, toldFactor } from "../../learning/price.ts";
import { RELEASED_CAMPAIGN, RELEASED_NETWORK, RELEASED_PUBLISHER, releaseOf, releaseOfCampaign } from "../../learning/released.ts";
import {
	factorAgainst,
	type PriceInForce,
	priceInForce,
	readPriceInForce,
	readPublished,
	type Steering,
	type StoredLearning,
} from "../../learning/stored.ts";
import { readNetworkLearning } from "../../learning-night/policies.ts";
import type { ChangeCause } from "../../learning-night/publish-factors.ts";
import { ownOf } from "../../lib/json.ts";
import { logError } from "../../lib/log.ts";
import { formatUsd, roundTo, SHARE_SCALE } from "../../lib/money.ts";
import { laterRelease, type Release } from "../../lib/release.ts";
import { isoTime } from "../../lib/time.ts";
import { type CampaignRow, type ChangeRow, type Known, type PublisherRow, readAsked, readKnown } from "./read-explained.ts";
import { termsOf } from "./read-learned.ts";
import { showDay, showKeyword, showMicros } from "./show-learned.ts";

/** Prices that are explained of a request. */
const MAX_EXPLAINED = 20;

/** Digits by which a chain comes to its price to the micro-dollar. */
const EXACT_DIGITS = 9;

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
	const publisher = await readAsked(db, asked.publisher);
	if (publisher === undefined) return undefined;
	const known = await readKnown(db, publisher.id, asked.sourceId, [...new Set(priced.map(({ campaignId }) => campaignId))], now);
	const prices = priced.flatMap((each) => {
		const row = known.campaigns.get(each.campaignId);
		return row === undefined ? [] : [explainOne(network, publisher, known, row, each)];
	});
	return prices.every(({ mode }) => mode === "off") ? undefined : prices;
}

function explainOne(
	network: NetworkLearning | null,
	publisher: PublisherRow,
	known: Known,
	row: CampaignRow,
	{ link, keyword }: AskedFor["priced"][number],
): ExplainedPriceAnswer {
	const own = readLearning<CampaignLearning>(row.epcLearning);
	const { settings } = campaignPolicy(network, own);
	const mode = bidMode(network, own, readLearning<PublisherLearning>(publisher.epcLearning));
	const release = releaseInForce(network, own, row.campaignId, publisher.id, known);
	const terms = termsOf(row);
	const cell: Cell = { campaign: terms.id, publisher: publisher.id, source: known.source, keyword: keywordClass(terms, keyword), link };
	const learned = row.learned === null ? null : (JSON.parse(row.learned) as StoredLearning);
	const steering = row.steering === null ? null : (JSON.parse(row.steering) as Steering);
	// As the book has a campaign of which nothing is known.
	const guards = steering ?? firstGuards(settings);
	const target = (learned?.campaign.factor ?? 1) * (ownOf(learned?.keywords ?? {}, cell.keyword)?.factor ?? 1);
	const explained = explainPrice(
		terms,
		cell,
		{
			factors: factorsInForce(known, cell, row.campaignId, (prices, of) => priceInForce(prices, of, terms, learned, settings)),
			mode,
			sharePpm: publisher.sharePpm,
			guards: publisher.pricingModel === "CPC" ? guards : null,
			creep: creepInForce(steering, settings.creep),
			release: release === null ? null : { release, now: known.now },
		},
		learnedOf(terms, row, known),
		learned === null ? 1 : factorAgainst(target, terms, learned, cell.keyword, settings) / target,
	);
	const change = known.changes.find((each) => each.campaignId === row.campaignId && each.keyword === cell.keyword);
	return {
		...show(row.campaignId, { ...cell, source: known.sourceName }, mode, explained, settings, change),
		released_at: release === null || mode !== "automatic" ? null : isoTime(release.since),
	};
}

/** The later of those of its network, or of the campaign itself, and of the publisher. */
function releaseInForce(
	network: NetworkLearning | null,
	own: CampaignLearning | null,
	campaignId: number,
	publisherId: string,
	{ releases, now }: Known,
): Release | null {
	const releasedAt = (name: string) => releases.get(name) ?? null;
	const ofNetwork = releaseOf(network, releasedAt(RELEASED_NETWORK), now);
	return laterRelease(
		releaseOfCampaign(network, ofNetwork, own, releasedAt(RELEASED_CAMPAIGN + campaignId), now),
		releaseOf(network, releasedAt(RELEASED_PUBLISHER + publisherId), now),
	);
}

/** As bids reckon with them. */
function factorsInForce(
	{ factors }: Known,
	{ keyword, link }: Cell,
	campaignId: number,
	keywordFactor: (prices: ReadonlyMap<string, PriceInForce>, keyword: string) => number,
): PriceInput["factors"] {
	const factorOf = (level: string, ofCampaign: number, name = "") => {
		const found = factors.find(
			(factor) => factor.level === level && factor.campaignId === ofCampaign && (name === "" || factor.name === name),
		);
		return found === undefined ? 1 : toldFactor(readPublished(found.published).factor);
	};
	const ofPrices = new Map(
		factors
			.filter((factor) => factor.level === "price" && factor.campaignId === campaignId)
			.map(({ name, ...price }) => [name, readPriceInForce(price)]),
	);
	return {
		campaignKeyword: keywordFactor(ofPrices, keyword),
		publisher: factorOf("publisher", 0),
		source: factorOf("source", 0),
		campaignPublisher: factorOf("campaign_publisher", campaignId),
		link: factorOf("link", 0, link),
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
