/** GET /operator/bids: how often publishers were bid for, and why not. */
import { Hono } from "hono";
import type { Database } from "../db/client.ts";
import { jsonResponse } from "../lib/http.ts";
import { readBidsQuery } from "./bids-request.ts";
import { readBids } from "./read-bids.ts";

export function bidsRoutes({ db, now }: { db: Database; now: () => number }): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await readBids(db, readBidsQuery(c.req.query(), now()))));
	return app;
}
