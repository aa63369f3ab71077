/** Reads which campaigns are paused, since a cap is met: KV → isolate memory. */
import type { WaitUntil } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import type { LogLimit } from "../lib/log-limit.ts";
import { PAUSED_HEAD_KEY, PAUSED_KEY, parsePauses, readPausesVersion } from "./format.ts";

/** Pauses are re-read this often, in the background. */
const PAUSES_TTL_MS = 10_000;
/** A refresh that has not ended after this long is taken for lost. */
export const REFRESH_LOST_MS = 10_000;

type Values = ReadonlyMap<string, string | null>;

export class PausedCampaigns {
	readonly #get: (keys: string[]) => Promise<Values>;
	readonly #errors: LogLimit;
	#paused: ReadonlySet<number> = new Set();
	/** What the head called them when they were read; null where they must be read again, whatever it says. */
	#version: string | null = null;
	#readAt = 0;
	#startedAt = Number.NEGATIVE_INFINITY;

	constructor(get: (keys: string[]) => Promise<Values>, errors: LogLimit) {
		this.#get = get;
		this.#errors = errors;
	}

	has(campaignId: number): boolean {
		return this.#paused.has(campaignId);
	}

	/** What a reading of them asks KV for. */
	get keys(): string[] {
		return this.#version === null ? [PAUSED_HEAD_KEY, PAUSED_KEY] : [PAUSED_HEAD_KEY];
	}

	/** Reads them in the background where they are old. */
	refresh(now: number, waitUntil: WaitUntil): void {
		if (now - this.#readAt <= PAUSES_TTL_MS || now - this.#startedAt <= REFRESH_LOST_MS) return;
		this.#startedAt = now;
		waitUntil(this.#read(now));
	}

	/** Takes those that were just published in this very isolate, without waiting for KV to tell. */
	adopt(campaignIds: readonly number[], now: number): void {
		this.#paused = new Set(campaignIds);
		this.#version = null;
		this.#readAt = now;
	}

	/**
	 * Takes pauses where the head names others than those that are known. There may be tens of thousands, and they change rarely: while the
	 * head stays, it alone is read. The two keys come in no order: what is read under a head that is not its own is taken, and read again.
	 */
	async take(values: Values, now: number): Promise<void> {
		const named = readPausesVersion(values.get(PAUSED_HEAD_KEY) ?? null);
		this.#readAt = now;
		if (named !== null && named === this.#version) return;
		const text = values.has(PAUSED_KEY) ? values.get(PAUSED_KEY) : (await this.#get([PAUSED_KEY])).get(PAUSED_KEY);
		const pauses = text == null ? null : parsePauses(text);
		// An unreadable value keeps the last good one; that both keys are missing means that nothing is paused.
		if (pauses !== null) this.#paused = new Set(pauses.campaigns);
		else if (text == null && named === null) this.#paused = new Set();
		this.#version = pauses?.version !== undefined && pauses.version === named ? named : null;
	}

	async #read(now: number): Promise<void> {
		try {
			await this.take(await this.#get(this.keys), now);
		} catch (error) {
			if (this.#errors.allows("pauses", now)) logError("book.pauses_failed", error);
		}
		// Tried, with whatever result: the last good ones hold until the next try.
		this.#readAt = now;
		this.#startedAt = Number.NEGATIVE_INFINITY;
	}
}
