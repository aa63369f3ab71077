import { Hono } from "hono";
import type { Actor } from "../../src/http/actor.ts";

/** Whoever acts in tests that call a verb itself. */
export const ACTOR: Actor = { name: "ada", role: "admin", requestId: "request-1" };

/** Routes as they stand behind the operator's key. */
export function actedBy(routes: Hono, actor = ACTOR): Hono {
	const app = new Hono();
	app.use("*", async (c, next) => {
		c.set("actor", actor);
		await next();
	});
	return app.route("/", routes);
}
