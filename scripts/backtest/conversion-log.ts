import type { ConversionFacts } from "../../src/learning/cohorts.ts";
import type { CallbackStatus } from "../../src/lib/enums.ts";

/** One thing that was said of a conversion: by its platform, that it is owed for, or no more; by an operator, that it is voided. */
export type Word = { at: number; status: CallbackStatus | "voided"; payoutMicros: number | null; isConfirmed?: boolean };

/** The latest time for which an amount was named, and all that were: the last of them stands, and one that comes again changes nothing. */
type Amount = { at: number; named: Set<number>; micros: number; isConfirmed: boolean };

/**
 * What was said of a conversion, in any order and any number of times, as far as it may still count: its first and last approvals, the last
 * amount, and what was said against it since. So a word costs the same however many came before it.
 */
export class ConversionLog {
	#firstApprovedAt: number | null = null;
	#lastApprovedAt = Number.NEGATIVE_INFINITY;
	#lastVoidedAt = Number.NEGATIVE_INFINITY;
	#amount: Amount | null = null;
	/** Of cancellations that no approval follows, in their order. */
	readonly #cancelledAt: number[] = [];

	/** The latest time that counts of what was said. */
	get lastAt(): number {
		return Math.max(this.#lastApprovedAt, this.#cancelledAt.at(-1) ?? Number.NEGATIVE_INFINITY);
	}

	add(word: Word): void {
		if (word.status === "approved") this.#addApproval(word);
		else this.#addCancellation(word.at);
		if (word.status === "voided") this.#lastVoidedAt = Math.max(this.#lastVoidedAt, word.at);
	}

	#addCancellation(at: number): void {
		if (at < this.#lastApprovedAt) return;
		const place = placeOf(this.#cancelledAt, at);
		if (this.#cancelledAt[place] !== at) this.#cancelledAt.splice(place, 0, at);
	}

	#addApproval({ at, payoutMicros, isConfirmed = false }: Word): void {
		this.#firstApprovedAt = Math.min(this.#firstApprovedAt ?? at, at);
		if (at > this.#lastApprovedAt) {
			this.#lastApprovedAt = at;
			this.#cancelledAt.splice(0, placeOf(this.#cancelledAt, at));
		}
		const amount = this.#amount;
		if (payoutMicros === null || (amount !== null && (at < amount.at || (at === amount.at && amount.named.has(payoutMicros))))) return;
		const named = amount?.at === at ? amount.named : new Set<number>();
		this.#amount = { at, named: named.add(payoutMicros), micros: payoutMicros, isConfirmed };
	}

	/**
	 * What a conversion is by all that was said of it: its last status stands, it arrived when it was first approved, and it is taken back
	 * since the first cancellation after its last approval. Null where it never was approved, and while it is voided.
	 */
	read(clickedAt: number): ConversionFacts | null {
		if (this.#firstApprovedAt === null || this.#lastVoidedAt >= this.lastAt) return null;
		return {
			clickedAt,
			approvedAt: this.#firstApprovedAt,
			reversedAt: this.#cancelledAt[0] ?? null,
			netMicros: this.#amount?.micros ?? 0,
			isConfirmed: this.#amount?.isConfirmed ?? false,
		};
	}
}

/** How many of times in their order are earlier. */
function placeOf(times: readonly number[], at: number): number {
	let [from, to] = [0, times.length];
	while (from < to) {
		const middle = (from + to) >>> 1;
		if ((times[middle] ?? 0) < at) from = middle + 1;
		else to = middle;
	}
	return from;
}
