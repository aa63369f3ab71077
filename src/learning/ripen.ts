import type { Cell } from "./cell.ts";
import type { CellHistory } from "./cohorts.ts";
import { WEEK_DAYS } from "./fold.ts";
import { countedPayout } from "./payouts.ts";
import { HISTORY_DAYS } from "./settings.ts";

/**
 * The newest days, whose clicks are compared with what was learned before them. More than one, since a break shows soon where
 * conversions come at once, and late where they take weeks.
 */
export const BREAK_WINDOWS = [7, 14, 28] as const;

/**
 * Histories of cells, each as one sum: what factors are learned from. Click-days weigh less the older they are. Columns of numbers, since
 * a night goes through them tens of times.
 */
export class RipeCells {
	/** Those of which clicks count; the columns are in their order. */
	readonly histories: CellHistory[] = [];
	/** Clicks that we know the earnings of: weighted, times maturity; `ripeSquared` with squared weights. */
	readonly ripe: Float64Array;
	readonly ripeSquared: Float64Array;
	/** Weighted clicks, whatever their age. */
	readonly weighted: Float64Array;
	/** Counted earnings, weighted. Micro-dollars. */
	readonly earnedMicros: Float64Array;
	/** The same of the newest days alone, unweighted, by window of BREAK_WINDOWS: what tells a break. */
	readonly recentRipe: readonly Float64Array[];
	readonly recentEarnedMicros: readonly Float64Array[];
	/** Clicks of the last week, unweighted: what tells a starved campaign. */
	readonly weekClicks: Float64Array;
	/** 1 where any click was promised something. */
	readonly paid: Uint8Array;

	constructor(most: number) {
		const column = () => new Float64Array(most);
		this.ripe = column();
		this.ripeSquared = column();
		this.weighted = column();
		this.earnedMicros = column();
		this.recentRipe = BREAK_WINDOWS.map(column);
		this.recentEarnedMicros = BREAK_WINDOWS.map(column);
		this.weekClicks = column();
		this.paid = new Uint8Array(most);
	}
}

export type RipenRules = {
	/** The day that is beginning: the ones before it are known whole. */
	today: number;
	/** See `maturityAt`: by age in days. */
	maturity: (cell: Cell) => Float64Array;
	capMicros: number;
	/** By age in days, see `forgetting`; what is older than a break weighs less. */
	weights: readonly number[];
};

/** What clicks still weigh, by age in days. */
export function forgetting(halfLifeDays: number): number[] {
	return Array.from({ length: HISTORY_DAYS + 1 }, (_, age) => 2 ** (-age / halfLifeDays));
}

/** Adds up cells' histories, but those of which nothing is known yet. */
export function ripenCells(histories: readonly CellHistory[], rules: RipenRules): RipeCells {
	const cells = new RipeCells(histories.length);
	for (const history of histories) {
		if (!addClicks(cells, history, rules)) continue;
		addEarnings(cells, history, rules);
		cells.histories.push(history);
	}
	return cells;
}

/** @returns whether any counts */
function addClicks(cells: RipeCells, history: CellHistory, rules: RipenRules): boolean {
	const { today, weights } = rules;
	const maturity = rules.maturity(history.cell);
	const at = cells.histories.length;
	let [counted, ripe, ripeSquared, weighted, weekClicks, paid] = [0, 0, 0, 0, 0, 0];
	for (const { day, clicks, paidMicros } of history.clicks) {
		if (paidMicros > 0) paid = 1;
		const age = today - 1 - day;
		const weight = weights[age] ?? 0;
		if (weight === 0) continue;
		const known = clicks * Math.min(1, maturity[age] ?? 1);
		counted += clicks;
		weighted += clicks * weight;
		ripe += known * weight;
		ripeSquared += known * weight * weight;
		addRecent(cells.recentRipe, at, age, known);
		if (age < WEEK_DAYS) weekClicks += clicks;
	}
	if (counted === 0) {
		for (const column of cells.recentRipe) column[at] = 0;
		return false;
	}
	cells.weighted[at] = weighted;
	cells.ripe[at] = ripe;
	cells.ripeSquared[at] = ripeSquared;
	cells.weekClicks[at] = weekClicks;
	cells.paid[at] = paid;
	return true;
}

function addEarnings(cells: RipeCells, history: CellHistory, rules: RipenRules): void {
	const { today, capMicros, weights } = rules;
	const maturity = rules.maturity(history.cell);
	const at = cells.histories.length;
	let earnedMicros = 0;
	for (const { day, sizeClass, conversions, netMicros } of history.earnings) {
		const age = today - 1 - day;
		const weight = weights[age] ?? 0;
		if (weight === 0 || conversions <= 0) continue;
		const stands = conversions / Math.max(1, maturity[age] ?? 1);
		const counted = stands * countedPayout(sizeClass, netMicros / conversions, capMicros);
		earnedMicros += counted * weight;
		addRecent(cells.recentEarnedMicros, at, age, counted);
	}
	cells.earnedMicros[at] = earnedMicros;
}

const LONGEST_WINDOW = Math.max(...BREAK_WINDOWS);

function addRecent(columns: readonly Float64Array[], at: number, age: number, amount: number): void {
	if (age >= LONGEST_WINDOW) return;
	for (const [window, column] of columns.entries()) if (age < (BREAK_WINDOWS[window] ?? 0)) column[at] = (column[at] ?? 0) + amount;
}
