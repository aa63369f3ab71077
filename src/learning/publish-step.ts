import { DAY_MS } from "../lib/time.ts";
import type { LearningSettings } from "./settings.ts";

/** A factor as bids use it, and the ones before it that were in force within the last 24 hours, oldest first. */
export type Published = { factor: number; at: number; before: readonly { factor: number; until: number }[] };

/** A factor that nothing was ever published of. */
export const UNPUBLISHED: Published = { factor: 1, at: Number.NEGATIVE_INFINITY, before: [] };

export type StepRules = Pick<LearningSettings, "rise" | "fall" | "publishStep">;

/**
 * The next factor to publish, or null where it stays. It never leaves what all factors of the last 24 hours allow, and moves only by a
 * whole step or more. What is held back today is free tomorrow, so neither rule blocks the other.
 */
export function nextPublished(published: Published, target: number, now: number, rules: StepRules): Published | null {
	const wanted = target / published.factor;
	if (wanted < 1 + rules.publishStep && wanted > 1 / (1 + rules.publishStep)) return null;
	const before = published.before.filter(({ until }) => until > now - DAY_MS);
	let [lowest, highest] = [published.factor, published.factor];
	for (const { factor } of before) {
		lowest = Math.min(lowest, factor);
		highest = Math.max(highest, factor);
	}
	const factor = Math.min(Math.max(target, highest * rules.fall), lowest * rules.rise);
	const moved = factor / published.factor;
	if (moved < 1 + rules.publishStep && moved > 1 / (1 + rules.publishStep)) return null;
	return { factor, at: now, before: [...before, { factor: published.factor, until: now }] };
}
