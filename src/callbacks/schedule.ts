/** When a callback that was not confirmed is tried again. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../lib/time.ts";

/** The wait after each failed attempt; after the last one's failure the callback is exhausted. */
export const RETRY_WAITS_MS: readonly number[] = [
	5 * SECOND_MS,
	MINUTE_MS,
	5 * MINUTE_MS,
	30 * MINUTE_MS,
	2 * HOUR_MS,
	6 * HOUR_MS,
	12 * HOUR_MS,
	24 * HOUR_MS,
];

/** A wait is lengthened by chance, up to this part of it, so that callbacks that failed together do not return together. */
const JITTER = 0.2;

/** A receiver may ask for no longer than this. */
const MAX_RETRY_AFTER_MS = DAY_MS;

export type FailedAttempt = {
	/** How many waits of the schedule are used up. */
	step: number;
	now: number;
	/** What the receiver asked for in `Retry-After`. */
	retryAfterMs: number | null;
	/** 0 to 1. */
	chance: number;
};

/** When to try again, Unix milliseconds: never before the receiver's `Retry-After`. Null where the schedule has ended. */
export function scheduleRetry({ step, now, retryAfterMs, chance }: FailedAttempt): number | null {
	const wait = RETRY_WAITS_MS[step];
	if (wait === undefined) return null;
	return now + Math.max(Math.round(wait * (1 + JITTER * chance)), retryAfterMs ?? 0);
}

/** Has letters and a time, as each form of a date: of `wait 45` JavaScript would make a year. */
const A_DATE = /[a-z].*\d:\d\d/i;

/** The wait that a `Retry-After` header asks for: seconds or an HTTP date, at most a day. Null where there is none to be read. */
export function readRetryAfter(header: string | null, now: number): number | null {
	const text = header?.trim() ?? "";
	const wait = /^\d+$/.test(text) ? Number(text) * SECOND_MS : A_DATE.test(text) ? Date.parse(text) - now : Number.NaN;
	return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_MS);
}
