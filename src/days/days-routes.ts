/** GET /api/days: what a publisher verifies its own copy of its records by. */
import { Hono } from "hono";
import { methodNotAllowed } from "../lib/http.ts";
import { answerOwner, type PublisherDeps } from "../publisher-api/answer-publisher.ts";
import { readDaysQuery } from "./days-request.ts";
import { readDays } from "./read-days.ts";

export function dayRoutes(deps: PublisherDeps): Hono {
	const app = new Hono();
	app.get(
		"/days",
		answerOwner(deps, (owner, c) => readDays(deps.db, owner, readDaysQuery(c.req.query(), deps.now()))),
	);
	app.all("/days", () => methodNotAllowed("GET, HEAD"));
	return app;
}
