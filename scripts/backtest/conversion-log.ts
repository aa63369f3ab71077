import type { ConversionFacts } from "../../src/learning/cohorts.ts";
import type { CallbackStatus } from "../../src/lib/enums.ts";

/** One thing that a platform said of a conversion: that it is owed for, or no more. */
export type Word = { at: number; status: CallbackStatus; payoutMicros: number | null; isConfirmed?: boolean };

/** Adds what was said, once, in the order of its time. */
export function addWord(words: readonly Word[], word: Word): Word[] {
	const known = words.some(
		({ at, status, payoutMicros }) => at === word.at && status === word.status && payoutMicros === word.payoutMicros,
	);
	return known
		? [...words]
		: [...words, word].toSorted((a, b) => a.at - b.at || Number(a.status === "cancelled") - Number(b.status === "cancelled"));
}

/**
 * What a conversion is by all that was said of it: its last status stands, it arrived when it was first approved, and it is taken back
 * since the first cancellation after its last approval. Null where it never was approved.
 */
export function readFacts(words: readonly Word[], clickedAt: number): ConversionFacts | null {
	let facts = null as ConversionFacts | null;
	for (const { at, status, payoutMicros, isConfirmed = false } of words) {
		if (status === "approved") {
			const netMicros = payoutMicros ?? facts?.netMicros ?? 0;
			facts = { clickedAt, approvedAt: facts?.approvedAt ?? at, reversedAt: null, netMicros, isConfirmed };
		} else if (facts !== null && facts.reversedAt === null) facts.reversedAt = at;
	}
	return facts;
}
