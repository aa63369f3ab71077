import type { DelayRow } from "./cohorts.ts";
import { type Curve, DEFAULT_CURVES, type DelayCurves, edgeOf, LAG_EDGES } from "./delay-curve.ts";

/** Conversions that the default curves count as. */
const ARRIVALS_WORTH = 50;
const REVERSALS_WORTH = 20;
const ARRIVALS_HALF_LIFE_DAYS = 60;
const REVERSALS_HALF_LIFE_DAYS = 30;
/** A platform that takes more back than this is not learned from, but looked into. */
const MOST_REVERSED = 0.9;

type DayCounts = { arrivals: number[]; reversals: number[] };

/**
 * A platform's delay curves, from its conversions by day of click and lag. Arrivals by the reverse-time hazard: of what has arrived by an
 * age, the part that came in the last step to it, asked only of days that are old enough to show it. Reversals over projected arrivals.
 * @param today the day that is beginning: the ones before it are known whole
 */
export function learnCurves(rows: Iterable<DelayRow>, today: number, prior: DelayCurves = DEFAULT_CURVES): DelayCurves {
	const days = countByDay(rows);
	const arrivals = learnArrivals(days, today, prior.arrivals);
	return { arrivals, reversals: learnReversals(days, today, prior.reversals, arrivals) };
}

function countByDay(rows: Iterable<DelayRow>): Map<number, DayCounts> {
	const days = new Map<number, DayCounts>();
	for (const row of rows) {
		let counts = days.get(row.day);
		if (counts === undefined) {
			counts = { arrivals: LAG_EDGES.map(() => 0), reversals: LAG_EDGES.map(() => 0) };
			days.set(row.day, counts);
		}
		const edge = edgeOf(row.lag);
		counts.arrivals[edge] = (counts.arrivals[edge] ?? 0) + row.arrivals;
		counts.reversals[edge] = (counts.reversals[edge] ?? 0) + row.reversals;
	}
	return days;
}

function learnArrivals(days: Map<number, DayCounts>, today: number, prior: Curve): Curve {
	const came = LAG_EDGES.map((_, at) => ARRIVALS_WORTH * ((prior[at] ?? 1) - (prior[at - 1] ?? 0)));
	const byThen = prior.map((part) => ARRIVALS_WORTH * part);
	for (const [day, { arrivals }] of days) {
		const weight = 2 ** (-(today - day) / ARRIVALS_HALF_LIFE_DAYS);
		let sum = 0;
		for (const [at, edge] of LAG_EDGES.entries()) {
			if (day + edge >= today) break;
			sum += arrivals[at] ?? 0;
			came[at] = (came[at] ?? 0) + weight * (arrivals[at] ?? 0);
			byThen[at] = (byThen[at] ?? 0) + weight * sum;
		}
	}
	const curve = LAG_EDGES.map(() => 1);
	for (let at = LAG_EDGES.length - 1; at > 0; at--) {
		const hazard = Math.max(0, came[at] ?? 0) / Math.max(byThen[at] ?? 0, Number.MIN_VALUE);
		curve[at - 1] = (curve[at] ?? 1) * (1 - Math.min(hazard, 1));
	}
	return curve;
}

function learnReversals(days: Map<number, DayCounts>, today: number, prior: Curve, arrived: Curve): Curve {
	const taken = LAG_EDGES.map((_, at) => REVERSALS_WORTH * ((prior[at] ?? 0) - (prior[at - 1] ?? 0)));
	const exposed = LAG_EDGES.map(() => REVERSALS_WORTH);
	for (const [day, { arrivals, reversals }] of days) {
		const age = today - 1 - day;
		if (age < 0) continue;
		const known = partArrived(arrived, age);
		const projected = arrivals.reduce((sum, count) => sum + count, 0) / Math.max(known, 0.05);
		for (const [at, edge] of LAG_EDGES.entries()) {
			const from = LAG_EDGES[at - 1] ?? -1;
			const seen = Math.min(1, (age - from) / (edge - from));
			if (seen <= 0) break;
			// A reversal tells of the time that it came in, so the newest of any age count alike.
			const weight = 2 ** (-Math.max(0, age - edge) / REVERSALS_HALF_LIFE_DAYS);
			taken[at] = (taken[at] ?? 0) + weight * (reversals[at] ?? 0);
			exposed[at] = (exposed[at] ?? 0) + weight * projected * seen;
		}
	}
	let sum = 0;
	return LAG_EDGES.map((_, at) => {
		sum = Math.min(MOST_REVERSED, sum + Math.max(0, taken[at] ?? 0) / (exposed[at] ?? 1));
		return sum;
	});
}

/** Of what will arrive, the part that has after so many days. */
function partArrived(curve: Curve, age: number): number {
	const at = edgeOf(age);
	const [to, from] = [curve[at] ?? 1, curve[at - 1] ?? 0];
	const [end, start] = [LAG_EDGES[at] ?? age, LAG_EDGES[at - 1] ?? -1];
	return from + ((to - from) * (Math.min(age, end) - start)) / (end - start);
}
