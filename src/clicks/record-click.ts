/** Records a click after its redirect was answered: in the queue, or where that refuses it, in KV until the cron takes it. */
import { logError } from "../lib/log.ts";
import type { ClickMessage } from "./message.ts";
import { hashUserAgent } from "./user-agent.ts";

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

const SEND_PAUSE_MS = 100;
const SEND_PAUSES_MS = [1_000];
const KEEP_PAUSES_MS = [1_100, 3_000];

/**
 * Adds the hash of the user agent to a click and sends it to the queue. Never rejects. A click that neither the queue nor KV takes
 * is told in the log, one line a click, so that they can be counted.
 */
export function recordClick(store: ClickStore, click: ClickMessage, userAgent: string | null): Promise<unknown> {
	const userAgentHash = userAgent === null || userAgent === "" ? null : hashUserAgent(userAgent);
	if (userAgentHash instanceof Promise) {
		return userAgentHash.then((arrived) => {
			click.userAgentHash = arrived;
			return send(store, click);
		});
	}
	if (userAgentHash !== null) click.userAgentHash = userAgentHash;
	return send(store, click);
}

function send(store: ClickStore, click: ClickMessage): Promise<unknown> {
	return store.queue.send(click).catch(() => sendAgain(store, click));
}

async function sendAgain(store: ClickStore, click: ClickMessage): Promise<void> {
	try {
		await store.pause(SEND_PAUSE_MS);
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
