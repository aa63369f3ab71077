/** GET /api/clicks: what became of each click of the publisher that asks. */
import { Hono } from "hono";
import type { Database } from "../db/client.ts";
import { answerHttpError } from "../http/errors.ts";
import type { KeyOwners } from "../keys/key-owners.ts";
import { jsonResponse, methodNotAllowed, unauthorized } from "../lib/http.ts";
import { readClicksQuery } from "./clicks-request.ts";
import { readClicks } from "./read-clicks.ts";

export type PublisherApiDeps = { db: Database; keys: KeyOwners; now: () => number };

export function publisherApiRoutes(deps: PublisherApiDeps): Hono {
	const app = new Hono();
	app.get("/clicks", async (c) => {
		const owner = await deps.keys.find("access_key", c.req.header("AccessKey"), (promise) => c.executionCtx.waitUntil(promise));
		if (owner === null) return unauthorized();
		const clicks = await readClicks(deps.db, owner, readClicksQuery(c.req.query(), deps.now()));
		return clicks === null ? unauthorized() : jsonResponse(clicks, 200, { "cache-control": "no-store", vary: "AccessKey" });
	});
	app.all("/clicks", () => methodNotAllowed("GET, HEAD"));
	app.onError(answerHttpError);
	return app;
}
