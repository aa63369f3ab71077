import { type CampaignTerms, type Cell, keywordClass, operatorEpcMicros } from "./cell.ts";
import { type FactorEvidence, NO_EVIDENCE } from "./factor.ts";
import type { Learned } from "./night.ts";
import { type LearnedPrice, type PriceInput, priceCell } from "./price.ts";
import { NO_SHARED_FACTORS, pairKey, sharedStanding } from "./traffic.ts";

/** A factor of a price: what was learned, and what is in force until the next publishing. */
type ExplainedFactor = FactorEvidence & { level: ExplainedLevel; inForce: number };
export const EXPLAINED_LEVELS = ["campaign", "keyword", "publisher", "source", "campaign_publisher", "link"] as const;
type ExplainedLevel = (typeof EXPLAINED_LEVELS)[number];

export type ExplainedPrice = LearnedPrice & {
	operatorMicros: number;
	factors: ExplainedFactor[];
	/** What a payout counts up to, what a conversion weighs, both in micro-dollars; what pooled payouts add. */
	payoutCapMicros: number | null;
	payoutWeightMicros: number | null;
	loading: number;
	/** What the learned factors are multiplied by, where the operator's number is no more the one that they were learned against. */
	renumbered: number;
	/** How many times as much is taken back of its source's conversions as of its publisher's. */
	reversalLevel: number;
	/** In force: 1 where the operator's number is bid. */
	caution: number;
	overpaid: number;
	creep: number;
	sharePpm: number;
	/** The last time that the campaign's worth changed at once: its day, and how surely. */
	lastBreak: { day: number; z: number } | null;
	/** The day up to which was learned; null where nothing was. */
	learnedUntil: number | null;
};

/**
 * A price as the chain that it is.
 * @param price what `priceCell` is given for the cell
 * @param renumbered as it is told
 */
export function explainPrice(
	terms: CampaignTerms,
	cell: Cell,
	price: Omit<PriceInput, "operatorMicros">,
	learned: Learned | null,
	renumbered = 1,
): ExplainedPrice {
	const keyword = keywordClass(terms, cell.keyword);
	const operatorMicros = operatorEpcMicros(terms, keyword);
	const known = learned?.campaigns.get(terms.id);
	const { campaignKeyword, publisher, source, campaignPublisher, link } = price.factors;
	const own = known?.factors;
	const shared = learned?.shared;
	const inKeyword = own?.keywords.get(keyword) ?? NO_EVIDENCE;
	// Where the operator's number is bid, nothing that was learned is in force, and nothing is held back.
	const isBid = price.mode === "automatic";
	const inForce = (factor: number) => (isBid ? factor : 1);
	const factors: ExplainedFactor[] = [
		// Both are baked into one price: what is in force of it is told of the campaign's.
		{ ...(own?.campaign ?? NO_EVIDENCE), level: "campaign", inForce: inForce(campaignKeyword / inKeyword.factor) },
		{ ...inKeyword, level: "keyword", inForce: inForce(inKeyword.factor) },
		{ ...(shared?.publishers.get(cell.publisher) ?? NO_EVIDENCE), level: "publisher", inForce: inForce(publisher) },
		{ ...(shared?.sources.get(pairKey(cell.publisher, cell.source)) ?? NO_EVIDENCE), level: "source", inForce: inForce(source) },
		{ ...(own?.publishers.get(cell.publisher) ?? NO_EVIDENCE), level: "campaign_publisher", inForce: inForce(campaignPublisher) },
		{ ...(shared?.links.get(cell.link) ?? NO_EVIDENCE), level: "link", inForce: inForce(link) },
	];
	const made = priceCell({ ...price, operatorMicros });
	return {
		...made,
		// What is not bid is advised by all that was learned.
		...(!isBid && {
			advisedEpcMicros: Math.round(factors.reduce((micros, each) => micros * each.factor, operatorMicros * renumbered)),
		}),
		operatorMicros,
		factors,
		payoutCapMicros: known === undefined ? null : Math.round(known.payouts.capMicros),
		payoutWeightMicros: known === undefined ? null : Math.round(known.payouts.phiMicros),
		loading: learned?.loading ?? 0,
		renumbered,
		reversalLevel: sharedStanding(shared ?? NO_SHARED_FACTORS, cell).reversalLevel,
		caution: isBid ? (price.guards?.caution ?? 1) : 1,
		overpaid: isBid ? (price.guards?.overpaid ?? 1) : 1,
		creep: isBid ? price.creep : 1,
		sharePpm: price.sharePpm,
		lastBreak: known?.lastBreak == null ? null : { day: known.lastBreak.day, z: known.lastBreak.z },
		learnedUntil: learned?.today ?? null,
	};
}
