/** What is stored of what was learned: JSON in the columns of `learning_campaigns` and `learning_factors`. */
import { type CampaignTerms, NO_KEYWORD, OTHER_KEYWORDS, operatorEpcMicros } from "./cell.ts";
import type { FactorEvidence } from "./factor.ts";
import type { Guards } from "./guards.ts";
import type { LearnedCampaign } from "./night-steps.ts";
import { type Published, renumberPublished, UNPUBLISHED } from "./publish-step.ts";
import type { LearningSettings } from "./settings.ts";

/** Stands, among factors of a campaign's prices, for the keywords that it lists and of which no click tells. */
export const LISTED_KEYWORDS = "*listed";

/** `learning_campaigns.learned`. */
export type StoredLearning = Pick<LearnedCampaign, "payouts" | "balance" | "weekExpected"> & {
	/** Absent where a night of an earlier version has learned. */
	weekGainMicros?: number;
	campaign: FactorEvidence;
	/** By class of keywords, and by publisher: those with the most clicks. */
	keywords: Record<string, FactorEvidence>;
	publishers: Record<string, FactorEvidence>;
	loading: number;
	/** The operator's numbers that it was learned against, by class of keywords. Micro-dollars. */
	numbers: Record<string, number>;
};

/** `learning_campaigns.steering`: what bids are held back by, and what decides it. */
export type Steering = Guards & {
	/** See `nextCreep`; `bidCreep` is in force. */
	creep: number;
	bidCreep: number;
	/** Of what the night has learned. */
	observed: number;
	balance: { paidMicros: number; projectedMicros: number };
};

/** This many keywords, and publishers, are kept of a campaign with what made their factors: a row takes 2 MB. */
const MAX_KEPT = 2_000;

export function storeLearning(
	{ factors, payouts, balance, weekExpected, weekGainMicros }: LearnedCampaign,
	terms: CampaignTerms,
	loading: number,
): StoredLearning {
	const { campaign } = factors;
	const keywords = most(factors.keywords);
	const classes = [NO_KEYWORD, OTHER_KEYWORDS, LISTED_KEYWORDS, ...Object.keys(keywords)];
	const numbers = Object.fromEntries(classes.map((keyword) => [keyword, numberOf(terms, keyword)]));
	return { campaign, keywords, publishers: most(factors.publishers), payouts, balance, weekExpected, weekGainMicros, loading, numbers };
}

/** The operator's number for a class of keywords; of those that stand together, the one that stands for all. */
export function numberOf(terms: CampaignTerms, keyword: string): number {
	return keyword === LISTED_KEYWORDS ? operatorEpcMicros(terms, NO_KEYWORD) : operatorEpcMicros(terms, keyword);
}

/**
 * A factor that was learned against another number of the operator's, as it would be against the present one: expected earnings are in
 * proportion to it. Without it whoever accepts an advised price would get it multiplied by what it was made of. It stays within the
 * campaign's bounds, as the next night has it: who sets a number low ends what is bid.
 */
export function factorAgainst(
	factor: number,
	terms: CampaignTerms,
	learned: LearnedBefore,
	keyword: string,
	{ kappa, lowestFactor, highestFactor }: Pick<LearningSettings, "kappa" | "lowestFactor" | "highestFactor">,
): number {
	// Listed keywords of which no click tells go by the number of all of them.
	const known = Object.hasOwn(learned.numbers, keyword) ? keyword : LISTED_KEYWORDS;
	const number = numberOf(terms, known);
	const before = learned.numbers[known] ?? number;
	if (before === number || before <= 0 || number <= 0) return factor;
	const { expected } = learned.campaign;
	const against = (factor * (kappa.campaign + expected)) / (kappa.campaign + (expected * number) / before);
	return Math.min(Math.max(against, Math.min(factor, lowestFactor)), Math.max(factor, highestFactor));
}

function most(levels: ReadonlyMap<string, FactorEvidence>): Record<string, FactorEvidence> {
	const sorted = [...levels].sort(([, a], [, b]) => b.clicks - a.clicks);
	return Object.fromEntries(sorted.slice(0, MAX_KEPT));
}

