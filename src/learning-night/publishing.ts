/** Where the hour that takes prices and guards a step on is kept: rows of `learning_work`. */
import type { FactorCursor } from "./publish-factors.ts";

/** How far it is. */
export const PUBLISHING = "publishing";
/** What it failed of, until one ends: JSON with `at` and `message`. */
export const PUBLISHING_FAULT = "publishing fault";

export type Publishing = {
	/** Hours since 1970. */
	hour: number;
	/** The night whose factors it publishes: the first hour after a night looks at the guards of all campaigns. */
	day: number;
	step: "guards" | "breaks" | "factors" | "key" | "done";
	after: number;
	/** Campaigns that are still to be looked at for breaks; null until they are known. */
	unsettled: number[] | null;
	/** Conversions that have changed since then are looked at. */
	since: number;
	factor: FactorCursor;
	/** When it began, however many runs it takes. Factors move by the time of their run: a day's limits are reckoned from when bids have them. */
	at: number;
	all: boolean;
};
