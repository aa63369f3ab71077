/**
 * The Worker on both engines at once. No binding tells it of PostgreSQL, which a mirror stands before: so that an invocation has connections of
 * its own, as workerd's sockets belong to one, they are made here.
 */
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import worker, { withoutLeftConnections } from "./tested-worker.ts";

const BOUND = { POSTGRES: true };

export default {
	fetch: (request, env, ctx) => withoutLeftConnections(BOUND, ctx, (ctx) => worker.fetch(request, env, ctx)),
	scheduled: (controller, env) => withConnectionsOf(BOUND, () => worker.scheduled(controller, env)),
	queue: (batch, env, ctx) => withConnectionsOf(BOUND, () => worker.queue(batch, env, ctx)),
} satisfies typeof worker;
