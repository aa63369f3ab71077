import { Hono } from "hono";
import * as v from "valibot";
import type { Database } from "../db/client.ts";
import { HttpError, jsonResponse } from "../lib/http.ts";
import { traceConversion } from "./trace.ts";

export const traceSchema = v.object({ id: v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(300)) });

/** POST /operator/trace with `{"id": …}`. The operator's routes have checked the key. */
export function traceRoutes(db: Database): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const question = v.safeParse(traceSchema, await c.req.json().catch(() => null));
		if (!question.success) {
			throw new HttpError(422, {
				error: "Validation failed",
				faults: [{ path: "id", message: "must be a click hash, a publisher's click id or a transaction id" }],
				fault_count: 1,
			});
		}
		return jsonResponse(await traceConversion(db, question.output.id));
	});
	return app;
}
