/**
 * Of how much more or less is taken back of a source's conversions than of its publisher's: so sales that one makes up, to be taken back
 * later, are neither earnings of its own, nor lost to the publisher's other sources.
 */
import type { CellHistory } from "./cohorts.ts";
import { type ClickCurves, projectArrivals } from "./delay-curve.ts";

/** Conversions of a source, weighted: of those that will come, how many should be taken back by now, and in the end; and how many are. */
export type ReversalSums = { came: number; awaited: number; usual: number; seen: number };

export function noReversals(): ReversalSums {
	return { came: 0, awaited: 0, usual: 0, seen: 0 };
}

/** Conversions that what is usual counts as. */
const USUAL_WORTH = 15;

/** How many times as much is taken back as the curves say: as usual without evidence. */
function levelOf({ came, awaited, usual, seen }: ReversalSums, usualLevel: number): number {
	const worth = came > 0 ? USUAL_WORTH * Math.min(1, usual / came) : 0;
	return worth > 0 ? (worth * usualLevel + Math.max(0, seen)) / (worth + Math.max(0, awaited)) : usualLevel;
}

/**
 * The levels of a publisher's sources. What is usual there is what most of them say: the more conversions a source has, the less it says of
 * the others.
 */
export function reversalLevels(sources: ReadonlyMap<string, ReversalSums>): Map<string, number> {
	const all = noReversals();
	for (const sums of sources.values()) addReversals(all, sums, USUAL_WORTH / (USUAL_WORTH + Math.max(0, sums.came)));
	const usualLevel = levelOf(all, 1);
	return new Map([...sources].map(([key, sums]) => [key, levelOf(sums, usualLevel)]));
}

export function addReversals(to: ReversalSums, { came, awaited, usual, seen }: ReversalSums, part = 1): void {
	to.came += part * came;
	to.awaited += part * awaited;
	to.usual += part * usual;
	to.seen += part * seen;
}

/** A cell's conversions. @param weights by age in days */
export function reversalsOf(
	{ earnings, takenBack }: CellHistory,
	curves: ClickCurves,
	today: number,
	weights: readonly number[],
): ReversalSums {
	const sums = noReversals();
	for (const { day, conversions } of earnings) addDay(sums, curves, today - 1 - day, conversions, weights);
	for (const { day, conversions } of takenBack) {
		addDay(sums, curves, today - 1 - day, conversions, weights);
		sums.seen += conversions * (weights[today - 1 - day] ?? 0);
	}
	return sums;
}

function addDay(sums: ReversalSums, curves: ClickCurves, age: number, conversions: number, weights: readonly number[]): void {
	const weight = weights[age] ?? 0;
	if (weight === 0) return;
	const came = projectArrivals(weight * conversions, curves.arrivals, age);
	sums.came += came;
	sums.awaited += came * (curves.reversedByNow[age] ?? curves.reversed);
	sums.usual += came * curves.reversed;
}
