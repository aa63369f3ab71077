/** Addresses that keep presenting keys nobody has. Past the limit only what is known to be a key is looked at; a valid one always is. */
import { putBounded } from "../lib/bounded-map.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { connectionOf } from "../lib/ip.ts";
import { logErrorOnce } from "../lib/log-limit.ts";
import { SECOND_MS } from "../lib/time.ts";

/** How long the unknown keys of an address that failed too often are refused. */
const REFUSED_MS = 10 * SECOND_MS;
/** Addresses an isolate remembers, the first refused out first. */
const MAX_REFUSED = 10_000;

export type FailedKeysDeps = {
	now: () => number;
	/** Counts failed keys by address; absent where no limit is bound. */
	limit: { limit: (of: { key: string }) => Promise<{ success: boolean }> } | undefined;
};

/** The failed keys of all endpoints, by address: an IPv4 address or an IPv6 /64. All parts share one instance. */
export class FailedKeys {
	readonly #deps: FailedKeysDeps;
	readonly #refused = new Map<string, number>();

	constructor(deps: FailedKeysDeps) {
		this.#deps = deps;
	}

	/** Whole seconds for which the unknown keys of a request's address are refused still; 0 where they are looked up. */
	secondsRefused(request: Request): number {
		if (this.#refused.size === 0) return 0;
		const until = this.#refused.get(addressOf(request) ?? "") ?? 0;
		return Math.max(0, Math.ceil((until - this.#deps.now()) / SECOND_MS));
	}

	/** Notes that the request's key was not valid. Where the limit fails it limits nothing. */
	async count(request: Request): Promise<void> {
		const { now, limit } = this.#deps;
		const address = addressOf(request);
		if (limit === undefined || address === null) return;
		try {
			// The address itself goes nowhere, not even into the limiter.
			const { success } = await limit.limit({ key: await sha256Hex(address) });
			if (!success) putBounded(this.#refused, address, now() + REFUSED_MS, MAX_REFUSED);
		} catch (error) {
			logErrorOnce("keys.limit_failed", error, now());
		}
	}
}

function addressOf(request: Request): string | null {
	const address = request.headers.get("CF-Connecting-IP");
	return address === null ? null : (connectionOf(address) ?? address);
}
