/** How long calls of each publisher's address have taken this isolate's connections: one that answers slowly leaves some to the others. */
import { putBounded } from "../lib/bounded-map.ts";
import { MINUTE_MS } from "../lib/time.ts";

/** Of a minute of six connections, half. */
const MOST_MS_A_MINUTE = 3 * MINUTE_MS;
/** Publishers that are remembered. */
const MAX_KEPT = 5_000;

export class CallTimes {
	readonly #taken = new Map<string, { minute: number; milliseconds: number }>();
	/** The last minute in which any publisher's calls took more than they may. */
	#fullMinute = -1;

	/** Adds the time of a call that has ended. */
	add(publisherId: string, milliseconds: number, now: number): void {
		const minute = minuteOf(now);
		const known = this.#taken.get(publisherId);
		const taken = (known?.minute === minute ? known.milliseconds : 0) + milliseconds;
		putBounded(this.#taken, publisherId, { minute, milliseconds: taken }, MAX_KEPT);
		if (taken >= MOST_MS_A_MINUTE) this.#fullMinute = minute;
	}

	/** Whether any publisher waits for the next minute. */
	isAnyFull(now: number): boolean {
		return this.#fullMinute === minuteOf(now);
	}

	/** Whether this one does. */
	isFull(publisherId: string, now: number): boolean {
		const known = this.#taken.get(publisherId);
		return known?.minute === minuteOf(now) && known.milliseconds >= MOST_MS_A_MINUTE;
	}
}

function minuteOf(now: number): number {
	return Math.floor(now / MINUTE_MS);
}
