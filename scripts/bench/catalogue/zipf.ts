import type { Random } from "../../demo/random.ts";

/** Draws ranks by Zipf's law: rank r (from 0) in proportion to 1 / (r + 1). */
export class Zipf {
	readonly #random: Random;
	/** Weights summed up to each rank. */
	readonly #sums: Float64Array;

	constructor(random: Random, ranks: number) {
		this.#random = random;
		this.#sums = new Float64Array(ranks);
		let sum = 0;
		for (let rank = 0; rank < ranks; rank++) this.#sums[rank] = sum += 1 / (rank + 1);
	}

	next(): number {
		const sums = this.#sums;
		const at = this.#random.next() * (sums.at(-1) ?? 0);
		let low = 0;
		let high = sums.length - 1;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if ((sums[middle] ?? 0) > at) high = middle;
			else low = middle + 1;
		}
		return low;
	}

	/** Draws until there are so many different ranks. Returns them in the order in which they came up. */
	distinct(count: number): number[] {
		const ranks = new Set<number>();
		while (ranks.size < count) ranks.add(this.next());
		return [...ranks];
	}
}
