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

export default {
	fetch: (request, env, ctx) => serve(request, env, ctx, wholeOf),
	scheduled: (controller, env) => runCron(controller, env),
	queue: (batch, env, ctx) => runQueue(batch, env, ctx),
} satisfies ExportedHandler<Env>;
