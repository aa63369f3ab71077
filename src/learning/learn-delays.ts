import { type Curve, type DelayCurves, fillDays, LAG_EDGES, LAST_LAG, partBy } from "./delay-curve.ts";
import { forgetting } from "./ripen.ts";
import { HISTORY_DAYS } from "./settings.ts";

/** Conversions of a day's clicks: arrivals by the steps of LAG_EDGES, reversals by single days. */
export type DayCounts = { arrivals: number[]; reversals: number[] };
/** By day of click. */
export type Days = Map<number, DayCounts>;

/** Steps of a platform's arrivals that tell what to expect of the next, conversions that the default's pace counts as in them, and bounds. */
const PACE_STEPS = 3;
const PACE_WORTH = 3;
const MAX_PACE = 8;
const MAX_HAZARD = 0.4;
/** What days of conversions weigh, by their age. */
export const ARRIVALS_WEIGHTS = forgetting(60);
const REVERSALS_WEIGHTS = forgetting(60);
/** How much is taken back may change at once, for clicks from some day on: their first weeks tell it, by the shape that is known. */
const LEVEL_WEIGHTS = forgetting(7);
const LEVEL_WORTH_REVERSALS = 3;
const MAX_LEVEL = 5;
/** Arrivals of days of which less is known are not projected further. */
const LEAST_KNOWN = 0.05;
/**
 * Delay curves, from conversions by day of click and lag. Arrivals by the reverse-time hazard: of what has arrived by an age, the part that
 * came in the last step to it, asked only of days that are old enough to show it. Reversals over projected arrivals.
 * @param today the day that is beginning: the ones before it are known whole
 * @param worth conversions that the prior curves count as
 * @param mostReversed what is taken back beyond this part is not learned from, but looked into
 */
export function learnDelays(
	days: Days,
	today: number,
	prior: DelayCurves,
	worth: { arrivals: number; reversals: number },
	mostReversed: number,
): DelayCurves {
	const arrivals = learnArrivals(days, today, prior.arrivals, worth.arrivals);
	const usual = learnReversals(days, today, prior.reversals, worth.reversals, arrivals, mostReversed);
	const levels = learnLevels(days, today, arrivals, usual);
	const atLevel = (age: number, level: number) => Math.min(mostReversed, partBy(usual, age) * level);
	return {
		arrivals,
		reversals: usual.map((_, age) => atLevel(age, levels[0] ?? 1)),
		reversedByNow: levels.map((level, age) => atLevel(age, level)),
	};
}

function learnArrivals(days: Days, today: number, prior: Curve, priorWorth: number): Curve {
	const came = LAG_EDGES.map(() => 0);
	const byThen = LAG_EDGES.map(() => 0);
	for (const [day, { arrivals }] of days) {
		const weight = ARRIVALS_WEIGHTS[today - day] ?? 0;
		let sum = 0;
		for (const [at, edge] of LAG_EDGES.entries()) {
			if (day + edge >= today) break;
			sum += arrivals[at] ?? 0;
			came[at] = (came[at] ?? 0) + weight * (arrivals[at] ?? 0);
			byThen[at] = (byThen[at] ?? 0) + weight * sum;
		}
	}
	const hazards = learnHazards(came, byThen, prior, priorWorth);
	const curve = LAG_EDGES.map(() => 1);
	for (let at = LAG_EDGES.length - 1; at > 0; at--) curve[at - 1] = (curve[at] ?? 1) * (1 - (hazards[at] ?? 0));
	return fillDays(curve);
}

/**
 * Of what has come by each edge, the part that came in the step to it. What is expected of a step before it was seen follows the steps
 * before: a platform that is slow so far will be slow in what its history is too short to show.
 */
function learnHazards(came: readonly number[], byThen: readonly number[], prior: Curve, priorWorth: number): number[] {
	const usual = LAG_EDGES.map((edge, at) => 1 - partBy(prior, LAG_EDGES[at - 1] ?? edge) / partBy(prior, edge));
	return LAG_EDGES.map((edge, at) => {
		let [seen, expected] = [PACE_WORTH, PACE_WORTH];
		for (let before = Math.max(1, at - PACE_STEPS); before < at; before++) {
			seen += Math.max(0, came[before] ?? 0);
			expected += (usual[before] ?? 0) * Math.max(0, byThen[before] ?? 0);
		}
		const pace = Math.min(MAX_PACE, seen / expected);
		const worth = priorWorth * partBy(prior, edge);
		const guessed = Math.min(MAX_HAZARD, (usual[at] ?? 0) * pace);
		const hazard = (worth * guessed + Math.max(0, came[at] ?? 0)) / (worth + Math.max(0, byThen[at] ?? 0));
		return Math.min(1, Math.max(0, hazard));
	});
}

/** By single days, however few they are: a return period makes many of one day, and it is sums that count. */
function learnReversals(days: Days, today: number, prior: Curve, priorWorth: number, arrived: Curve, mostReversed: number): Curve {
	const taken = prior.map((part, lag) => priorWorth * (part - (prior[lag - 1] ?? 0)));
	const exposed = prior.map(() => priorWorth);
	for (const [day, { arrivals, reversals }] of days) {
		const age = Math.min(LAST_LAG, today - 1 - day);
		const projected = projectedOf(arrivals, arrived, age);
		// A reversal tells of the time that it came in, so the newest of any age count alike.
		for (let lag = 0; lag <= age; lag++) {
			const weight = REVERSALS_WEIGHTS[today - 1 - day - lag] ?? 0;
			taken[lag] = (taken[lag] ?? 0) + weight * (reversals[lag] ?? 0);
			exposed[lag] = (exposed[lag] ?? 0) + weight * projected;
		}
	}
	let sum = 0;
	return taken.map((count, lag) => {
		sum = Math.min(mostReversed, sum + Math.max(0, count) / (exposed[lag] ?? 1));
		return sum;
	});
}

/** How much more or less than usual is taken back of clicks, by their age: as the clicks of the days around them tell. */
function learnLevels(days: Days, today: number, arrived: Curve, usual: Curve): number[] {
	const expected: number[] = Array(HISTORY_DAYS).fill(0);
	const observed: number[] = Array(HISTORY_DAYS).fill(0);
	for (const [day, { arrivals, reversals }] of days) {
		const age = today - 1 - day;
		if (age < 0 || age >= HISTORY_DAYS) continue;
		expected[age] = projectedOf(arrivals, arrived, age) * partBy(usual, age);
		observed[age] = sumOf(reversals);
	}
	return expected.map((_, at) => {
		let [seen, awaited] = [LEVEL_WORTH_REVERSALS, LEVEL_WORTH_REVERSALS];
		for (let age = 0; age < HISTORY_DAYS; age++) {
			const weight = LEVEL_WEIGHTS[Math.abs(age - at)] ?? 0;
			seen += weight * (observed[age] ?? 0);
			awaited += weight * (expected[age] ?? 0);
		}
		return Math.min(MAX_LEVEL, Math.max(0, seen) / awaited);
	});
}

/** How many a day's arrivals will come to be. Never below none, as a day may stand whose conversions went to other clicks. */
function projectedOf(arrivals: readonly number[], arrived: Curve, age: number): number {
	return Math.max(0, sumOf(arrivals)) / Math.max(partBy(arrived, age), LEAST_KNOWN);
}

export function sumOf(counts: readonly number[]): number {
	return counts.reduce((sum, count) => sum + count, 0);
}
