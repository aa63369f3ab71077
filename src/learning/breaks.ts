import type { FactorEvidence } from "./factor.ts";
import { besideCampaign, type CampaignFactors, isPriced, type PlacedCampaign } from "./fit-campaign.ts";
import { BREAK_WINDOWS } from "./ripen.ts";
import { HISTORY_DAYS } from "./settings.ts";

/** Fewer expected conversions tell nothing. */
const LEAST_EXPECTED = 6;
const FALL_Z = -2.6;
const RISE_Z = 4;
/** Of the window that shows a break, the newest part is kept: the oldest may lie before it. */
const KEPT_PART = 5 / 7;
/** Conversions that what was seen before a break counts as beside what follows it, at the most. */
const OLDER_WORTH = 8;
/** Days that a break is left to show in what follows before another is looked for. */
const REST_DAYS = 14;

type Older = { before: number; part: number };

/** That a campaign's worth has changed at once. */
export type Break = {
	day: number;
	/** Clicks of days before this one weigh less. */
	forgottenBefore: number;
	/** By how much, as parts that multiply, after this break and those before it; absent, as earlier versions have it: to nothing. */
	older?: readonly Older[];
	/** Standard deviations between what came and what was expected; both in equivalent conversions. */
	z: number;
	expected: number;
	observed: number;
};

/**
 * Whether the newest days' clicks earned what the days before them had taught; of several windows, what the clearest one says. The newest
 * days do not judge themselves: they are compared with a factor of the older ones alone, and with none from before the last break.
 * @param factors of the last fit
 */
export function findBreak(placed: PlacedCampaign, { campaign }: CampaignFactors, today: number, last: Break | null): Break | null {
	if (last !== null && today - last.day < REST_DAYS) return null;
	const before = olderOf(last).filter((each) => each.before > today - HISTORY_DAYS);
	let found: Break | null = null;
	for (const [at, days] of BREAK_WINDOWS.entries()) {
		if (last !== null && today - days < last.forgottenBefore) continue;
		const { z, expected, observed, older } = judgeWindow(placed, campaign, at);
		if (expected < LEAST_EXPECTED || (z >= FALL_Z && z <= RISE_Z) || Math.abs(z) <= Math.abs(found?.z ?? 0)) continue;
		const forgottenBefore = today - Math.floor(days * KEPT_PART);
		const part = Math.min(1, OLDER_WORTH / older);
		found = { day: today, forgottenBefore, older: [...before, { before: forgottenBefore, part }], z, expected, observed };
	}
	return found;
}

function olderOf(last: Break | null): readonly Older[] {
	return last === null ? [] : (last.older ?? [{ before: last.forgottenBefore, part: 0 }]);
}

/** What clicks weigh by their age, given the last break. @param weights where nothing broke, see `forgetting` */
export function weighOlder(weights: readonly number[], last: Break | null, today: number): readonly number[] {
	const older = olderOf(last);
	if (older.length === 0) return weights;
	return weights.map((weight, age) =>
		older.reduce((product, { before, part }) => (today - 1 - age < before ? product * part : product), weight),
	);
}

function judgeWindow(
	placed: PlacedCampaign,
	campaign: FactorEvidence,
	window: number,
): Pick<Break, "z" | "expected" | "observed"> & { older: number } {
	const { rules, ripe, operatorMicros } = placed;
	const { phiMicros, loading, settings } = rules;
	const [recentRipe, recentEarnedMicros] = [ripe.recentRipe[window], ripe.recentEarnedMicros[window]];
	let expected = 0;
	let observed = 0;
	for (let at = 0; at < operatorMicros.length; at++) {
		if (!isPriced(operatorMicros[at] ?? 0)) continue;
		expected += besideCampaign(placed, (recentRipe?.[at] ?? 0) * (operatorMicros[at] ?? 0), at) / phiMicros;
		observed += ((recentEarnedMicros?.[at] ?? 0) * (1 + loading)) / phiMicros;
	}
	// The factor's own sums hold the newest days too, at nearly full weight: taken out, the rest is what was known before.
	const kappa = settings.kappa.campaign;
	const older = Math.max(0, campaign.expected - expected);
	const olderObserved = kappa + Math.max(0, campaign.observed - observed);
	// Where little was known before, the operator's number was wrong, and nothing broke.
	if (older < LEAST_EXPECTED) return { z: 0, expected, observed, older };
	expected *= olderObserved / (kappa + older);
	return { z: (observed - expected) / Math.sqrt(expected + expected ** 2 / olderObserved), expected, observed, older };
}
