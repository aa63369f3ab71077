/** What is stored of learning, as answers have it. */
import type { Break } from "../../learning/breaks.ts";
import { NO_KEYWORD } from "../../learning/cell.ts";
import type { FactorEvidence } from "../../learning/factor.ts";
import { formatUsd, roundTo } from "../../lib/money.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Evidence, LearningState } from "./learning-answers.ts";

export function showEvidence(evidence: FactorEvidence): Evidence {
	return {
		factor: roundTo(evidence.factor, 4),
		clicks: roundTo(evidence.clicks, 1),
		expected: showMicros(evidence.expectedMicros),
		earned: showMicros(evidence.earnedMicros),
		expected_conversions: roundTo(evidence.expected, 2),
		earned_conversions: roundTo(evidence.observed, 2),
		weight: roundTo(evidence.weight, 4),
		maturity: roundTo(evidence.maturity, 4),
	};
}

export function showBreak(found: Break): Omit<LearningState["breaks"][number], "campaign_id"> {
	return {
		day: showDay(found.day),
		z: roundTo(found.z, 2),
		expected_conversions: roundTo(found.expected, 2),
		earned_conversions: roundTo(found.observed, 2),
		forgotten_before: showDay(found.forgottenBefore),
	};
}

export function showMicros(micros: number): string {
	return formatUsd(Math.round(micros));
}

/** @param day days since the epoch */
export function showDay(day: number): string {
	return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** A class of keywords: null for clicks without one. */
export function showKeyword(keyword: string): string | null {
	return keyword === NO_KEYWORD ? null : keyword;
}
