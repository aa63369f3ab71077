/** POST /operator/database/move: moves the network database to PostgreSQL, some seconds a request. */
import { Hono } from "hono";
import { actorOf } from "../http/actor.ts";
import { readBody } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import { cancelMove, type MoveDeps, moveDatabase } from "./move.ts";
import { moveSchema } from "./move-answers.ts";

export function moveRoutes(deps: MoveDeps): Hono {
	const app = new Hono();
	app.post("/move", async (c) => {
		const { cancel, go_on: goOn } = await readBody(c.req.raw, moveSchema);
		return jsonResponse(await (cancel ? cancelMove(deps, actorOf(c)) : moveDatabase(deps, actorOf(c), !goOn)), 200, {
			"cache-control": "no-store",
		});
	});
	return app;
}
