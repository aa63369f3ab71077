/** When a campaign stands still because of a cap: pure. */
import type { BudgetBasis, Cap } from "../../lib/enums.ts";
import { SECOND_MS } from "../../lib/time.ts";

/** The caps of a campaign; null where there is none. */
export type CampaignCaps = { dailyClickCap: number | null; dailyBudgetMicros: number | null; totalBudgetMicros: number | null };

/** Billed clicks and what they count for in the campaign's budgets, in micro-dollars. */
export type Spent = { clicks: number; micros: number };

/** What a click counts for in budgets of a basis, micro-dollars. */
export function budgetCostOf(basis: BudgetBasis, { bidMicros, grossMicros }: { bidMicros: number; grossMicros: number }): number {
	return basis === "gross" ? grossMicros : bidMicros;
}

export function hasCap({ dailyClickCap, dailyBudgetMicros, totalBudgetMicros }: CampaignCaps): boolean {
	return dailyClickCap !== null || dailyBudgetMicros !== null || totalBudgetMicros !== null;
}

/**
 * From the click that decides a pause to the last bid that has not heard of it: the queue's wait for a full batch, KV's 60 seconds
 * until a changed key is seen everywhere, and the ten seconds between two looks of an isolate at it.
 */
export const PAUSE_PROPAGATION_MS = (2 + 60 + 10) * SECOND_MS;

/** The present pace is that of the last minute or a little more. */
export const RATE_WINDOW_MS = 60 * SECOND_MS;

/** Clicks are summed by ten seconds to tell the pace. */
export const RATE_SLOT_MS = 10 * SECOND_MS;

export function rateSlotOf(at: number): number {
	return Math.floor(at / RATE_SLOT_MS);
}

/**
 * Fewer clicks than this in the window are no rate: at such a pace the propagation brings fewer than thirty clicks, and a guess
 * from a handful of them would keep small caps from ever being reached.
 */
const LEAST_CLICKS_OF_A_RATE = 20;

/**
 * What the present pace brings before a pause is known everywhere. Rounded down: a cap is met by whole clicks.
 * @param recent billed clicks of the last `windowMs` milliseconds
 */
export function expectAhead(recent: Spent, windowMs: number): Spent {
	if (recent.clicks < LEAST_CLICKS_OF_A_RATE) return { clicks: 0, micros: 0 };
	const share = PAUSE_PROPAGATION_MS / windowMs;
	return { clicks: Math.floor(recent.clicks * share), micros: Math.floor(recent.micros * share) };
}

/** The shortest window that a pace is measured in is {@link RATE_WINDOW_MS}. */
const MAX_AHEAD_PER_RECENT = PAUSE_PROPAGATION_MS / RATE_WINDOW_MS;

/**
 * Whether {@link decidePause} may find a cap met, however fast the day's clicks came: where not, the pace need not be asked for.
 * @param today billed clicks of the campaign's present day; all clicks that make its pace are among them
 * @param ever  billed clicks of all days
 */
export function isNearCap(caps: CampaignCaps, today: Spent, ever: Spent): boolean {
	const ahead = { clicks: today.clicks * MAX_AHEAD_PER_RECENT, micros: today.micros * MAX_AHEAD_PER_RECENT };
	return decidePause(caps, today, ever, ahead) !== null;
}

/**
 * Whether a budget is met, or will be by what is under way; also where it has less left than its clicks cost on average, for which
 * bids would go out that are not paid.
 */
function isBudgetMet(budgetMicros: number, spent: Spent, ahead: Spent): boolean {
	const each = spent.clicks === 0 ? 0 : Math.floor(spent.micros / spent.clicks);
	return spent.micros + ahead.micros >= budgetMicros || spent.micros + each > budgetMicros;
}

/**
 * The cap for which a campaign has to pause, or null where none is met: one counts as met as soon as what is still under way
 * would meet it.
 * @param today billed clicks of the present day on the campaign's clocks
 * @param ever  billed clicks of all days
 * @param ahead see {@link expectAhead}
 */
export function decidePause(caps: CampaignCaps, today: Spent, ever: Spent, ahead: Spent): Cap | null {
	const { dailyClickCap, dailyBudgetMicros, totalBudgetMicros } = caps;
	if (totalBudgetMicros !== null && isBudgetMet(totalBudgetMicros, ever, ahead)) return "total_budget";
	if (dailyClickCap !== null && today.clicks + ahead.clicks >= dailyClickCap) return "daily_clicks";
	if (dailyBudgetMicros !== null && isBudgetMet(dailyBudgetMicros, today, ahead)) return "daily_budget";
	return null;
}
