/** Seeded chance: the same seed gives the same market. */
export type Random = () => number;

/** Uniform in [0, 1). Mulberry32. */
export function seeded(seed: number): Random {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** A standard normal value. */
export function normal(random: Random): number {
	return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A factor whose mean is 1 and whose logarithm has this standard deviation. */
export function logNormal(random: Random, sigma: number): number {
	return Math.exp(sigma * normal(random) - sigma ** 2 / 2);
}

export function exponential(random: Random, mean: number): number {
	return -mean * Math.log(1 - random());
}

/** Running sums of Zipf's weights, to choose by. */
export function zipf(count: number, exponent: number): Float64Array {
	const sums = new Float64Array(count);
	let sum = 0;
	for (let at = 0; at < count; at++) {
		sum += (at + 1) ** -exponent;
		sums[at] = sum;
	}
	return sums.map((value) => value / sum);
}

/** The place of a value in [0, 1) among running sums. */
export function choose(sums: Float64Array, value: number): number {
	let [low, high] = [0, sums.length - 1];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((sums[middle] ?? 1) > value) high = middle;
		else low = middle + 1;
	}
	return low;
}