/** What the factors of a campaign's prices are going to, by class of keywords. */
export function priceTargets({ factors: { campaign, keywords } }: Pick<LearnedCampaign, "factors">): Map<string, number> {
	const targets = new Map([NO_KEYWORD, OTHER_KEYWORDS, LISTED_KEYWORDS].map((keyword) => [keyword, campaign.factor]));
	for (const [keyword, { factor }] of keywords) targets.set(keyword, campaign.factor * factor);
	return targets;
}

/** The factor of a price among those of its campaign. @param keyword a class of keywords */
export function priceFactor(factors: ReadonlyMap<string, number>, keyword: string): number {
	return ofPrice(factors, keyword) ?? 1;
}

function ofPrice<Kept>(kept: ReadonlyMap<string, Kept>, keyword: string): Kept | undefined {
	const isListed = keyword !== NO_KEYWORD && keyword !== OTHER_KEYWORDS;
	return kept.get(keyword) ?? (isListed ? kept.get(LISTED_KEYWORDS) : undefined);
}

/** A price's factor: what is in force, and where it is going. */
export type PriceInForce = { published: Published; target: number };

/** A row of `learning_factors`. */
export function readPriceInForce({ published, target }: { published: string; target: string }): PriceInForce {
	return { published: readPublished(published), target: JSON.parse(target) as number };
}

/**
 * The factor of a price among those of its campaign, against the operator's present numbers: as the next night will have it, so that
 * numbers that were bid while they were only advised are bid on.
 * @param keyword a class of keywords @param learned null where nothing was
 */
export function priceInForce(
	prices: ReadonlyMap<string, PriceInForce>,
	keyword: string,
	terms: CampaignTerms,
	learned: LearnedBefore | null,
	settings: LearningSettings,
): number {
	const { published, target } = ofPrice(prices, keyword) ?? { published: UNPUBLISHED, target: UNPUBLISHED.factor };
	if (learned === null) return published.factor;
	const against = (factor: number) => factorAgainst(factor, terms, learned, keyword, settings);
	return renumberPublished(published, against(published.factor), against(target)).factor;
}

/** What a night goes by where a number of the operator's has changed since the one before. */
export type LearnedBefore = Pick<StoredLearning, "campaign" | "numbers">;

/** Whether any of a campaign's numbers is no more the one that it was learned against. */
export function isRenumbered({ numbers }: LearnedBefore, terms: CampaignTerms): boolean {
	return Object.entries(numbers).some(([keyword, micros]) => numberOf(terms, keyword) !== micros);
}

/** Of a price whose number has changed: as it was, and as it is against the new one. */
export type Renumbered = { before: Published; published: Published };

/**
 * What is in force of a campaign's prices once they are learned against the operator's new numbers, by class of keywords: of all of them,
 * since those without a factor of their own go by that of others.
 * @param published by class of keywords, as far as there is any
 * @param targets   of `priceTargets`
 */
export function renumberPrices(
	published: ReadonlyMap<string, Published>,
	targets: ReadonlyMap<string, number>,
	terms: CampaignTerms,
	before: LearnedBefore,
	settings: LearningSettings,
): Map<string, Renumbered> {
	const classes = new Set([...targets.keys(), ...published.keys(), ...Object.keys(before.numbers)]);
	return new Map(
		[...classes].map((keyword) => {
			const was = ofPrice(published, keyword) ?? UNPUBLISHED;
			const against = factorAgainst(was.factor, terms, before, keyword, settings);
			return [keyword, { before: was, published: renumberPublished(was, against, priceFactor(targets, keyword)) }];
		}),
	);
}

/** `learning_factors.published`, where JSON has no infinity. */
export function writePublished({ at, ...published }: Published): string {
	return JSON.stringify({ ...published, at: Number.isFinite(at) ? at : null });
}

export function readPublished(json: string): Published {
	const { at, ...published } = JSON.parse(json) as Omit<Published, "at"> & { at: number | null };
	return { ...published, at: at ?? UNPUBLISHED.at };
}
