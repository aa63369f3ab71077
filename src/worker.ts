/** Composition root of the all-in-one Worker: the edge and the origin in one. Also what runs locally and in tests. */
import type { Env } from "./config.ts";
import { type Edge, edgeOf, serve } from "./edge.ts";
import { originRoutes, runCron, runQueue } from "./origin.ts";

const joined = new WeakSet<Env>();

function wholeOf(env: Env): Edge {
	const edge = edgeOf(env);
	if (!joined.has(env)) {
		edge.app.route("/", originRoutes(env, edge.book));
		joined.add(env);
	}
	return edge;
}

/** A pause reaches the bids of this isolate at once. */
function adoptPauses(env: Env): (campaignIds: readonly number[]) => void {
	return (campaignIds) => edgeOf(env).book.adoptPauses(campaignIds, Date.now());
}

export default {
	fetch: (request, env, ctx) => serve(request, env, ctx, wholeOf),
	scheduled: (controller, env) => runCron(controller, env, adoptPauses(env)),
	queue: (batch, env, _ctx) => runQueue(batch, env, adoptPauses(env)),
} satisfies ExportedHandler<Env>;
