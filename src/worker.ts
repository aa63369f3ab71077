/** Composition root of the all-in-one Worker: the edge and the origin in one. Also what runs locally and in tests. */
import { runCron, runQueue } from "./background.ts";
import type { Env } from "./config.ts";
import { withConnections, withConnectionsOf } from "./db/postgres-connections.ts";
import { type Edge, edgeOf, serve } from "./edge.ts";
import { openOrigin } from "./origin.ts";

const joined = new WeakMap<Env, Edge>();

function wholeOf(env: Env): Edge {
	const known = joined.get(env);
	if (known !== undefined) return known;
	const edge = edgeOf(env);
	const origin = openOrigin(env, edge.book);
	edge.app.route("/", origin.app);
	edge.checks.push(origin.findFault);
	const whole: Edge = { ...edge, answer: (request, ctx) => edge.answer(request, ctx) ?? origin.answer(request, ctx) };
	joined.set(env, whole);
	return whole;
}

/** A pause reaches the bids of this isolate at once. */
function adoptPauses(env: Env): (campaignIds: readonly number[]) => void {
	return (campaignIds) => edgeOf(env).book.adoptPauses(campaignIds, Date.now());
}

export default {
	fetch: (request, env, ctx) => withConnections(env, () => serve(request, env, ctx, wholeOf)),
	scheduled: (controller, env) => withConnectionsOf(env, () => runCron(controller, env, adoptPauses(env))),
	queue: (batch, env, _ctx) => withConnectionsOf(env, () => runQueue(batch, env, adoptPauses(env))),
} satisfies ExportedHandler<Env>;
