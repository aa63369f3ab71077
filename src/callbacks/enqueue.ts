import { logError } from "../lib/log.ts";
import { type CallbackMessage, callbackMessage } from "./message.ts";

/** The most messages that a queue takes at once. */
const MAX_SENT = 100;

export type CallbackQueue = Queue<CallbackMessage>;

/**
 * Puts outbox ids on the queue. Never throws: the rows are the truth, and the sweep brings again what no queue carries.
 * @param delaySeconds from when they are to be delivered
 */
export async function enqueueCallbacks(queue: CallbackQueue, ids: readonly string[], delaySeconds = 0): Promise<void> {
	try {
		for (let at = 0; at < ids.length; at += MAX_SENT) {
			await queue.sendBatch(ids.slice(at, at + MAX_SENT).map((id) => ({ body: callbackMessage(id), delaySeconds })));
		}
	} catch (error) {
		logError("callbacks.not_queued", error, { count: ids.length });
	}
}
