import { Hono } from "hono";
import { jsonResponse } from "../../lib/http.ts";
import { readStatus, type StatusDeps } from "./read-status.ts";

/** GET /operator/status. */
export function statusRoutes(deps: StatusDeps): Hono {
	const app = new Hono();
	app.get("/", async () => jsonResponse(await readStatus(deps)));
	return app;
}
