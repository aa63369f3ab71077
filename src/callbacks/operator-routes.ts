/** /operator/callbacks: what an account manager sees and does. */
import { Hono } from "hono";
import { readBody, readInput } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import type { CallbackDeps } from "./deliver-callback.ts";
import { listCallbacks } from "./list-callbacks.ts";
import { replayCallbacks } from "./replay-callbacks.ts";
import { listSchema, replaySchema, testSchema } from "./requests.ts";
import { testCallback } from "./test-callback.ts";

export function callbackRoutes(deps: CallbackDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listCallbacks(deps, readInput(listSchema, c.req.query()))));
	app.post("/replay", async (c) => jsonResponse(await replayCallbacks(deps, await readBody(c.req.raw, replaySchema))));
	app.post("/test", async (c) => jsonResponse(await testCallback(deps, await readBody(c.req.raw, testSchema))));
	return app;
}
