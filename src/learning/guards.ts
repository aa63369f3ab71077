import type { CellHistory } from "./cohorts.ts";
import { countedPayout } from "./payouts.ts";
import type { LearningSettings } from "./settings.ts";

const LEAST_CAUTION = 0.4;
const LEAST_GUARD = 0.25;
/** Click-days whose cost is held against what they earn. */
const BALANCE_DAYS = 28;

/** What bids to publishers who are paid by click are held back by, as parts. */
export type Guards = { caution: number; overpaid: number };

/** Guards that fall by this part are in force at once; those that rise wait for a whole step of publishing. */
const LEAST_FALL = 0.01;

/** Whether a guard has moved enough to be put in force: down at once, up by whole steps, so that the book is not rewritten for nothing. */
export function isGuardMoved(inForce: Guards, next: Guards, publishStep: number): boolean {
	const moved = (next.caution * next.overpaid) / (inForce.caution * inForce.overpaid);
	return moved <= 1 - LEAST_FALL || moved >= 1 + publishStep;
}

/**
 * The part of what is believed that is bid to publishers who are paid by click: the less was seen, the less is ventured.
 * @param strength 0: all of it @param observed equivalent conversions of the campaign
 */
export function caution(strength: number, kappa: number, observed: number): number {
	return Math.max(LEAST_CAUTION, 1 - strength / Math.sqrt(kappa + observed));
}

/** Those of a campaign that nothing is known of. */
export function firstGuards({ caution: strength, kappa }: Pick<LearningSettings, "caution" | "kappa">): Guards {
	return { caution: caution(strength, kappa.campaign, 0), overpaid: 1 };
}

/** A campaign's clicks that were paid by click: what was promised for them, and what they have earned and will. Micro-dollars. */
export type Balance = { paidMicros: number; projectedMicros: number };

/** What a campaign is bid at while it has been paid more than its clicks are projected to earn, as a part; 1 where it was not. */
export function overpaidGuard({ paidMicros, projectedMicros }: Balance, allowanceMicros: number): number {
	const covered = projectedMicros + allowanceMicros;
	return paidMicros <= covered ? 1 : Math.max(LEAST_GUARD, covered / paidMicros);
}

/**
 * A cell's part of its campaign's balance before today: what has been earned, less what of it is yet to be taken back, and for the part
 * that is not known yet what is expected of it now.
 * @param maturity  see `maturityAt`: by age in days
 * @param epcMicros what the cell is now believed to earn a click
 */
export function balanceOf(
	history: CellHistory,
	today: number,
	maturity: Float64Array,
	capMicros: number,
	loading: number,
	epcMicros: number,
): Balance {
	const balance = { paidMicros: 0, projectedMicros: 0 };
	const from = today - BALANCE_DAYS;
	for (const { day, clicks, paidMicros } of history.clicks) {
		if (day < from || day >= today) continue;
		const known = maturity[today - 1 - day] ?? 1;
		balance.paidMicros += paidMicros;
		balance.projectedMicros += clicks * epcMicros * Math.max(0, 1 - known);
	}
	for (const { day, sizeClass, conversions, netMicros } of history.earnings) {
		if (day < from || day >= today || conversions <= 0) continue;
		const earnedMicros = conversions * countedPayout(sizeClass, netMicros / conversions, capMicros) * (1 + loading);
		balance.projectedMicros += earnedMicros / Math.max(1, maturity[today - 1 - day] ?? 1);
	}
	return balance;
}
