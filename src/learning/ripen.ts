import type { Cell } from "./cell.ts";
import type { CellHistory } from "./cohorts.ts";
import { countedPayout } from "./payouts.ts";

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
	/** The same of the newest days alone, unweighted: what tells a break. */
	recentRipe: number;
	recentEarnedMicros: number;
};

/** Days whose clicks are compared with what was learned before them. */
export const BREAK_WINDOW_DAYS = 14;

export type RipenRules = {
	/** The day that is beginning: the ones before it are known whole. */
	today: number;
	/** Of the campaign's platform, from `maturities`. */
	maturity: readonly number[];
	capMicros: number;
	halfLifeDays: number;
	/** After a break: days before this one are forgotten. */
	forgottenBefore: number;
};

/** Adds up a cell's history; null where nothing of it is known yet. */
export function ripenCell(history: CellHistory, rules: RipenRules): RipeCell | null {
	const { today, maturity, halfLifeDays, forgottenBefore, capMicros } = rules;
	const lastMaturity = maturity[maturity.length - 1] ?? 1;
	const ripe: RipeCell = {
		cell: history.cell,
		clicks: 0,
		ripe: 0,
		ripeSquared: 0,
		weighted: 0,
		earnedMicros: 0,
		recentRipe: 0,
		recentEarnedMicros: 0,
	};
	for (const { day, clicks } of history.clicks) {
		if (day >= today || day < forgottenBefore) continue;
		const age = today - 1 - day;
		const known = clicks * (maturity[age] ?? lastMaturity);
		const weight = 2 ** (-age / halfLifeDays);
		ripe.clicks += clicks;
		ripe.weighted += clicks * weight;
		ripe.ripe += known * weight;
		ripe.ripeSquared += known * weight * weight;
		if (age < BREAK_WINDOW_DAYS) ripe.recentRipe += known;
	}
	if (ripe.clicks === 0) return null;
	for (const { day, conversions, netMicros } of history.earnings) {
		if (day >= today || day < forgottenBefore || conversions <= 0) continue;
		const age = today - 1 - day;
		const counted = conversions * countedPayout(netMicros / conversions, capMicros);
		ripe.earnedMicros += counted * 2 ** (-age / halfLifeDays);
		if (age < BREAK_WINDOW_DAYS) ripe.recentEarnedMicros += counted;
	}
	return ripe;
}
