/** Composition root of the all-in-one Worker: the edge and the origin in one. Also what runs locally and in tests. */
import type { Env } from "./config.ts";
import { type Edge, edgeOf } from "./edge.ts";
import { originRoutes, runCron } from "./origin.ts";

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
	fetch(request, env, ctx) {
		const whole = wholeOf(env);
		return whole.bid(request, ctx) ?? whole.app.fetch(request, env, ctx);
	},
	scheduled: (controller, env) => runCron(controller, env),
} satisfies ExportedHandler<Env>;
