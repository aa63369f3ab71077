/** How long calls of publishers' addresses have taken this isolate's connections: those that answer slowly leave some to the others. */
import { putBounded } from "../lib/bounded-map.ts";
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";

/** Of a minute of six connections, half: for all slow calls together, and for any one publisher's. */
const MOST_MS_A_MINUTE = 3 * MINUTE_MS;
/** A call that takes longer is slow, and so is an address whose calls do on average. */
const SLOW_MS = SECOND_MS;
/** What the newest call counts in that average: one that had no answer in time makes no quick address slow. */
const NEWEST_PART = 1 / 12;
/** Publishers that are remembered. */
const MAX_KEPT = 5_000;

/** Calls a minute of those that have to wait, at most one of each publisher's: so that none waits behind another's thousands. */
const MAX_EXTRA = 10;

type Taken = { minute: number; milliseconds: number };

export class CallTimes {
	readonly #publishers = new Map<string, { taken: Taken; average: number; extraMinute: number }>();
	#extra = { minute: -1, calls: 0 };
	/** By slow calls, whoever's. */
	#slow: Taken | undefined;
	/** The last minute in which any calls took all that they may. */
	#fullMinute = -1;

	/** Adds the time of a call that has ended. */
	add(publisherId: string, milliseconds: number, now: number): void {
		const minute = minuteOf(now);
		const known = this.#publishers.get(publisherId);
		const taken = addTo(known?.taken, minute, milliseconds);
		const before = known?.average ?? milliseconds;
		const average = before + (milliseconds - before) * NEWEST_PART;
		putBounded(this.#publishers, publisherId, { taken, average, extraMinute: known?.extraMinute ?? -1 }, MAX_KEPT);
		if (milliseconds > SLOW_MS) this.#slow = addTo(this.#slow, minute, milliseconds);
		if (isFull(taken, minute) || isFull(this.#slow, minute)) this.#fullMinute = minute;
	}

	/** Whether any publisher waits for the next minute. */
	doesAnyWait(now: number): boolean {
		return this.#fullMinute === minuteOf(now);
	}

	/**
	 * Whether this one may be called, which is then to be done. One that answers quickly may though others are slow, and of the others a few
	 * may, each once a minute.
	 */
	mayCall(publisherId: string, now: number): boolean {
		const known = this.#publishers.get(publisherId);
		if (known === undefined) return true;
		const minute = minuteOf(now);
		if (isFull(known.taken, minute)) return false;
		if (known.average <= SLOW_MS || !isFull(this.#slow, minute)) return true;
		const calls = this.#extra.minute === minute ? this.#extra.calls : 0;
		if (known.taken.minute === minute || known.extraMinute === minute || calls >= MAX_EXTRA) return false;
		this.#extra = { minute, calls: calls + 1 };
		known.extraMinute = minute;
		return true;
	}
}

function addTo(taken: Taken | undefined, minute: number, milliseconds: number): Taken {
	return { minute, milliseconds: (taken?.minute === minute ? taken.milliseconds : 0) + milliseconds };
}

function isFull(taken: Taken | undefined, minute: number): boolean {
	return taken?.minute === minute && taken.milliseconds >= MOST_MS_A_MINUTE;
}

function minuteOf(now: number): number {
	return Math.floor(now / MINUTE_MS);
}
