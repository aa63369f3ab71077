/**
 * What the payouts that a platform has stated of a conversion come to: pure, and the same in whatever order they arrive. Ids of the intake,
 * which sort by receipt, give the order.
 */
import type { ConversionStatus } from "../lib/enums.ts";
import { MAX_AMOUNT_MICROS } from "./read-amount.ts";

/**
 * A payout that was stated. `content` tells what a postback said from what others said (a platform's statement has its own id there);
 * `meaning` is what its status word meant when it came, `eventAt` its date: absent where an earlier version stored it. `said` is the content
 * of a statement, as a postback has it.
 */
type Stated = readonly [intakeId: string, micros: number, content: string, meaning?: ConversionStatus, eventAt?: number, said?: string];
/** What corrects the payout before it, by an amount below zero; without a currency, in that of the conversion. */
type Correction = readonly [intakeId: string, micros: number, content: string, currency: string | null];
export type Payouts = { readonly stated: readonly Stated[]; readonly corrections: readonly Correction[] };

/** This many statements are remembered: the first above zero, and the newest; of repetitions then only where they begin and end. */
const MAX_STATED = 40;
/** More corrections than these of one conversion are no corrections any more: they cancel it. */
const MAX_CORRECTIONS = 40;

const NO_PAYOUTS: Payouts = { stated: [], corrections: [] };

/** @param text what {@link writePayouts} has written */
export function readPayouts(text: string): Payouts {
	return text === "" ? NO_PAYOUTS : (JSON.parse(text) as Payouts);
}

export function writePayouts(payouts: Payouts): string {
	return JSON.stringify(payouts);
}

/** Notes a statement in its place. */
export function state(payouts: Payouts, statement: Stated): Payouts {
	const stated = insert(payouts.stated, statement);
	const [first] = stated.filter(([, micros]) => micros > 0);
	const kept = stated.length > MAX_STATED ? stated.filter(isEndOfRun).slice(-MAX_STATED) : stated;
	return { ...payouts, stated: first === undefined || kept.includes(first) ? kept : [first, ...kept] };
}

/** Notes a correction in its place; the same one again counts from where it was first made. */
export function correct(payouts: Payouts, correction: Correction): Payouts {
	const [, , content] = correction;
	const all = insert(payouts.corrections, correction);
	const first = all.find(([, , other]) => other === content);
	const corrections = all.filter((other) => other === first || other[2] !== content);
	return { ...payouts, corrections: corrections.slice(-(MAX_CORRECTIONS + 1)) };
}

/** What the word of a statement meant when it came; null where that is not known. */
export function meaningOf({ stated }: Payouts, intakeId: string): ConversionStatus | null {
	return stated.find(([id]) => id === intakeId)?.[3] ?? null;
}

/** Whether a payout above zero was stated before. */
export function wasPositiveBefore({ stated }: Payouts, intakeId: string): boolean {
	return stated.some(([id, micros]) => micros > 0 && id < intakeId);
}

/**
 * Whether the last of what was stated, in the order of receipt, leaves the conversion cancelled: by its word, by a payout below zero, or by
 * one of zero after one above zero. What only repeats something from before a cancellation, or is about an earlier event, reopens nothing,
 * though the queue brought it first.
 */
function isLeftCancelled({ stated }: Payouts): boolean {
	const seen = new Set<string>();
	let isCancelled = false;
	let wasPositive = false;
	let standsFrom = Number.NEGATIVE_INFINITY;
	for (const one of stated) {
		const [, micros, , meaning, eventAt = standsFrom] = one;
		const cancels = meaning === "cancelled" || micros < 0 || (micros === 0 && wasPositive);
		const reopens = !isCancelled || isStatement(one) || (!seen.has(saidIn(one)) && eventAt >= standsFrom);
		if (cancels || reopens) {
			isCancelled = cancels;
			standsFrom = eventAt;
		}
		if (!cancels) seen.add(saidIn(one));
		wasPositive ||= micros > 0;
	}
	return isCancelled;
}

/**
 * What is to be paid, and whether the conversion is taken back: by what was stated ({@link isLeftCancelled}), or by corrections that leave
 * nothing or are of another currency.
 * @param speaker intake id of the statement that speaks in the conversion; where it is none of them, there are corrections only
 * @param currency of the conversion
 */
export function totalOf(payouts: Payouts, speaker: string, currency: string): { payoutMicros: number; isReversed: boolean } {
	const { stated, corrections } = payouts;
	const at = stated.findIndex(([id]) => id === speaker);
	const micros = stated[at]?.[1] ?? 0;
	const since = beginningOf(stated, at);
	const counted = corrections.filter(([id]) => id > since);
	const own = counted.filter(([, , , of]) => of === null || of === currency);
	const payoutMicros = Math.max(
		-MAX_AMOUNT_MICROS,
		own.reduce((sum, [, correction]) => sum + correction, micros),
	);
	const isCorrectedAway = counted.length > 0 && (payoutMicros <= 0 || own.length < counted.length || counted.length > MAX_CORRECTIONS);
	return { payoutMicros, isReversed: isCorrectedAway || isLeftCancelled(payouts) };
}

/** From where on a statement stands: a repetition, with nothing else stated between, begins with what it repeats. */
function beginningOf(stated: readonly Stated[], at: number): string {
	let first = at;
	while (first > 0 && repeatsOneBefore(stated, first)) first--;
	return stated[first]?.[0] ?? "";
}

/** Of statements that only repeat each other the first and the last: what is between tells nothing. */
function isEndOfRun(_: Stated, at: number, stated: readonly Stated[]): boolean {
	return !repeatsOneBefore(stated, at) || !repeatsOneBefore(stated, at + 1);
}

/** What a platform's statement says repeats nothing; a postback after it may repeat that. */
function repeatsOneBefore(stated: readonly Stated[], at: number): boolean {
	const [before, one] = [stated[at - 1], stated[at]];
	return before !== undefined && one !== undefined && !isStatement(one) && saidIn(one) === saidIn(before);
}

function isStatement([id, , content]: Stated): boolean {
	return content === id;
}

function saidIn([, , content, , , said = content]: Stated): string {
	return said;
}

function insert<Entry extends readonly [string, ...unknown[]]>(entries: readonly Entry[], entry: Entry): Entry[] {
	return [...entries.filter(([id]) => id !== entry[0]), entry].sort(([a], [b]) => (a < b ? -1 : 1));
}
