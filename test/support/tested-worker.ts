/**
 * The Worker as it is tested: what an earlier file of the same process has left in the queues is dropped. Those outlive `reset()`, and would be
 * tried again half a minute later.
 */
import worker from "../../src/worker.ts";
import { FILE_STARTED_AT } from "./file-start.ts";

export default {
	...worker,
	queue: (batch, env, ctx) => {
		const left = batch.messages.filter(({ timestamp }) => timestamp.getTime() < FILE_STARTED_AT);
		if (left.length === 0) return worker.queue(batch, env, ctx);
		for (const message of left) message.ack();
		const messages = batch.messages.filter((message) => !left.includes(message));
		if (messages.length === 0) return;
		const { queue, metadata } = batch;
		return worker.queue({ queue, metadata, messages, ackAll: () => batch.ackAll(), retryAll: (options) => batch.retryAll(options) }, env, ctx);
	},
} satisfies typeof worker;
