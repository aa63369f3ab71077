/** GET /operator/clicks. */
import { Hono } from "hono";
import type { Database } from "../../db/client.ts";
import { jsonResponse } from "../../lib/http.ts";
import { readClicksQuery } from "./clicks-request.ts";
import { listClicks } from "./list-clicks.ts";

export function clicksRoutes(db: Database): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listClicks(db, readClicksQuery(c.req.query()))));
	return app;
}
