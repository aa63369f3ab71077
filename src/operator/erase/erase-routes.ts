/** POST /operator/erase: removes what is known of a user, and gives a receipt. */
import { Hono } from "hono";
import { actorOf } from "../../http/actor.ts";
import { readBody, readDryRun } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { type EraseDeps, erase } from "./erase.ts";
import type { Erased } from "./erase-answer.ts";
import { eraseSchema, readPosition, type Subject } from "./erase-request.ts";

export function eraseRoutes(deps: EraseDeps): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const { uid, click, cursor } = await readBody(c.req.raw, eraseSchema);
		const subject: Subject = uid === undefined ? { click: click ?? "" } : { uid };
		const erased: Erased = await erase(deps, subject, readPosition(cursor), isDryRun ? null : actorOf(c));
		return jsonResponse(erased);
	});
	return app;
}
