/** /operator/problems/postbacks: what arrived and needs a person, and what is sent through again once that is mended. */
import { Hono } from "hono";
import type { SettleDeps } from "../../conversions/settle-postbacks.ts";
import { actorOf } from "../../http/actor.ts";
import { readBody, readDryRun } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { type ProblemsDeps, readProblems } from "./read-problems.ts";
import { replayPostbacks } from "./replay.ts";
import { readProblemsQuery, replaySchema, toReplayRequest } from "./replay-request.ts";

export function problemsRoutes(deps: ProblemsDeps & SettleDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await readProblems(deps, readProblemsQuery(c.req.query(), deps.now()))));
	app.post("/replay", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const request = toReplayRequest(await readBody(c.req.raw, replaySchema), deps.now());
		return jsonResponse(await replayPostbacks(deps, actorOf(c), request, isDryRun));
	});
	return app;
}
