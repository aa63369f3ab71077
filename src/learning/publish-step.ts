import type { FactorLevel } from "../lib/enums.ts";
import { DAY_MS } from "../lib/time.ts";
import type { LearningSettings } from "./settings.ts";

/** A factor as bids use it, and the ones before it that were in force within the last 24 hours, oldest first. */
export type Published = {
	factor: number;
	at: number;
	before: readonly { factor: number; until: number }[];
	/** Where a day's limit has held it back on its way. */
	isUnderWay?: true;
};

/** A factor that nothing was ever published of. */
export const UNPUBLISHED: Published = { factor: 1, at: Number.NEGATIVE_INFINITY, before: [] };

export type StepRules = Pick<LearningSettings, "rise" | "fall" | "publishStep">;

/**
 * Of a day's movement of a price, the part that each of its factors may make, as exponents. Each column adds up to 1: a price moves by no
 * more than a day's limit, whichever of its factors move. Upwards it is the movement that holds a wrong number of the operator's back, so a
 * campaign has most of it; downwards it is the evidence, and bad traffic needs its part.
 */
const MOVEMENT_SHARES: Readonly<Record<FactorLevel, { rise: number; fall: number }>> = {
	price: { rise: 0.7, fall: 0.4 },
	campaign_publisher: { rise: 0.08, fall: 0.15 },
	publisher: { rise: 0.07, fall: 0.15 },
	source: { rise: 0.1, fall: 0.2 },
	link: { rise: 0.05, fall: 0.1 },
};

/** What steps of one level go by. */
export type LevelRules = StepRules & {
	/** Whether a factor that has set out goes to the end, be the last step as small as it may. Prices do not: each rewrites the book. */
	finishes: boolean;
};

/** What a factor of a level may move by a day, given what a price may. */
export function levelRules({ rise, fall, publishStep }: StepRules, level: FactorLevel): LevelRules {
	const shares = MOVEMENT_SHARES[level];
	return { rise: rise ** shares.rise, fall: fall ** shares.fall, publishStep, finishes: level !== "price" };
}

/** Digits that a day's limit is taken to be reached within. */
const TOLERANCE = 1e-9;

/**
 * The next factor to publish, or null where it stays. It never leaves what all factors of the last 24 hours allow, sets out only for what
 * is a whole step away, and moves by a step or more; by a day's limit, where that is less. What is held back today is free tomorrow, so
 * neither rule blocks the other. Where the operator has narrowed the limits it may lie beyond them: it stays there, and goes nowhere else.
 */
export function nextPublished(published: Published, target: number, now: number, rules: LevelRules): Published | null {
	if (isArrived(published, target, rules)) return null;
	const before = published.before.filter(({ until }) => until > now - DAY_MS);
	let [lowest, highest] = [published.factor, published.factor];
	for (const { factor } of before) {
		lowest = Math.min(lowest, factor);
		highest = Math.max(highest, factor);
	}
	const allowed = Math.min(Math.max(target, highest * rules.fall), lowest * rules.rise);
	const factor = Math.min(Math.max(allowed, Math.min(published.factor, target)), Math.max(published.factor, target));
	const moved = factor / published.factor;
	const least = Math.min(1 + rules.publishStep, rules.rise) * (1 - TOLERANCE);
	const leastFall = Math.max(1 / (1 + rules.publishStep), rules.fall) * (1 + TOLERANCE);
	const isUnderWay = factor !== target;
	if (moved < least && moved > leastFall && (isUnderWay || !isFinishing(published, rules))) return null;
	return { factor, at: now, before: [...before, { factor: published.factor, until: now }], ...(isUnderWay && { isUnderWay }) };
}

/**
 * What is in force of a price whose number of the operator's has changed, once it is learned against the new one: the price stays, and so
 * does what a day's limits are reckoned from. Of a price that was never published the operator's number was bid: it sets out from where it
 * is going, as far as that lies between the number before and the new one.
 * @param against the factor in force, as it is against the new number
 */
export function renumberPublished(published: Published, against: number, target: number): Published {
	const { factor, at, before } = published;
	if (factor === UNPUBLISHED.factor && at === UNPUBLISHED.at) {
		return { ...published, factor: Math.min(Math.max(target, Math.min(factor, against)), Math.max(factor, against)) };
	}
	const by = against / factor;
	return { ...published, factor: against, before: before.map(({ until, ...was }) => ({ factor: was.factor * by, until })) };
}

/** Whether a factor is as near to where it goes as it comes. */
export function isArrived(published: Published, target: number, rules: LevelRules): boolean {
	const left = target / published.factor;
	if (isFinishing(published, rules)) return left === 1;
	return left < 1 + rules.publishStep && left > 1 / (1 + rules.publishStep);
}

function isFinishing({ isUnderWay }: Published, { finishes }: LevelRules): boolean {
	return isUnderWay === true && finishes;
}
