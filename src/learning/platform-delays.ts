/** A platform's conversions by publisher, and the curves that they make. */
import { roundTo } from "../lib/money.ts";
import { type DelayRow, OTHER_PUBLISHERS } from "./cohorts.ts";
import {
	type ClickCurves,
	clickCurves,
	DEFAULT_CURVES,
	type DelayCurves,
	edgeOf,
	LAG_EDGES,
	LAST_LAG,
	type PlatformCurves,
} from "./delay-curve.ts";
import { ARRIVALS_WEIGHTS, type Counted, type DayCounts, type Days, findRise, learnDelays, sumOf } from "./learn-delays.ts";

/** Publishers of platforms whose delays are learned of singly: those with the most conversions. The others of a platform are one. */
export const MAX_FOLLOWED_DELAYS = 200;

/** Conversions that curves count as that others set out from: a platform's from the default ones, a publisher's from its platform's. */
const DEFAULT_WORTH = { arrivalsWorth: 50, reversalsWorth: 20 };
const PLATFORM_WORTH = { arrivalsWorth: 15, reversalsWorth: 5 };
/** Conversions that a publisher counts as in its platform's curves, at the most. */
const MAX_PUBLISHER_WORTH = 100;
/** What counts of a publisher's reversals there, by the part that is taken back of the middle publisher's sales: as many times that. */
const MAX_TIMES_USUAL = 2;
/** Conversions of the default part that a publisher's part is told beside: of few, chance has too many or none taken back. */
const USUAL_WORTH = 20;
/** A platform that takes more back than this is not learned from, but looked into. */
export const MAX_REVERSED = 0.9;
/** The same of a publisher, unless its platform takes as much of all: beyond it, its bad sources would be paid for by its good ones. */
const MAX_PUBLISHER_REVERSED = 0.5;
/** Of what is kept of a publisher's curves. */
const KEPT_DIGITS = 4;

/**
 * No publisher bends the curves of the others: beyond some conversions, more of its own count no more in the platform's. And its own clicks
 * are read by curves of its own, which set out from the platform's.
 */
export class PlatformDelays {
	readonly #publishers = new Map<string, Days>();

	/** @param rows of publishers that are followed singly, and together of those that are not */
	add(rows: Iterable<DelayRow>): void {
		for (const { publisher, day, lag, arrivals, reversals } of rows) {
			const counts = countsOf(this.#daysOf(publisher), day);
			addTo(counts.arrivals, edgeOf(lag), arrivals);
			addTo(counts.reversals, Math.min(lag, LAST_LAG), reversals);
		}
	}

	#daysOf(publisher: string): Days {
		let days = this.#publishers.get(publisher);
		if (days === undefined) {
			days = new Map();
			this.#publishers.set(publisher, days);
		}
		return days;
	}

	/** @param today the day that is beginning: the ones before it are known whole */
	learn(today: number, prior: DelayCurves): PlatformCurves {
		const counted = this.#count(today);
		const pooled = pool(counted);
		const singly = counted.filter(({ publisher }) => publisher !== OTHER_PUBLISHERS);
		const rules = { ...DEFAULT_WORTH, mostReversed: MAX_REVERSED };
		const risenDays = findRise(pooled, singly, today, prior, rules);
		const set = { arrivals: prior.arrivals, usual: prior.reversals, levels: [], risenDays };
		const { curves: common, known } = learnDelays(pooled, today, set, rules);
		const mostReversed = Math.max(MAX_PUBLISHER_REVERSED, common.reversals.at(-1) ?? 0);
		const publishers: [string, ClickCurves][] = [];
		for (const [publisher, days] of this.#publishers) {
			if (publisher === OTHER_PUBLISHERS) continue;
			const own = clickCurves(learnDelays(days, today, known, { ...PLATFORM_WORTH, mostReversed }).curves);
			publishers.push([publisher, { ...own, arrivals: rounded(own.arrivals), reversedByNow: rounded(own.reversedByNow) }]);
		}
		return { ...common, ofPublishers: Object.fromEntries(publishers) };
	}

	/** What counts of publishers' conversions: of none more than may, and of its reversals. */
	#count(today: number): (Counted & { publisher: string })[] {
		const summed = [...this.#publishers].map(([publisher, days]) => ({ publisher, days, ...sumUp(days, today) }));
		const most = MAX_TIMES_USUAL * usualReversed(summed);
		return summed.map(({ publisher, days, part, reversed }) =>
			publisher === OTHER_PUBLISHERS
				? { publisher, days, came: 1, taken: 1 }
				: { publisher, days, came: part, taken: part * Math.min(1, most / reversed) },
		);
	}
}

function rounded(curve: readonly number[]): number[] {
	return curve.map((part) => roundTo(part, KEPT_DIGITS));
}

function pool(counted: readonly Counted[]): Days {
	const pooled: Days = new Map();
	for (const { days, came, taken } of counted) {
		for (const [day, { arrivals, reversals }] of days) {
			const counts = countsOf(pooled, day);
			for (const [at, count] of arrivals.entries()) addTo(counts.arrivals, at, came * count);
			for (const [at, count] of reversals.entries()) addTo(counts.reversals, at, taken * count);
		}
	}
	return pooled;
}

/** The curves of a platform whose rows are at hand. */
export function learnCurves(rows: Iterable<DelayRow>, today: number, prior: DelayCurves = DEFAULT_CURVES): PlatformCurves {
	const delays = new PlatformDelays();
	delays.add(rows);
	return delays.learn(today, prior);
}

/** What counts of a publisher: of its conversions the `part` that is worth no more than may, and of that the part that was taken back. */
type Summed = { part: number; worth: number; reversed: number };

function sumUp(days: Days, today: number): Summed {
	let [came, taken] = [0, 0];
	for (const [day, { arrivals, reversals }] of days) {
		const weight = ARRIVALS_WEIGHTS[today - day] ?? 0;
		came += weight * Math.max(0, sumOf(arrivals));
		taken += weight * Math.max(0, sumOf(reversals));
	}
	const part = Math.min(1, MAX_PUBLISHER_WORTH / came);
	const usual = USUAL_WORTH * (DEFAULT_CURVES.reversals.at(-1) ?? 0);
	return { part, worth: part * came, reversed: (usual + part * taken) / (USUAL_WORTH + part * came) };
}

/** The part that is taken back of the middle publisher's sales: half of what counts is of publishers with as much or less. */
function usualReversed(summed: readonly Summed[]): number {
	const inOrder = summed.toSorted((a, b) => a.reversed - b.reversed || a.worth - b.worth);
	let left = inOrder.reduce((sum, { worth }) => sum + worth, 0) / 2;
	for (const { reversed, worth } of inOrder) {
		left -= worth;
		if (left < 0) return reversed;
	}
	return 1;
}

function countsOf(days: Days, day: number): DayCounts {
	let counts = days.get(day);
	if (counts === undefined) {
		counts = { arrivals: Array<number>(LAG_EDGES.length).fill(0), reversals: Array<number>(LAST_LAG + 1).fill(0) };
		days.set(day, counts);
	}
	return counts;
}

function addTo(counts: number[], at: number, count: number): void {
	counts[at] = (counts[at] ?? 0) + count;
}
