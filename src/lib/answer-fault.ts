import { answerAway, isAwayError } from "./away.ts";
import { jsonResponse } from "./http.ts";
import { logError } from "./log.ts";
import { logAway } from "./log-limit.ts";
import { requestIdOf } from "./request-id.ts";

/** 503 where what was needed is away, and a 500 that says nothing; the log says exactly what it was. */
export function answerFault(error: unknown, request: Request): Response {
	const now = Date.now();
	if (isAwayError(error)) {
		logAway(error, new URL(request.url).pathname, requestIdOf(request, now), now);
		return answerAway(request);
	}
	logError("request.failed", error, { request: requestIdOf(request, now) });
	return jsonResponse({ error: "Internal error" }, 500);
}
