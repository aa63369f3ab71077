/** GET /api/days: what a publisher verifies its own copy of its records by. */
import { Hono } from "hono";
import type { Database } from "../db/client.ts";
import { answerHttpError } from "../http/errors.ts";
import type { PublisherLimit } from "../http/publisher-limit.ts";
import { assertGivenOnce } from "../http/read-input.ts";
import type { KeyOwners } from "../keys/key-owners.ts";
import { jsonResponse, methodNotAllowed, unauthorized } from "../lib/http.ts";
import { readDaysQuery } from "./days-request.ts";
import { readDays } from "./read-days.ts";

export function dayRoutes(deps: { db: Database; keys: KeyOwners; now: () => number; limit: PublisherLimit }): Hono {
	const app = new Hono();
	app.get("/days", async (c) => {
		const owner = await deps.keys.find("access_key", c.req.header("AccessKey"), (promise) => c.executionCtx.waitUntil(promise));
		if (owner === null) return unauthorized();
		const { headers, refused } = await deps.limit.take(owner);
		if (refused !== null) return refused;
		assertGivenOnce(c.req.queries());
		const days = await readDays(deps.db, owner, readDaysQuery(c.req.query(), deps.now()));
		return days === null ? unauthorized() : jsonResponse(days, 200, { ...headers, "cache-control": "no-store", vary: "AccessKey" });
	});
	app.all("/days", () => methodNotAllowed("GET, HEAD"));
	app.onError(answerHttpError);
	return app;
}
