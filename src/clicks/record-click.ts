/** Records a click after its redirect was answered: in the queue, or where that refuses it, in KV until the cron takes it. */
import { logError } from "../lib/log.ts";
import type { ClickMessage } from "./message.ts";

/** KV keys of clicks that the queue refused: `click:kept:{id}`, a message as JSON. */
export const KEPT_PREFIX = "click:kept:";

export type ClickStore = {
	queue: { send(message: ClickMessage): Promise<unknown> };
	kept: { put(key: string, value: string): Promise<void> };
	/** Waits before a try is repeated, in milliseconds. */
	pause: (milliseconds: number) => Promise<void>;
};

/** Stands in for a queue that is not bound: every click is kept in KV. */
export const CLICKS_UNBOUND: ClickStore["queue"] = {
	send: () => Promise.reject(new Error("the queue CLICKS is not bound")),
};

const SEND_PAUSES_MS = [100, 1_000];
const KEEP_PAUSES_MS = [1_100, 3_000];

/** Never rejects. A click that neither the queue nor KV takes is told in the log, one line a click, so that they can be counted. */
export async function recordClick(store: ClickStore, click: ClickMessage): Promise<void> {
	try {
		await repeat(store, SEND_PAUSES_MS, () => store.queue.send(click));
	} catch (error) {
		logError("click.queue_refused", error, { click: click.id });
		await keepClick(store, click);
	}
}

async function keepClick(store: ClickStore, click: ClickMessage): Promise<void> {
	try {
		await repeat(store, KEEP_PAUSES_MS, () => store.kept.put(KEPT_PREFIX + click.id, JSON.stringify(click)));
	} catch (error) {
		const { id, hash, kind, publisher, brandId, campaignId, bidMicros, reason } = click;
		logError("click.lost", error, {
			click: id,
			hash,
			kind,
			publisher,
			brand: brandId,
			campaign: campaignId,
			bid_micros: bidMicros,
			reason,
		});
	}
}

/** @throws what the last try threw */
async function repeat(store: ClickStore, pausesMs: readonly number[], attempt: () => Promise<unknown>): Promise<void> {
	for (const pauseMs of pausesMs) {
		try {
			await attempt();
			return;
		} catch {
			// Tried again; only the last failure tells something.
			await store.pause(pauseMs);
		}
	}
	await attempt();
}
