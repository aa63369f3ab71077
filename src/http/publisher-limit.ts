/** How many calls a publisher may make in a minute, beside those of the interface, which nothing limits. */
import { jsonResponse } from "../lib/http.ts";
import { logErrorOnce } from "../lib/log-limit.ts";
import { PerMinute } from "../lib/per-minute.ts";
import { MINUTE_MS, SECOND_MS } from "../lib/time.ts";
import { CALLING_LIMIT, PUBLISHER_LIMIT, PUBLISHER_SECONDS } from "./limits.ts";

export type PublisherLimitDeps = {
	now: () => number;
	/** Counts for all isolates of a place; absent where no limit is bound: then each counts for itself. */
	shared: { limit: (of: { key: string }) => Promise<{ success: boolean }> } | undefined;
};

/** `calling`: of calls that make us call the publisher's address. `session`: of someone who is signed in to the console, by its hash. */
export type Policy = "publisher" | "calling" | "session";

/** The answer's headers, those of the IETF's draft "RateLimit header fields for HTTP"; and the whole answer where it is too much. */
export type Taken = { headers: Record<string, string>; refused: Response | null };

const LIMITS: Record<Policy, number> = { publisher: PUBLISHER_LIMIT, calling: CALLING_LIMIT, session: PUBLISHER_LIMIT };

/** All parts share one instance. */
export class PublisherLimit {
	readonly #deps: PublisherLimitDeps;
	readonly #perMinute = new PerMinute();

	constructor(deps: PublisherLimitDeps) {
		this.#deps = deps;
	}

	/** Counts a call of a publisher, or of a session. What is left is told as far as this isolate knows. */
	async take(id: string, policy: Policy = "publisher"): Promise<Taken> {
		const now = this.#deps.now();
		const limit = LIMITS[policy];
		const count = this.#perMinute.count(`${policy} ${id}`, now);
		const isAllowed = count <= limit && (policy === "calling" || (await this.#isAllowed(id)));
		const seconds = Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / SECOND_MS);
		const headers = {
			"ratelimit-policy": `"${policy}";q=${limit};w=${PUBLISHER_SECONDS}`,
			ratelimit: `"${policy}";r=${isAllowed ? limit - count : 0};t=${seconds}`,
		};
		if (isAllowed) return { headers, refused: null };
		return { headers, refused: jsonResponse({ error: "Too many requests" }, 429, { ...headers, "retry-after": String(seconds) }) };
	}

	/** Where the limit fails it limits nothing. */
	async #isAllowed(id: string): Promise<boolean> {
		try {
			return (await this.#deps.shared?.limit({ key: id }))?.success ?? true;
		} catch (error) {
			logErrorOnce("publishers.limit_failed", error, this.#deps.now());
			return true;
		}
	}
}
