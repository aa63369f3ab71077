import type { FactorEvidence } from "./factor.ts";
import { besideCampaign, type CampaignFactors, isPriced, type PlacedCampaign } from "./fit-campaign.ts";
import { BREAK_WINDOWS } from "./ripen.ts";
import { HISTORY_DAYS } from "./settings.ts";

/** Fewer expected conversions tell nothing. */
export const LEAST_EXPECTED = 6;
const FALL_Z = -2.6;
const RISE_Z = 4;
/** What is left of these bounds for all publishers but the one that shows a break most: beside a large one the others are few. */
const LEAST_OF_OTHERS = 0.6;
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
 * days do not judge themselves: they are compared with a factor of the older ones alone, and with none from before the last break. It has
 * to show without the publisher that shows it most, where the others tell anything: clicks that never buy cost nothing to send.
 * @param factors of the last fit
 */
export function findBreak(placed: PlacedCampaign, { campaign }: CampaignFactors, today: number, last: Break | null): Break | null {
	if (last !== null && today - last.day < REST_DAYS) return null;
	const before = olderOf(last).filter((each) => each.before > today - HISTORY_DAYS);
	let found: Break | null = null;
	for (const [at, days] of BREAK_WINDOWS.entries()) {
		if (last !== null && today - days < last.forgottenBefore) continue;
		const { z, expected, observed, older, isOfOne } = judgeWindow(placed, campaign, at);
		if (expected < LEAST_EXPECTED || (z >= FALL_Z && z <= RISE_Z) || Math.abs(z) <= Math.abs(found?.z ?? 0) || isOfOne) continue;
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
): Pick<Break, "z" | "expected" | "observed"> & { older: number; isOfOne: boolean } {
	const { rules, ripe, operatorMicros } = placed;
	const { phiMicros, loading, settings } = rules;
	const [recentRipe, recentEarnedMicros] = [ripe.recentRipe[window], ripe.recentEarnedMicros[window]];
	let expected = 0;
	let observed = 0;
	const publishers = new Map<string, Seen>();
	for (let at = 0; at < operatorMicros.length; at++) {
		if (!isPriced(operatorMicros[at] ?? 0)) continue;
		const due = besideCampaign(placed, (recentRipe?.[at] ?? 0) * (operatorMicros[at] ?? 0), at) / phiMicros;
		const came = ((recentEarnedMicros?.[at] ?? 0) * (1 + loading)) / phiMicros;
		expected += due;
		observed += came;
		const publisher = ripe.histories[at]?.cell.publisher ?? "";
		let own = publishers.get(publisher);
		if (own === undefined) {
			own = { expected: 0, observed: 0 };
			publishers.set(publisher, own);
		}
		own.expected += due;
		own.observed += came;
	}
	// The factor's own sums hold the newest days too, at nearly full weight: taken out, the rest is what was known before.
	const kappa = settings.kappa.campaign;
	const older = Math.max(0, campaign.expected - expected);
	const olderObserved = kappa + Math.max(0, campaign.observed - observed);
	// Where little was known before, the operator's number was wrong, and nothing broke.
	if (older < LEAST_EXPECTED) return { z: 0, expected, observed, older, isOfOne: false };
	const known = olderObserved / (kappa + older);
	for (const own of publishers.values()) own.expected *= known;
	const all = { expected: expected * known, observed };
	const z = deviation(all, olderObserved);
	return { ...all, z, older, isOfOne: isOfOne(all, publishers.values(), z, olderObserved) };
}

type Seen = { expected: number; observed: number };

/** How far what came lies from what was expected. @param known the conversions that the expectation rests on */
function deviation({ expected, observed }: Seen, known: number): number {
	return (observed - expected) / Math.sqrt(expected + expected ** 2 / known);
}

/** Whether a deviation is not there without the publisher that has most of it, where the others tell anything. */
function isOfOne(all: Seen, publishers: Iterable<Seen>, z: number, known: number): boolean {
	const direction = Math.sign(z);
	let one: Seen = { expected: 0, observed: 0 };
	for (const own of publishers) {
		if ((own.observed - own.expected) * direction > (one.observed - one.expected) * direction) one = own;
	}
	const others = { expected: all.expected - one.expected, observed: all.observed - one.observed };
	if (others.expected < LEAST_EXPECTED) return false;
	const bound = (z < 0 ? -FALL_Z : RISE_Z) * Math.max(LEAST_OF_OTHERS, Math.sqrt(others.expected / all.expected));
	return deviation(others, known) * direction < bound;
}
