import { logError } from "../lib/log.ts";
import { MINUTE_MS } from "../lib/time.ts";

/** How many requests with unknown keys an isolate puts into the ledger in a minute: enough to see a platform with a wrong key. */
export const MAX_UNKNOWN_PER_MINUTE = 60;

type SharedLimit = { limit: (of: { key: string }) => Promise<{ success: boolean }> };

/** Keeps requests with unknown keys from filling the ledger: a number a minute for each isolate, and all isolates of a place together. */
export class UnknownKeyLimit {
	readonly #shared: SharedLimit | undefined;
	#minute = Number.NEGATIVE_INFINITY;
	#count = 0;

	/** @param shared the rate limit of the whole place, where one is bound */
	constructor(shared?: SharedLimit) {
		this.#shared = shared;
	}

	/** True where one more may be kept; takes it as kept then. Where the shared limit fails it limits nothing. */
	async allows(now: number): Promise<boolean> {
		const minute = Math.floor(now / MINUTE_MS);
		if (minute !== this.#minute) {
			this.#minute = minute;
			this.#count = 0;
		}
		if (this.#count >= MAX_UNKNOWN_PER_MINUTE) return false;
		this.#count++;
		if (this.#shared === undefined) return true;
		try {
			return (await this.#shared.limit({ key: "unknown-platform-key" })).success;
		} catch (error) {
			logError("postback.limit_failed", error);
			return true;
		}
	}
}
