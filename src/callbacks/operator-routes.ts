/** /operator/callbacks: what an account manager sees and does. */
import type { SQL } from "drizzle-orm";
import { Hono } from "hono";
import { auditStatement } from "../audit/audit-statement.ts";
import { type Actor, actorOf } from "../http/actor.ts";
import { readBody, readDryRun, readInput, refuseQuery } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import type { CallbackDeps } from "./deliver-callback.ts";
import { listCallbacks } from "./list-callbacks.ts";
import type { TestReport } from "./operator-answers.ts";
import { replayCallbacks } from "./replay-callbacks.ts";
import { listSchema, replaySchema, testSchema } from "./requests.ts";
import { type TestTarget, testCallback } from "./test-callback.ts";

export function callbackRoutes(deps: CallbackDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listCallbacks(deps, readInput(listSchema, c.req.query()))));
	app.post("/replay", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const request = await readBody(c.req.raw, replaySchema);
		return jsonResponse(await replayCallbacks(deps, { ...request, dry_run: isDryRun || request.dry_run }, actorOf(c)));
	});
	app.post("/test", refuseQuery, async (c) => {
		const target = await readBody(c.req.raw, testSchema);
		const report = await testCallback(deps, target);
		await deps.db.run(auditTest(actorOf(c), deps.now(), target, report));
		return jsonResponse(report);
	});
	return app;
}

/** A test changes nothing here, but calls someone. */
function auditTest(actor: Actor, at: number, target: TestTarget, { http_status, confirmed }: TestReport): SQL {
	const subject =
		"publisher" in target
			? { subjectKind: "publisher", subjectId: target.publisher }
			: { subjectKind: "address", subjectId: new URL(target.url).origin };
	return auditStatement(actor, at, { verb: "testCallback", ...subject, after: { http_status, confirmed } });
}
