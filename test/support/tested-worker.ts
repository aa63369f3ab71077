/** The Worker as it is tested: what an earlier file of the same process has left in a queue is dropped, which would be tried again for hours. */
import worker from "../../src/worker.ts";
import { FILE_STARTED_AT } from "./file-start.ts";

export default {
	...worker,
	queue: async (batch, env, ctx) => {
		const isOld = ({ timestamp }: Message) => timestamp.getTime() < FILE_STARTED_AT;
		const old = batch.messages.filter(isOld);
		if (old.length === 0) return worker.queue(batch, env, ctx);
		for (const message of old) message.ack();
		const messages = batch.messages.filter((message) => !isOld(message));
		if (messages.length === 0) return;
		const { queue, metadata } = batch;
		const rest: MessageBatch = { queue, metadata, messages, ackAll: () => batch.ackAll(), retryAll: (options) => batch.retryAll(options) };
		return worker.queue(rest, env, ctx);
	},
} satisfies typeof worker;
