import { logError } from "../../lib/log.ts";
import { type CallbackMessage, callbackMessage } from "./message.ts";

/** The most messages that a queue takes at once. */
const MOST_AT_ONCE = 100;

export type CallbackQueue = Queue<CallbackMessage>;

/**
 * Puts outbox ids on the queue. Never throws: the rows are the truth, and the sweep brings again what no queue carries.
 * @param delaySeconds from when they are to be delivered
 */
export async function enqueueCallbacks(queue: CallbackQueue, ids: readonly string[], delaySeconds = 0): Promise<void> {
	try {
		for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
			await queue.sendBatch(ids.slice(at, at + MOST_AT_ONCE).map((id) => ({ body: callbackMessage(id), delaySeconds })));
		}
	} catch (error) {
		logError("callbacks.not_queued", error, { count: ids.length });
	}
}
