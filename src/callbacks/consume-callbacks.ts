/** The consumer of the queue `callbacks`. */
import { isPostgres } from "../db/client.ts";
import { keepUnreadable } from "../dead-letters/keep-unreadable.ts";
import { logError } from "../lib/log.ts";
import { type CallbackDeps, deliverCallback } from "./deliver-callback.ts";
import { readCallbackMessage } from "./message.ts";

/**
 * A Worker has six connections; while one waits for its answer, it is taken. On PostgreSQL the batch holds one to the database all the time:
 * a sixth call would wait for another to end, and the time in which it must be answered would run.
 */
const MAX_CONCURRENT = 6;
const MAX_CONCURRENT_ON_POSTGRES = 5;

/** How long a message rests whose delivery failed for a reason of our own, such as the database's. */
const RETRY_DELAY_SECONDS = 30;

/** Delivers what a batch names: different conversions side by side, one conversion in order. */
export async function consumeCallbacks(deps: CallbackDeps, batch: MessageBatch): Promise<void> {
	const waiting = batch.messages[Symbol.iterator]();
	const work = async (): Promise<void> => {
		for (let next = waiting.next(); next.done !== true; next = waiting.next()) await take(deps, next.value);
	};
	const length = isPostgres(deps.db) ? MAX_CONCURRENT_ON_POSTGRES : MAX_CONCURRENT;
	await Promise.all(Array.from({ length }, work));
}

async function take(deps: CallbackDeps, message: Message): Promise<void> {
	const id = readCallbackMessage(message.body);
	if (id === null) return keepUnreadable(deps, "callbacks", [message]);
	try {
		await deliverCallback(deps, id);
		message.ack();
	} catch (error) {
		logError("callback.not_delivered", error, { message: message.id });
		message.retry({ delaySeconds: RETRY_DELAY_SECONDS });
	}
}
