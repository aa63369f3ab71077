/** /operator/rates: what follows of exchange rates that were corrected. */
import { Hono } from "hono";
import { actorOf } from "../http/actor.ts";
import { readBody, readDryRun } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import type { AdjustingDeps } from "./deps.ts";
import { previewRevalue, revalue } from "./revalue.ts";
import { revalueSchema } from "./revalue-request.ts";

export function ratesRoutes(adjusting: AdjustingDeps): Hono {
	const app = new Hono();
	app.post("/revalue", async (c) => {
		const deps = { ...adjusting, actor: actorOf(c) };
		const isDryRun = readDryRun(c.req.query());
		const request = await readBody(c.req.raw, revalueSchema);
		return jsonResponse(await (isDryRun ? previewRevalue(deps, request) : revalue(deps, request)));
	});
	return app;
}
