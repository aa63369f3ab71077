/** /operator/adjustments: what was paid wrongly is taken back, and what was taken wrongly given back. */
import { Hono } from "hono";
import { actorOf } from "../http/actor.ts";
import { readBody, readDryRun, readQuery } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import { adjust, previewAdjustment } from "./adjust.ts";
import { adjustmentSchema, listSchema } from "./adjustment-request.ts";
import type { AdjustingDeps } from "./deps.ts";
import { listAdjustments } from "./list-adjustments.ts";

export function adjustmentRoutes(adjusting: AdjustingDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listAdjustments(adjusting.db, readQuery(listSchema, c.req.query()))));
	app.post("/", async (c) => {
		const deps = { ...adjusting, actor: actorOf(c) };
		const isDryRun = readDryRun(c.req.query());
		const request = await readBody(c.req.raw, adjustmentSchema);
		return jsonResponse(await (isDryRun ? previewAdjustment(deps, request) : adjust(deps, request)));
	});
	return app;
}
