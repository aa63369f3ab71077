/** GET /operator/audit: who did what. */
import { Hono } from "hono";
import type { Database } from "../db/client.ts";
import { readQuery } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import { auditQuerySchema } from "./audit-request.ts";
import { listAudit } from "./list-audit.ts";

export function auditRoutes({ db }: { db: Database }): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listAudit(db, readQuery(auditQuerySchema, c.req.query()))));
	return app;
}
