/** What network a visitor finds here. */
import { MANIFEST_KEY } from "../campaign-book/format.ts";
import type { KeyOwners } from "../keys/key-owners.ts";
import { inTime } from "../lib/away.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { logError } from "../lib/log.ts";
import { SECOND_MS } from "../lib/time.ts";

/** A platform key of the demo network, which anyone may know: where it is valid, the demo is loaded. */
export const DEMO_PLATFORM_KEY = "demo-platform-key-northwind";

/** Visitors ask for nothing more often than this. */
const KEPT_MS = 5 * SECOND_MS;
/** Nor do they wait longer for what the page can do without. */
const TIMEOUT_MS = 2 * SECOND_MS;

/** `unknown` where it cannot be read just now. */
export type NetworkState = "demo" | "own" | "nothing" | "unknown";

export type NetworkStateDeps = { keys: Pick<KeyOwners, "findPlatformByHash">; kv: KVNamespace; now: () => number };

/** The network's state, as it was within {@link KEPT_MS}. */
export class KeptNetworkState {
	readonly #deps: NetworkStateDeps;
	#state: NetworkState | null = null;
	#readAt = Number.NEGATIVE_INFINITY;

	constructor(deps: NetworkStateDeps) {
		this.#deps = deps;
	}

	async read(): Promise<NetworkState> {
		const now = this.#deps.now();
		if (this.#state !== null && now - this.#readAt < KEPT_MS) return this.#state;
		this.#readAt = now;
		this.#state = await readState(this.#deps);
		return this.#state;
	}
}

async function readState(deps: NetworkStateDeps): Promise<NetworkState> {
	try {
		return await inTime(findState(deps), TIMEOUT_MS, "the network");
	} catch (error) {
		logError("front_door.network_unknown", error);
		return "unknown";
	}
}

async function findState({ keys, kv, now }: NetworkStateDeps): Promise<NetworkState> {
	if ((await keys.findPlatformByHash(await sha256Hex(DEMO_PLATFORM_KEY), now())) !== null) return "demo";
	return (await kv.get(MANIFEST_KEY)) === null ? "nothing" : "own";
}
