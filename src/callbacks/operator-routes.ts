/** /operator/callbacks: what an account manager sees and does. The operator's key is checked by who mounts these. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { jsonResponse } from "../lib/http.ts";
import type { CallbackDeps } from "./deliver-callback.ts";
import { listCallbacks } from "./list-callbacks.ts";
import { replayCallbacks } from "./replay-callbacks.ts";
import { listSchema, replaySchema, testSchema } from "./requests.ts";
import { readInput } from "./select-callbacks.ts";
import { testCallback } from "./test-callback.ts";

const MAX_BODY_BYTES = 16 * 1024;

export function callbackRoutes(deps: CallbackDeps): Hono {
	const app = new Hono();
	app.use(
		bodyLimit({
			maxSize: MAX_BODY_BYTES,
			onError: () => jsonResponse({ error: `The body may hold at most ${MAX_BODY_BYTES} bytes` }, 413),
		}),
	);
	app.get("/", async (c) => jsonResponse(await listCallbacks(deps, readInput(listSchema, c.req.query()))));
	app.post("/replay", async (c) => jsonResponse(await replayCallbacks(deps, readInput(replaySchema, parseJson(await c.req.text())))));
	app.post("/test", async (c) => jsonResponse(await testCallback(deps, readInput(testSchema, parseJson(await c.req.text())))));
	return app;
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}
