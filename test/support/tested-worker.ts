/** The Worker as it is tested. What the runtime would do when an invocation has ended is done here: in tests none of them ends before its file. */
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import worker from "../../src/worker.ts";
import { FILE_STARTED_AT } from "./file-start.ts";

export default {
	...worker,
	fetch: (request, env, ctx) => withoutLeftConnections(env, ctx, (ctx) => worker.fetch(request, env, ctx)),
	// What an earlier file of the same process has left in a queue is dropped, which would be tried again for hours.
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

/** Closes the connections of a request once its work has ended, after its answer. A body that is read later has others. */
export function withoutLeftConnections(
	bindings: { POSTGRES?: unknown },
	ctx: ExecutionContext,
	answer: (ctx: ExecutionContext) => Response | Promise<Response>,
): Promise<Response> {
	const work: Promise<unknown>[] = [];
	const noted = Object.assign(Object.create(ctx), {
		waitUntil(promise: Promise<unknown>) {
			work.push(promise);
			ctx.waitUntil(promise);
		},
		passThroughOnException: () => ctx.passThroughOnException(),
	});
	const answered = Promise.withResolvers<Response>();
	const ended = withConnectionsOf(bindings, async () => {
		answered.resolve(answer(noted));
		await answered.promise;
		while (work.length > 0) await Promise.allSettled(work.splice(0));
	});
	ended.catch(answered.reject);
	return answered.promise;
}
