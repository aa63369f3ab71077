/** Composition root of the all-in-one Worker: the edge and the origin in one. Also what runs locally and in tests. */
import type { Hono } from "hono";
import type { Env } from "./config.ts";
import { edgeOf } from "./edge.ts";
import { originRoutes, runCron } from "./origin.ts";

const joined = new WeakSet<Env>();

function appOf(env: Env): Hono {
	const { app, book } = edgeOf(env);
	if (!joined.has(env)) {
		app.route("/", originRoutes(env, book));
		joined.add(env);
	}
	return app;
}

export default {
	fetch: (request, env, ctx) => appOf(env).fetch(request, env, ctx),
	scheduled: (controller, env) => runCron(controller, env),
} satisfies ExportedHandler<Env>;
