import type { FactorEvidence } from "./factor.ts";
import type { CampaignFactors, PlacedCampaign } from "./fit-campaign.ts";
import { BREAK_WINDOWS } from "./ripen.ts";

/** Fewer expected conversions tell nothing. */
const LEAST_EXPECTED = 6;
const FALL_Z = -2.6;
const RISE_Z = 4;
/** Of the window that shows a break, the newest part is kept: the oldest may lie before it. */
const KEPT_PART = 5 / 7;
/** Days that a break is left to show in what follows before another is looked for. */
const REST_DAYS = 14;

/** That a campaign's worth has changed at once. */
export type Break = {
	day: number;
	forgottenBefore: number;
	/** Standard deviations between what came and what was expected; both in equivalent conversions. */
	z: number;
	expected: number;
	observed: number;
};

/**
 * Whether the newest days' clicks earned what the days before them had taught; of several windows, what the clearest one says. The newest
 * days do not judge themselves: they are compared with a factor of the older ones alone.
 * @param factors of the last fit
 */
export function findBreak(placed: PlacedCampaign, { campaign }: CampaignFactors, today: number, last: Break | null): Break | null {
	if (last !== null && today - last.day < REST_DAYS) return null;
	let found: Break | null = null;
	for (const [at, days] of BREAK_WINDOWS.entries()) {
		const { z, expected, observed } = judgeWindow(placed, campaign, at);
		if (expected < LEAST_EXPECTED || (z >= FALL_Z && z <= RISE_Z) || Math.abs(z) <= Math.abs(found?.z ?? 0)) continue;
		found = { day: today, forgottenBefore: today - Math.floor(days * KEPT_PART), z, expected, observed };
	}
	return found;
}

function judgeWindow(
	{ rules, cells }: PlacedCampaign,
	campaign: FactorEvidence,
	window: number,
): Pick<Break, "z" | "expected" | "observed"> {
	const { phiMicros, loading, settings } = rules;
	let expected = 0;
	let observed = 0;
	for (const { ripe, operatorMicros, keyword, publisher, traffic } of cells) {
		expected += ((ripe.recentRipe[window] ?? 0) * operatorMicros * keyword.factor * publisher.factor * traffic.factor) / phiMicros;
		observed += ((ripe.recentEarnedMicros[window] ?? 0) * (1 + loading)) / phiMicros;
	}
	// The factor's own sums hold the newest days too, at nearly full weight: taken out, the rest is what was known before.
	const kappa = settings.kappa.campaign;
	const older = Math.max(0, campaign.expected - expected);
	const olderObserved = kappa + Math.max(0, campaign.observed - observed);
	// Where little was known before, the operator's number was wrong, and nothing broke.
	if (older < LEAST_EXPECTED) return { z: 0, expected, observed };
	expected *= olderObserved / (kappa + older);
	return { z: (observed - expected) / Math.sqrt(expected + expected ** 2 / olderObserved), expected, observed };
}
