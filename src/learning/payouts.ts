import type { CellHistory, EarningRow } from "./cohorts.ts";
import { isConfirmed } from "./size-class.ts";

/** A payout counts up to this multiple of the campaign's mean, or up to what is usual. */
const COUNTED_MULTIPLE = 5;
/** Up to this multiple, what is above the counted part is shared by the whole network; a larger payout counts once a person has let go of it. */
const POOLED_MULTIPLE = 40;
/**
 * A campaign may pay for several things, as sales beside leads, which are far more and far smaller. A payout is as usual of it as the cube
 * of the part of its conversions that pay as much or more, up to this part, and as they are many: of few, or once, it may be a mistake.
 */
const USUAL_PART = 1 / 12;
const TOO_FEW = 4;
const MANY = 20;
/** What is larger than this multiple of the mean is no kind of payout, however often it comes: amounts that somebody got wrong. */
const MAX_USUAL_MULTIPLE = 1_000;
/** The most that shared part adds to what counts. */
const MAX_LOADING = 0.15;
/** Conversions that the network's mean counts as in a campaign's. */
const MEAN_WORTH = 4;
/** What a conversion pays, in clicks at the operator's number, where the network has none yet. */
const CLICKS_PER_CONVERSION = 100;
/** Square of the mean over the mean of squares, where a campaign's own is not known. */
const USUAL_SPREAD = 1.5;

/** A campaign's payouts by size. */
export type PayoutSizes = ReadonlyMap<number, { conversions: number; netMicros: number }>;

/** What decides how a campaign's payouts count. */
export type PayoutMeasure = {
	/** Shrunken mean, in micro-dollars. */
	meanMicros: number;
	/** What a payout counts up to. */
	capMicros: number;
	/** Turns dollars into equivalent conversions: E[v²] / E[v] of what counts. Micro-dollars. */
	phiMicros: number;
};

/** Adds up what cells earned by size. Classes whose conversions were all taken back are gone. */
export function payoutSizes(cells: Iterable<{ earnings: CellHistory["earnings"] }>): PayoutSizes {
	const sizes = new Map<number, { conversions: number; netMicros: number }>();
	for (const { earnings } of cells) for (const row of earnings) addSize(sizes, row);
	for (const [sizeClass, { conversions }] of sizes) if (conversions <= 0) sizes.delete(sizeClass);
	return sizes;
}

function addSize(sizes: Map<number, { conversions: number; netMicros: number }>, { sizeClass, conversions, netMicros }: EarningRow): void {
	const size = sizes.get(sizeClass);
	if (size === undefined) sizes.set(sizeClass, { conversions, netMicros });
	else {
		size.conversions += conversions;
		size.netMicros += netMicros;
	}
}

/** The mean of payouts as their logarithms have it, which a single one of a million hardly moves; null where there are none. */
export function logMean(sizes: PayoutSizes): number | null {
	let count = 0;
	let sum = 0;
	for (const { conversions, netMicros } of sizes.values()) {
		count += conversions;
		sum += conversions * Math.log(netMicros / conversions);
	}
	return count === 0 ? null : sum / count;
}

/** The network's usual payout, the middle of its campaigns' own; null before the first conversion. Micro-dollars. */
export function networkPayout(campaigns: Iterable<PayoutSizes>): number | null {
	const means: number[] = [];
	for (const sizes of campaigns) {
		const mean = logMean(sizes);
		if (mean !== null) means.push(mean);
	}
	return middlePayout(means);
}

/** The same of the campaigns' logarithmic means, see `logMean`. */
export function middlePayout(means: number[]): number | null {
	means.sort((a, b) => a - b);
	const middle = means[Math.floor(means.length / 2)];
	return middle === undefined ? null : Math.exp(middle);
}

