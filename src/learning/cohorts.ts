import { DAY_MS } from "../lib/time.ts";
import type { Cell } from "./cell.ts";
import { sizeClassOf } from "./size-class.ts";

/** The UTC day of a time, as days since the epoch: a cohort is what was clicked in a cell on one of them. */
export function dayOf(at: number): number {
	return Math.floor(at / DAY_MS);
}

/** What a cell's clicks of a day were bid at. Rows add up: every field but the day is a sum. */
export type ClickRow = {
	day: number;
	clicks: number;
	/** What was promised to publishers who are paid by click. Micro-dollars. */
	paidMicros: number;
};

/**
 * What a cell's clicks of a day earned in conversions of one size: by size, so that how much of a payout counts can be decided
 * afterwards, from all payouts, in whatever order they came.
 */
export type EarningRow = { day: number; sizeClass: number; conversions: number; netMicros: number };

/** How many conversions of a cell's clicks of a day were taken back. */
export type TakenBackRow = { day: number; conversions: number };

/** All that is kept of a cell. */
export type CellHistory = {
	cell: Cell;
	clicks: readonly ClickRow[];
	earnings: readonly EarningRow[];
	takenBack: readonly TakenBackRow[];
};

/** Stands for the publishers whose delays are not learned of singly. */
export const OTHER_PUBLISHERS = "";

/**
 * Conversions of a platform's clicks of a day from a publisher, by how many days later we settled them: first approved, and since taken
 * back.
 */
export type DelayRow = { publisher: string; day: number; lag: number; arrivals: number; reversals: number };

/** What counts of a conversion: null where it never was approved. */
export type ConversionFacts = {
	clickedAt: number;
	approvedAt: number;
	/** When it was taken back; null where it stands. */
	reversedAt: number | null;
	/** Net of what was taken back in parts. Micro-dollars. */
	netMicros: number;
	/** Whether a person has confirmed it, see `sizeClassOf`. */
	isConfirmed: boolean;
};

export type ConversionChange = { earnings: EarningRow[]; takenBack: TakenBackRow[]; delays: Omit<DelayRow, "publisher">[] };

/**
 * What a change of a conversion adds to the rows of its click's cell, and of its platform and publisher. Adding the changes of a conversion one after another
 * gives what its last state alone gives, so that increments equal a rebuild.
 */
export function conversionChange(before: ConversionFacts | null, after: ConversionFacts | null): ConversionChange {
	const change: ConversionChange = { earnings: [], takenBack: [], delays: [] };
	if (before !== null) add(change, before, -1);
	if (after !== null) add(change, after, 1);
	return change;
}

function add(change: ConversionChange, facts: ConversionFacts, sign: 1 | -1): void {
	const day = dayOf(facts.clickedAt);
	const lag = (at: number) => Math.max(0, dayOf(at) - day);
	change.delays.push({ day, lag: lag(facts.approvedAt), arrivals: sign, reversals: 0 });
	if (facts.reversedAt !== null) {
		change.delays.push({ day, lag: lag(facts.reversedAt), arrivals: 0, reversals: sign });
		change.takenBack.push({ day, conversions: sign });
	} else if (facts.netMicros > 0)
		change.earnings.push({
			day,
			sizeClass: sizeClassOf(facts.netMicros, facts.isConfirmed),
			conversions: sign,
			netMicros: sign * facts.netMicros,
		});
}
