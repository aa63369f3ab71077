/**
 * Keeps clicks that the queue refused in KV, many under one key: KV may be written a thousand times a second, but what is there must be
 * read and deleted key by key.
 *
 * Each batch has a key of its own, which is written once and never changed: no isolate waits for another, and whoever empties KV deletes
 * nothing that it has not read. A click's promise ends only once KV has its batch, so that none is given up that is not there. Correctness
 * never rests on another request: one whose batch is not kept in time, because the request that was to put it is gone, keeps its click itself.
 */
import { within } from "../lib/async.ts";
import { CLICK_BATCH_PREFIX, KEPT_CLICK_PREFIX, type KeptMetadata } from "../lib/kept-keys.ts";
import type { ClickMessage } from "./message.ts";

export type KeptStore = { put(key: string, value: string, options: { metadata: KeptMetadata }): Promise<void> };

/**
 * How long the first click of a batch waits for others. Requests keep the isolate alive until KV has their clicks; one that crashes takes
 * with it what it has collected, so this is not longer than the cron needs to keep pace with so many keys.
 */
const COLLECT_MS = 2_000;
/** UTF-16 units of a batch: KV reads 25 MB at once. */
export const MAX_BATCH_LENGTH = 200_000;
const PUT_TIMEOUT_MS = 3_000;
const PUT_PAUSES_MS = [1_100, 3_000];
const PUTS_MS = (PUT_PAUSES_MS.length + 1) * PUT_TIMEOUT_MS + PUT_PAUSES_MS.reduce((sum, ms) => sum + ms);
/** How long a click waits for another request to keep it. */
const COMPANY_TIMEOUT_MS = COLLECT_MS + PUTS_MS + 500;

/** The longest that {@link ClickBatches.keep} takes, milliseconds. */
export const MAX_KEEPING_MS = COMPANY_TIMEOUT_MS + PUT_TIMEOUT_MS;

type Batch = { texts: string[]; length: number; full: PromiseWithResolvers<void>; kept: PromiseWithResolvers<boolean> };

/** One an isolate. */
export class ClickBatches {
	readonly #store: KeptStore;
	readonly #pause: (milliseconds: number) => Promise<void>;
	/** The batch that still takes clicks. */
	#open: Batch | null = null;

	/** @param pause waits before a try is repeated, in milliseconds */
	constructor(store: KeptStore, pause: (milliseconds: number) => Promise<void>) {
		this.#store = store;
		this.#pause = pause;
	}

	/** Resolves once KV has the click. @throws what the last try threw */
	async keep(click: ClickMessage): Promise<void> {
		const text = JSON.stringify(click);
		const batch = this.#open;
		if (batch === null || batch.length + text.length > MAX_BATCH_LENGTH) {
			batch?.full.resolve();
			return this.#lead(click.id, text);
		}
		batch.texts.push(text);
		batch.length += text.length;
		if (await within(batch.kept.promise, COMPANY_TIMEOUT_MS, false)) return;
		if (this.#open === batch) this.#open = null;
		await this.#put(KEPT_CLICK_PREFIX + click.id, text, 1);
	}

	/** The first of a batch waits for others, and then keeps all that have come. */
	async #lead(id: string, text: string): Promise<void> {
		const batch: Batch = { texts: [text], length: text.length, full: Promise.withResolvers(), kept: Promise.withResolvers() };
		this.#open = batch;
		await within(batch.full.promise, COLLECT_MS, undefined);
		if (this.#open === batch) this.#open = null;
		try {
			await this.#putPatiently(CLICK_BATCH_PREFIX + id, `[${batch.texts.join(",")}]`, batch.texts.length);
			batch.kept.resolve(true);
		} catch (error) {
			batch.kept.resolve(false);
			throw error;
		}
	}

	/** With more than a second between two tries: KV takes no more of a key. */
	async #putPatiently(key: string, value: string, count: number): Promise<void> {
		for (const pauseMs of PUT_PAUSES_MS) {
			try {
				return await this.#put(key, value, count);
			} catch {
				// Tried again; only the last failure tells something.
				await this.#pause(pauseMs);
			}
		}
		await this.#put(key, value, count);
	}

	async #put(key: string, value: string, count: number): Promise<void> {
		const put = this.#store.put(key, value, { metadata: { count } }).then(() => true);
		if (!(await within(put, PUT_TIMEOUT_MS, false))) throw new Error("KV did not answer in time");
	}
}