/** @param epcMicros the campaign's own number, from which a payout is guessed where the network has none */
export function measurePayouts(sizes: PayoutSizes, networkMicros: number | null, epcMicros: number): PayoutMeasure {
	const usual = networkMicros ?? Math.max(epcMicros, 1) * CLICKS_PER_CONVERSION;
	let count = MEAN_WORTH;
	let logs = MEAN_WORTH * Math.log(usual);
	for (const { conversions, netMicros } of sizes.values()) {
		count += conversions;
		logs += conversions * Math.log(netMicros / conversions);
	}
	// From the logarithms' mean up, so that what is far above all others does not set what it is measured by.
	let mean = Math.exp(logs / count);
	for (let pass = 0; pass < 3; pass++) {
		let sum = MEAN_WORTH * Math.min(usual, mean);
		for (const { conversions, netMicros } of sizes.values()) {
			sum += conversions * Math.min(netMicros / conversions, COUNTED_MULTIPLE * mean);
		}
		mean = Math.max(mean, sum / count);
	}
	const capMicros = Math.max(COUNTED_MULTIPLE * mean, usualPayout(sizes, MAX_USUAL_MULTIPLE * mean));
	let first = 0;
	let second = 0;
	for (const [sizeClass, { conversions, netMicros }] of sizes) {
		const counted = countedPayout(sizeClass, netMicros / conversions, capMicros);
		first += conversions * counted;
		second += conversions * counted ** 2;
	}
	const phiMicros = (second + MEAN_WORTH * USUAL_SPREAD * mean ** 2) / (first + MEAN_WORTH * mean);
	return { meanMicros: mean, capMicros, phiMicros };
}

/** The most of what payouts are worth by how usual each is; 0 where none is. Micro-dollars. @param mostMicros what is larger is none */
function usualPayout(sizes: PayoutSizes, mostMicros: number): number {
	const payouts = [...sizes.values()].map(({ conversions, netMicros }) => ({ conversions, micros: netMicros / conversions }));
	const all = payouts.reduce((sum, { conversions }) => sum + conversions, 0);
	let asLarge = 0;
	let usual = 0;
	for (const { conversions, micros } of payouts.sort((a, b) => b.micros - a.micros)) {
		if (micros > mostMicros) continue;
		asLarge += conversions;
		const asPart = Math.min(1, asLarge / all / USUAL_PART) ** 3;
		const asMany = Math.min(1, Math.max(0, asLarge - TOO_FEW) / (MANY - TOO_FEW));
		usual = Math.max(usual, micros * asPart * asMany);
	}
	return usual;
}

/** What counts of a payout. */
export function countedPayout(sizeClass: number, netMicros: number, capMicros: number): number {
	return netMicros > mostOf(capMicros) && !isConfirmed(sizeClass) ? 0 : Math.min(netMicros, capMicros);
}

/** What of a payout the whole network shares. */
function pooledPayout(sizeClass: number, netMicros: number, capMicros: number): number {
	const most = mostOf(capMicros);
	return netMicros > most && !isConfirmed(sizeClass) ? 0 : Math.max(0, Math.min(netMicros, most) - capMicros);
}

function mostOf(capMicros: number): number {
	return capMicros * (POOLED_MULTIPLE / COUNTED_MULTIPLE);
}

/** What counts of all payouts, and what of them is pooled. Micro-dollars. */
export type LoadingSums = { countedMicros: number; pooledMicros: number };

export const NO_LOADING: Readonly<LoadingSums> = { countedMicros: 0, pooledMicros: 0 };

/** Adds a campaign's payouts. */
export function addLoading(sums: LoadingSums, sizes: PayoutSizes, capMicros: number): void {
	for (const [sizeClass, { conversions, netMicros }] of sizes) {
		sums.countedMicros += conversions * countedPayout(sizeClass, netMicros / conversions, capMicros);
		sums.pooledMicros += conversions * pooledPayout(sizeClass, netMicros / conversions, capMicros);
	}
}

/** The part by which what counts is raised everywhere, for what is pooled. */
export function loadingOf({ countedMicros, pooledMicros }: LoadingSums): number {
	return countedMicros === 0 ? 0 : Math.min(MAX_LOADING, pooledMicros / countedMicros);
}
