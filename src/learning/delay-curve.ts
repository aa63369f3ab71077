/** Curves of how much of what will come has come, by the age of clicks in days. */
import { HISTORY_DAYS } from "./settings.ts";

/**
 * Steps by which arrivals are learned, in days since the day of the click: 0 is that same day; between them a curve is a straight line.
 * Calendar days and not hours, since learning runs at midnight: so a platform that reports in daily batches is read exactly.
 */
export const LAG_EDGES = [0, 1, 2, 3, 5, 7, 10, 14, 21, 30, 45, 60, 90] as const;

/** What comes later than this is taken to have come by then. */
export const LAST_LAG = 90;

/** What has happened by the end of each day, from 0 to LAST_LAG: of arrivals all at last, of reversals the part that is taken back. */
export type Curve = readonly number[];

/** Of a platform: what has arrived, and what of all that arrives is taken back of the newest clicks. */
export type DelayCurves = {
	arrivals: Curve;
	reversals: Curve;
	/** What of all that arrives has been taken back by now, by the age of clicks: older ones may have been of another level. */
	reversedByNow: readonly number[];
};

/** What clicks are read by: as DelayCurves, of reversals the end alone. */
export type ClickCurves = { arrivals: Curve; reversedByNow: readonly number[]; reversed: number };

/** The same, with the curves of single publishers: clicks of those that are not here are read by the platform's. */
export type PlatformCurves = DelayCurves & { ofPublishers?: Readonly<Record<string, ClickCurves>> };

const DEFAULT_REVERSALS = fillDays([0, 0.002, 0.004, 0.007, 0.012, 0.018, 0.027, 0.038, 0.055, 0.07, 0.085, 0.095, 0.1]);

export const DEFAULT_CURVES: DelayCurves = {
	arrivals: fillDays([0.4, 0.58, 0.66, 0.72, 0.79, 0.84, 0.88, 0.92, 0.955, 0.978, 0.995, 1, 1]),
	reversals: DEFAULT_REVERSALS,
	reversedByNow: DEFAULT_REVERSALS,
};

/** A curve of all days, from its values at LAG_EDGES. */
export function fillDays(values: readonly number[]): Curve {
	const days: number[] = [];
	for (const [at, edge] of LAG_EDGES.entries()) {
		const to = values[at] ?? 1;
		const from = values[at - 1] ?? to;
		const start = LAG_EDGES[at - 1] ?? edge - 1;
		for (let lag = start + 1; lag <= edge; lag++) days.push(from + ((to - from) * (lag - start)) / (edge - start));
	}
	return days;
}

/** What a curve says after this many days. */
export function partBy(curve: Curve, days: number): number {
	return curve[Math.min(days, LAST_LAG)] ?? 0;
}

/** Arrivals of days of which less is known are not projected further. */
const LEAST_KNOWN = 0.05;

/** How many conversions will come to be, of those that have come by an age in days. */
export function projectArrivals(came: number, arrivals: Curve, age: number): number {
	return came / Math.max(partBy(arrivals, age), LEAST_KNOWN);
}

/** What an operator states of a platform: parts of all conversions that have arrived when clicks are this many days old. */
export type StatedCurve = readonly { days: number; part: number }[];

/** What is wrong with a stated curve, or null: it must rise in both, from above 0 to at most 1. */
export function curveFault(curve: StatedCurve): string | null {
	if (curve.length === 0) return "A delay curve needs at least one point.";
	let before = { days: 0, part: 0 };
	for (const point of curve) {
		if (!(point.days > before.days)) return "The days of a delay curve must rise, from above 0.";
		// Where nothing comes within the first days, no part does.
		const rises = point.part > before.part || (point.part === 0 && before.part === 0);
		if (!rises || point.part > 1) return "The parts of a delay curve must rise, and lie between 0 and 1.";
		before = point;
	}
	return before.part > 0 ? null : "A delay curve must rise above 0.";
}

/**
 * A stated curve by day: a day's clicks are of all ages of a day.
 * @param end what has happened by the last day: the rest of what arrives does, reversals stay where their last point is
 */
export function readStatedCurve(stated: StatedCurve, end = 1): Curve {
	const points = [{ days: 0, part: 0 }, ...stated, { days: Math.max(LAST_LAG, (stated.at(-1)?.days ?? 0) + 1), part: end }];
	const samples = 24;
	return Array.from({ length: LAST_LAG + 1 }, (_, lag) => {
		if (lag === LAST_LAG) return end;
		let sum = 0;
		for (let hour = 0; hour < samples; hour++) sum += partAt(points, lag + (hour + 0.5) / samples);
		return sum / samples;
	});
}

function partAt(points: readonly { days: number; part: number }[], days: number): number {
	for (let at = 1; at < points.length; at++) {
		const [from, to] = [points[at - 1], points[at]];
		if (from === undefined || to === undefined || days > to.days) continue;
		return from.part + ((to.part - from.part) * (days - from.days)) / (to.days - from.days);
	}
	return 1;
}

/** The edge that a lag belongs to, by its place in LAG_EDGES; later ones belong to the last. */
export function edgeOf(lag: number): number {
	const at = LAG_EDGES.findIndex((edge) => lag <= edge);
	return at === -1 ? LAG_EDGES.length - 1 : at;
}

/** Never is less taken for known: what is divided by it would turn one early conversion into a fortune. */
const LEAST_MATURITY = 0.02;

/** Of what came, never is more taken for lost: the rest would count as a fortune. */
const MOST_REVERSED = 0.98;

/**
 * The part of what clicks of now would earn that we know of those of this many days ago: V = (F − R) / (1 − R∞), with R as it was for
 * them and R∞ as it is for the newest. Above 1 where conversions come before reversals do, and where less was taken back before.
 * @param level how many times as much is taken back as the curves say, see `reversalLevels`
 */
export function maturityAt({ arrivals, reversedByNow, reversed }: ClickCurves, age: number, level = 1): number {
	const came = partBy(arrivals, age);
	const gone = Math.min((reversedByNow[age] ?? reversed) * level, MOST_REVERSED * came);
	return Math.max(LEAST_MATURITY, (came - gone) / (1 - Math.min(reversed * level, MOST_REVERSED)));
}

/** `maturityAt` by age in days, up to HISTORY_DAYS: a night asks for every row of clicks. */
export class MaturityTables {
	readonly #tables = new Map<ClickCurves, Map<number, Float64Array>>();
	#count = 0;

	of(curves: ClickCurves, level: number): Float64Array {
		const known = this.#tables.get(curves)?.get(level);
		if (known !== undefined) return known;
		if (this.#count === MAX_TABLES) {
			this.#tables.clear();
			this.#count = 0;
		}
		this.#count++;
		const table = Float64Array.from({ length: HISTORY_DAYS + 1 }, (_, age) => maturityAt(curves, age, level));
		const ofCurves = this.#tables.get(curves) ?? new Map<number, Float64Array>();
		ofCurves.set(level, table);
		this.#tables.set(curves, ofCurves);
		return table;
	}
}

/** Each is of a kilobyte. */
const MAX_TABLES = 5_000;

/** What a platform's clicks of a publisher are read by. */
export type CurvesOf = (publisher: string) => ClickCurves;

export function curvesOf(curves: PlatformCurves): CurvesOf {
	const common = clickCurves(curves);
	const publishers = new Map(Object.entries(curves.ofPublishers ?? {}));
	return (publisher) => publishers.get(publisher) ?? common;
}

export function clickCurves({ arrivals, reversals, reversedByNow }: DelayCurves): ClickCurves {
	return { arrivals, reversedByNow, reversed: reversals.at(-1) ?? 0 };
}
