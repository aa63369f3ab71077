import { MINUTE_MS } from "./time.ts";

/** Says what is worth a line of the log: one thing at most once a minute, however often it happens. */
export class LogLimit {
	readonly #loggedAt = new Map<string, number>();

	/** Whether `what` may be logged at `now`, Unix milliseconds; it then counts as logged. */
	allows(what: string, now: number): boolean {
		const last = this.#loggedAt.get(what);
		if (last !== undefined && Math.abs(now - last) < MINUTE_MS) return false;
		this.#loggedAt.set(what, now);
		return true;
	}
}
