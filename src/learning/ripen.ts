import type { Cell } from "./cell.ts";
import type { CellHistory } from "./cohorts.ts";
import { countedPayout } from "./payouts.ts";
import { HISTORY_DAYS } from "./settings.ts";

/** A cell's history as one sum: what factors are learned from. Click-days weigh less the older they are. */
export type RipeCell = {
	cell: Cell;
	/** As they were counted. */
	clicks: number;
	/** Clicks that we know the earnings of: weighted, times maturity; `ripeSquared` with squared weights. */
	ripe: number;
	ripeSquared: number;
	/** Weighted clicks, whatever their age. */
	weighted: number;
	/** Counted earnings, weighted. Micro-dollars. */
	earnedMicros: number;
	/** The same of the newest days alone, unweighted, by window of BREAK_WINDOWS: what tells a break. */
	recentRipe: number[];
	recentEarnedMicros: number[];
	/** Clicks of the last week, unweighted: what tells a starved campaign. */
	weekClicks: number;
};

/**
 * The newest days, whose clicks are compared with what was learned before them. More than one, since a break shows soon where
 * conversions come at once, and late where they take weeks.
 */
export const BREAK_WINDOWS = [7, 14, 28] as const;

const WEEK_DAYS = 7;

export type RipenRules = {
	/** The day that is beginning: the ones before it are known whole. */
	today: number;
	/** Of the campaign's platform, from `maturities`. */
	maturity: readonly number[];
	capMicros: number;
	/** By age in days, see `forgetting`; what is older than a break weighs less. */
	weights: readonly number[];
};

/** What clicks still weigh, by age in days. */
export function forgetting(halfLifeDays: number): number[] {
	return Array.from({ length: HISTORY_DAYS + 1 }, (_, age) => 2 ** (-age / halfLifeDays));
}

/** Adds up a cell's history; null where nothing of it is known yet. */
export function ripenCell(history: CellHistory, rules: RipenRules): RipeCell | null {
	const { today, maturity, weights, capMicros } = rules;
	const lastMaturity = maturity[maturity.length - 1] ?? 1;
	const ripe: RipeCell = {
		cell: history.cell,
		clicks: 0,
		ripe: 0,
		ripeSquared: 0,
		weighted: 0,
		earnedMicros: 0,
		recentRipe: BREAK_WINDOWS.map(() => 0),
		recentEarnedMicros: BREAK_WINDOWS.map(() => 0),
		weekClicks: 0,
	};
	for (const { day, clicks } of history.clicks) {
		const age = today - 1 - day;
		const weight = weights[age] ?? 0;
		if (weight === 0) continue;
		const known = clicks * (maturity[age] ?? lastMaturity);
		ripe.clicks += clicks;
		ripe.weighted += clicks * weight;
		ripe.ripe += known * weight;
		ripe.ripeSquared += known * weight * weight;
		addRecent(ripe.recentRipe, age, known);
		if (age < WEEK_DAYS) ripe.weekClicks += clicks;
	}
	if (ripe.clicks === 0) return null;
	for (const { day, sizeClass, conversions, netMicros } of history.earnings) {
		const age = today - 1 - day;
		const weight = weights[age] ?? 0;
		if (weight === 0 || conversions <= 0) continue;
		const counted = conversions * countedPayout(sizeClass, netMicros / conversions, capMicros);
		ripe.earnedMicros += counted * weight;
		addRecent(ripe.recentEarnedMicros, age, counted);
	}
	return ripe;
}

function addRecent(sums: number[], age: number, amount: number): void {
	for (let at = 0; at < BREAK_WINDOWS.length; at++) if (age < (BREAK_WINDOWS[at] ?? 0)) sums[at] = (sums[at] ?? 0) + amount;
}
