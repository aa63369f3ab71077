/** Seeded pseudo-random choices (mulberry32): the same seed makes the same choices on every machine. */
export class Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed >>> 0;
	}

	/** A number from 0 up to, but not including, 1. */
	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** An integer from `low` to `high`, both included. */
	integer(low: number, high: number): number {
		return low + Math.floor(this.next() * (high - low + 1));
	}

	/** True with the given probability. */
	chance(probability: number): boolean {
		return this.next() < probability;
	}

	/** One of the items. @throws RangeError where there is none */
	pick<T>(items: readonly T[]): T {
		const item = items[this.integer(0, items.length - 1)];
		if (item === undefined) throw new RangeError("nothing to pick from");
		return item;
	}

	/** Between `low` and `high` different items, in their order. */
	sample<T>(items: readonly T[], low: number, high: number): T[] {
		const wanted = Math.min(items.length, this.integer(low, high));
		const left = items.map((_, index) => index);
		while (left.length > wanted) left.splice(this.integer(0, left.length - 1), 1);
		return left.flatMap((index) => items.slice(index, index + 1));
	}

	/** One of the keys, in proportion to its weight. */
	weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
		const entries = Object.entries<number>(weights) as [T, number][];
		let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
		for (const [key, weight] of entries) {
			at -= weight;
			if (at < 0) return key;
		}
		return this.pick(entries)[0];
	}
}
