import type { ConversionFacts } from "../../src/learning/cohorts.ts";

/** One thing that a platform said of a conversion. */
export type Word = { at: number; status: "approved" | "cancelled"; payoutMicros: number | null };

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
	return words.reduce<ConversionFacts | null>((facts, { at, status, payoutMicros }) => {
		if (status === "cancelled") return facts === null ? null : { ...facts, reversedAt: facts.reversedAt ?? at };
		return { clickedAt, approvedAt: facts?.approvedAt ?? at, reversedAt: null, netMicros: payoutMicros ?? facts?.netMicros ?? 0 };
	}, null);
}
