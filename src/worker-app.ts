import type { Hono } from "hono";
import { answerAway, isAwayError } from "./lib/away.ts";
import { jsonResponse, methodNotAllowed } from "./lib/http.ts";
import { logError } from "./lib/log.ts";
import { logAway } from "./lib/log-limit.ts";
import { requestIdOf } from "./lib/request-id.ts";

/**
 * Gives a Worker's app what every one of them answers: `/health`, a 404 for what is nowhere, a 503 where what it needs is away, and a 500
 * for what else was thrown. Middleware that is to see `/health` has to be there before, and so has `/ready`, which each has in its own way.
 */
export function completeApp(app: Hono): void {
	app.get("/health", () => jsonResponse({ status: "ok" }));
	for (const path of ["/health", "/ready"]) app.all(path, () => methodNotAllowed("GET, HEAD"));
	app.notFound(() => jsonResponse({ error: "Not found" }, 404));
	app.onError((error, c) => {
		if (isAwayError(error)) {
			const now = Date.now();
			logAway(error, c.req.path, requestIdOf(c.req.raw, now), now);
			return answerAway(c.req.raw);
		}
		logError("request.failed", error, { request: requestIdOf(c.req.raw, Date.now()) });
		return jsonResponse({ error: "Internal error" }, 500);
	});
}
