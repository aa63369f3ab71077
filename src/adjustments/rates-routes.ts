/** /operator/rates: what follows of exchange rates that were corrected. */
import { Hono } from "hono";
import { readBody, readInput } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import { adjustmentQuerySchema } from "./adjustment-request.ts";
import type { AdjustmentDeps } from "./deps.ts";
import { previewRevalue, revalue } from "./revalue.ts";
import { revalueSchema } from "./revalue-request.ts";

export function ratesRoutes(deps: AdjustmentDeps): Hono {
	const app = new Hono();
	app.post("/revalue", async (c) => {
		const { dry_run } = readInput(adjustmentQuerySchema, c.req.query());
		const request = await readBody(c.req.raw, revalueSchema);
		return jsonResponse(await (dry_run ? previewRevalue(deps, request) : revalue(deps, request)), 200, { "cache-control": "no-store" });
	});
	return app;
}
