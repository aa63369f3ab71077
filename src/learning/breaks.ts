import { type CampaignTerms, operatorEpcMicros } from "./cell.ts";
import { type CampaignFactors, type FitRules, type SharedFactors, sharedFactor } from "./fit-campaign.ts";
import { BREAK_WINDOW_DAYS, type RipeCell } from "./ripen.ts";

/** Fewer expected conversions tell nothing. */
const LEAST_EXPECTED = 6;
const FALL_Z = -2.6;
const RISE_Z = 4;
/** What is older than this is forgotten at a break. */
const KEPT_DAYS = 10;

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
 * Whether the last 14 days' clicks earned what the days before them had taught. The newest do not judge themselves: they are compared
 * with a factor of the older days alone.
 */
export function findBreak(
	cells: readonly RipeCell[],
	factors: CampaignFactors,
	shared: SharedFactors,
	rules: FitRules,
	today: number,
	last: Break | null,
): Break | null {
	if (last !== null && today - last.day < BREAK_WINDOW_DAYS) return null;
	const { terms, phiMicros, loading, settings } = rules;
	let expected = 0;
	let observed = 0;
	for (const ripe of cells) {
		expected += (ripe.recentRipe * withoutCampaign(terms, factors, shared, ripe)) / phiMicros;
		observed += (ripe.recentEarnedMicros * (1 + loading)) / phiMicros;
	}
	const { campaign } = factors;
	// The factor's own sums hold the newest days too, at nearly full weight: taken out, the rest is what was known before.
	const olderExpected = Math.max(0, campaign.expected - expected);
	const olderObserved = Math.max(0, campaign.observed - observed);
	const kappa = settings.kappa.campaign;
	expected *= (kappa + olderObserved) / (kappa + olderExpected);
	if (expected < LEAST_EXPECTED) return null;
	const z = (observed - expected) / Math.sqrt(expected + expected ** 2 / (kappa + olderObserved));
	return z < FALL_Z || z > RISE_Z ? { day: today, forgottenBefore: today - KEPT_DAYS, z, expected, observed } : null;
}

function withoutCampaign(terms: CampaignTerms, factors: CampaignFactors, shared: SharedFactors, { cell }: RipeCell): number {
	return (
		operatorEpcMicros(terms, cell.keyword) *
		sharedFactor(shared, cell) *
		(factors.keywords.get(cell.keyword)?.factor ?? 1) *
		(factors.publishers.get(cell.publisher)?.factor ?? 1)
	);
}
