/** /operator/callbacks: what an account manager sees and does. */
import { Hono } from "hono";
import { actorOf } from "../http/actor.ts";
import { readBody, readDryRun, readQuery, refuseQuery } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import type { CallbackDeps } from "./deliver-callback.ts";
import { listCallbacks } from "./list-callbacks.ts";
import { replayCallbacks } from "./replay-callbacks.ts";
import { listSchema, replaySchema, testSchema } from "./requests.ts";
import { testCallbackFor } from "./test-callback.ts";

export function callbackRoutes(deps: CallbackDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listCallbacks(deps, readQuery(listSchema, c.req.query()))));
	app.post("/replay", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const request = await readBody(c.req.raw, replaySchema);
		return jsonResponse(await replayCallbacks(deps, { ...request, dry_run: isDryRun || request.dry_run }, actorOf(c)));
	});
	app.post("/test", refuseQuery, async (c) => {
		return jsonResponse(await testCallbackFor(deps, actorOf(c), await readBody(c.req.raw, testSchema)));
	});
	return app;
}
