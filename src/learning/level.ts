import { emptySums, type FactorEvidence, type FactorSums, readFactor } from "./factor.ts";

/** What is known of cells before they are fitted, in columns: a night goes through them tens of times. */
export type SeenCells = {
	/** What the operator's numbers expect of them, as equivalent conversions; `squared` with squared forgetting. */
	expected: Float64Array;
	squared: Float64Array;
	/** The same in micro-dollars. */
	expectedMicros: Float64Array;
	/** What came. */
	observed: Float64Array;
	earnedMicros: Float64Array;
	/** Weighted clicks, and those that we know the earnings of. */
	clicks: Float64Array;
	ripe: Float64Array;
};

/** What cells are told apart by, and the factor of each: of the last fit. */
export class Level {
	readonly #keys: readonly string[];
	/** By cell, the place of its key. */
	readonly #places: Int32Array;
	readonly #factors: Float64Array;
	readonly #seen: SeenCells;
	/** By place: what factors of other levels do not change. */
	readonly #fixed: readonly FactorSums[];

	/** @param keyOf by the index of a cell */
	constructor(seen: SeenCells, keyOf: (cell: number) => string) {
		const places = new Map<string, number>();
		this.#places = new Int32Array(seen.ripe.length);
		for (let cell = 0; cell < this.#places.length; cell++) {
			const key = keyOf(cell);
			const place = places.get(key) ?? places.size;
			places.set(key, place);
			this.#places[cell] = place;
		}
		this.#keys = [...places.keys()];
		this.#factors = new Float64Array(places.size).fill(1);
		this.#seen = seen;
		this.#fixed = this.#keys.map(emptySums);
		for (let cell = 0; cell < this.#places.length; cell++) {
			const sums = this.#fixed[this.#places[cell] ?? 0];
			if (sums !== undefined) addSeen(sums, seen, cell);
		}
	}

	factorOf(cell: number): number {
		return this.#factors[this.#places[cell] ?? 0] ?? 1;
	}

	/** Forgets the last fit. */
	reset(): void {
		this.#factors.fill(1);
	}

	/**
	 * Fits the factor of each key.
	 * @param others by cell, the product of all other levels' factors
	 * @param parts  by cell, what of its conversions counts; all where it is left out
	 */
	fit(others: Float64Array, kappa: number, parts?: Float64Array): Map<string, FactorEvidence> {
		const seen = this.#seen;
		const counted = parts === undefined ? others : others.map((other, cell) => other * (parts[cell] ?? 1));
		const [expected, squared] = [seen.expected, seen.squared].map((column) => this.#sum(column, counted));
		const expectedMicros = this.#sum(seen.expectedMicros, others);
		const observed = parts && this.#sum(seen.observed, parts);
		return new Map(
			this.#keys.map((key, place) => {
				const fixed = this.#fixed[place] ?? emptySums();
				const sums = {
					...fixed,
					expected: expected?.[place] ?? 0,
					squared: squared?.[place] ?? 0,
					expectedMicros: expectedMicros[place] ?? 0,
					observed: observed?.[place] ?? fixed.observed,
				};
				const evidence = readFactor(sums, kappa);
				this.#factors[place] = evidence.factor;
				return [key, evidence];
			}),
		);
	}

	#sum(column: Float64Array, others: Float64Array): Float64Array {
		const sums = new Float64Array(this.#keys.length);
		for (let cell = 0; cell < column.length; cell++) {
			const place = this.#places[cell] ?? 0;
			sums[place] = (sums[place] ?? 0) + (column[cell] ?? 0) * (others[cell] ?? 1);
		}
		return sums;
	}
}

/** Adds what came of a cell. */
function addSeen(sums: FactorSums, { observed, earnedMicros, clicks, ripe }: SeenCells, cell: number): void {
	sums.observed += observed[cell] ?? 0;
	sums.earnedMicros += earnedMicros[cell] ?? 0;
	sums.clicks += clicks[cell] ?? 0;
	sums.ripe += ripe[cell] ?? 0;
}

/** Adds a cell to what a level is fitted by. @param others the product of all other levels' factors */
export function addCell(sums: FactorSums, seen: SeenCells, cell: number, others: number): void {
	sums.expected += (seen.expected[cell] ?? 0) * others;
	sums.squared += (seen.squared[cell] ?? 0) * others;
	sums.expectedMicros += (seen.expectedMicros[cell] ?? 0) * others;
	addSeen(sums, seen, cell);
}
