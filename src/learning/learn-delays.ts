import { type Curve, type DelayCurves, fillDays, LAG_EDGES, LAST_LAG, partBy, projectArrivals } from "./delay-curve.ts";
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
/** Where far more is taken back of the clicks of so many newest days than older ones tell, all of them are of another level. */
const RISE_WINDOWS = [7, 10, 14, 18, 23, 30, 37, 45, 60] as const;
const RISE_Z = 3;

/** What is known of others, to set out from: arrivals; what was usually taken back, times how much, by age; since how many days it is more. */
export type KnownDelays = { arrivals: Curve; usual: Curve; levels: readonly number[]; risenDays: number };

/** Conversions that what is set out from counts as; and the part beyond which what is taken back is not learned from, but looked into. */
export type DelayRules = { arrivalsWorth: number; reversalsWorth: number; mostReversed: number };

/**
 * Delay curves, from conversions by day of click and lag. Arrivals by the reverse-time hazard: of what has arrived by an age, the part that
 * came in the last step to it, asked only of days that are old enough to show it. Reversals over projected arrivals.
 * @param today the day that is beginning: the ones before it are known whole
 * @param prior what is set out from
 */
export function learnDelays(days: Days, today: number, prior: KnownDelays, rules: DelayRules): { curves: DelayCurves; known: KnownDelays } {
	const arrivals = learnArrivals(days, today, prior.arrivals, rules.arrivalsWorth);
	const { risenDays } = prior;
	const usual = learnReversals(days, { before: today - risenDays, today }, prior.usual, arrivals, rules);
	const levels = learnLevels(seeReversals(days, today, arrivals, usual), prior.levels, risenDays);
	const atLevel = (age: number, level: number) => Math.min(rules.mostReversed, partBy(usual, age) * level);
	const curves = {
		arrivals,
		reversals: usual.map((_, age) => atLevel(age, levels[0] ?? 1)),
		reversedByNow: levels.map((level, age) => atLevel(age, level)),
	};
	return { curves, known: { arrivals, usual, levels, risenDays } };
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

/**
 * By single days, however few they are: a return period makes many of one day, and it is sums that count.
 * @param before of clicks of days before this one
 */
function learnReversals(
	days: Days,
	{ before, today }: { before: number; today: number },
	prior: Curve,
	arrived: Curve,
	{ reversalsWorth, mostReversed }: DelayRules,
): Curve {
	const taken = prior.map((part, lag) => reversalsWorth * (part - (prior[lag - 1] ?? 0)));
	const exposed = prior.map(() => reversalsWorth);
	for (const [day, { arrivals, reversals }] of days) {
		if (day >= before) continue;
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

/** Reversals of clicks by their age: those that were to come by now, and those that have. */
type SeenReversals = { expected: number[]; observed: number[] };

function seeReversals(days: Days, today: number, arrived: Curve, usual: Curve): SeenReversals {
	const expected: number[] = Array(HISTORY_DAYS).fill(0);
	const observed: number[] = Array(HISTORY_DAYS).fill(0);
	for (const [day, { arrivals, reversals }] of days) {
		const age = today - 1 - day;
		if (age < 0 || age >= HISTORY_DAYS) continue;
		expected[age] = projectedOf(arrivals, arrived, age) * partBy(usual, age);
		observed[age] = sumOf(reversals);
	}
	return { expected, observed };
}

/** A publisher's conversions, and the parts of its arrivals and reversals that count in its platform's curves. */
export type Counted = { days: Days; came: number; taken: number };

/**
 * Of how many of the newest days' clicks far more is taken back: of several windows, the clearest; 0 where it is not. They do not judge
 * themselves, but are held against what the clicks before them tell. And it is to show without the publisher that shows it most, or one
 * that makes sales up would be taken for its platform.
 * @param pooled all publishers' together @param publishers singly
 */
export function findRise(pooled: Days, publishers: readonly Counted[], today: number, prior: DelayCurves, rules: DelayRules): number {
	const arrived = learnArrivals(pooled, today, prior.arrivals, rules.arrivalsWorth);
	let risenDays = 0;
	let clearest = RISE_Z;
	for (const newest of RISE_WINDOWS) {
		const usual = learnReversals(pooled, { before: today - newest, today }, prior.reversals, arrived, rules);
		const { expected, observed } = seeReversals(pooled, today, arrived, usual);
		const known = rules.reversalsWorth * (usual.at(-1) ?? 0) + sumOf(observed.slice(newest));
		const all = { awaited: sumOf(expected.slice(0, newest)), seen: sumOf(observed.slice(0, newest)) };
		if (!(zOf(all, known) > clearest)) continue;
		const z = zOf(
			withoutMost(all, publishers, (days) => newestOf(days, newest, today, arrived, usual)),
			known,
		);
		if (!(z > clearest)) continue;
		clearest = z;
		risenDays = newest;
	}
	return risenDays;
}

/** Reversals that were to come by now, and those that have. */
type Reversed = { awaited: number; seen: number };

function zOf({ awaited, seen }: Reversed, known: number): number {
	return (seen - awaited) / Math.sqrt(1 + awaited + awaited ** 2 / known);
}

function withoutMost(all: Reversed, publishers: readonly Counted[], ofNewest: (days: Days) => Reversed): Reversed {
	let most: Reversed = { awaited: 0, seen: 0 };
	for (const { days, came, taken } of publishers) {
		const { awaited, seen } = ofNewest(days);
		const own = { awaited: came * awaited, seen: taken * seen };
		if (own.seen - own.awaited > most.seen - most.awaited) most = own;
	}
	return { awaited: Math.max(0, all.awaited - most.awaited), seen: Math.max(0, all.seen - most.seen) };
}

function newestOf(days: Days, newest: number, today: number, arrived: Curve, usual: Curve): Reversed {
	const sum: Reversed = { awaited: 0, seen: 0 };
	for (let age = 0; age < newest; age++) {
		const counts = days.get(today - 1 - age);
		if (counts === undefined) continue;
		sum.awaited += projectedOf(counts.arrivals, arrived, age) * partBy(usual, age);
		sum.seen += sumOf(counts.reversals);
	}
	return sum;
}

/** How much more or less than usual is taken back of clicks, by their age: as the clicks of the days around them tell. */
function learnLevels({ expected, observed }: SeenReversals, prior: readonly number[], risen: number): number[] {
	const level = levelOf(sumOf(observed.slice(0, risen)), sumOf(expected.slice(0, risen)), prior[0] ?? 1);
	return expected.map((_, at) => {
		if (at < risen) return level;
		let [seen, awaited] = [0, 0];
		for (let age = risen; age < HISTORY_DAYS; age++) {
			const weight = LEVEL_WEIGHTS[Math.abs(age - at)] ?? 0;
			seen += weight * (observed[age] ?? 0);
			awaited += weight * (expected[age] ?? 0);
		}
		return levelOf(seen, awaited, prior[at] ?? 1);
	});
}

function levelOf(seen: number, awaited: number, prior: number): number {
	return Math.min(MAX_LEVEL, (LEVEL_WORTH_REVERSALS * prior + Math.max(0, seen)) / (LEVEL_WORTH_REVERSALS + awaited));
}

/** How many a day's arrivals will come to be. Never below none, as a day may stand whose conversions went to other clicks. */
function projectedOf(arrivals: readonly number[], arrived: Curve, age: number): number {
	return projectArrivals(Math.max(0, sumOf(arrivals)), arrived, age);
}

export function sumOf(counts: readonly number[]): number {
	return counts.reduce((sum, count) => sum + count, 0);
}
