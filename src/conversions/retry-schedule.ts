import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/time.ts";

/** How long a postback may outrun its click. */
export const CLICK_WAIT_MS = DAY_MS;

/** How long a click id that looks like a click hash waits for the click of that hash; one of the ages below. */
export const HASH_WAIT_MS = 15 * MINUTE_MS;

/** Ages, since the first postback, at which a conversion without a click is tried again; the last ends the wait. */
const WAITING_AGES_MS = [1, 2, 5, 15, 30].map((minutes) => minutes * MINUTE_MS).concat([1, 3, 6, 12, 24].map((hours) => hours * HOUR_MS));

/** An unmatched one is looked at daily for this long: its click may come late, from a replayed dead letter. */
const UNMATCHED_UNTIL_MS = 30 * DAY_MS;

/** When a conversion without a click is tried next; null where never, but for a new postback. */
export function nextRetryAt(firstReceivedAt: number, now: number): number | null {
	const age = now - firstReceivedAt;
	const next = WAITING_AGES_MS.find((at) => at > age);
	if (next !== undefined) return firstReceivedAt + next;
	return age < UNMATCHED_UNTIL_MS ? now + DAY_MS : null;
}
