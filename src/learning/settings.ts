import { MICROS_PER_USD } from "../lib/money.ts";

/** Conversions that the number a level starts from counts as: the more, the slower evidence moves it. */
export type Kappa = { campaign: number; keyword: number; campaignPublisher: number; publisher: number; source: number; link: number };

/** What steers learning: the defaults are the ones that `npm run bench -- --only learning` measures. */
export type LearningSettings = {
	kappa: Kappa;
	/** Evidence counts half after this many days. */
	halfLifeDays: number;
	/** Bounds of the campaign's own factor. */
	lowestFactor: number;
	highestFactor: number;
	/** A price rises to at most this multiple, and falls to at least this part, of any that was published in the last 24 hours. */
	rise: number;
	fall: number;
	/** A price is published once it has moved by this part. */
	publishStep: number;
	/** What a campaign may be paid for clicks beyond what they are projected to earn, before it is bid down. Micro-dollars. */
	allowanceMicros: number;
	/** How much less is bid for clicks that are paid as such while little was seen, see `caution`; 0: no less. */
	caution: number;
	/** By how much a campaign without clicks is raised a day, as a part; 0: not at all. */
	creep: number;
};

export const DEFAULT_SETTINGS: LearningSettings = {
	kappa: { campaign: 3, keyword: 8, campaignPublisher: 10, publisher: 8, source: 8, link: 20 },
	halfLifeDays: 30,
	lowestFactor: 0.1,
	highestFactor: 5,
	rise: 1.25,
	fall: 0.6,
	publishStep: 0.06,
	allowanceMicros: 15 * MICROS_PER_USD,
	caution: 0.5,
	creep: 0,
};

/** Clicks of more days ago teach nothing, and their rows are dropped. */
export const HISTORY_DAYS = 120;
