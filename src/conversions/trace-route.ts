import { Hono } from "hono";
import * as v from "valibot";
import type { Database } from "../db/client.ts";
import { readBody } from "../http/read-input.ts";
import { MAX_CLICK_ID_LENGTH } from "../lib/click-id.ts";
import { jsonResponse } from "../lib/http.ts";
import { traceConversion } from "./trace.ts";

export const traceSchema = v.object({ id: v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(MAX_CLICK_ID_LENGTH)) });
const FAULT = { path: "id", message: "must be a click hash, a publisher's click id, a transaction id or a postback's request id" };

/** POST /operator/trace with `{"id": …}`. */
export function traceRoutes(db: Database): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const { id } = await readBody(c.req.raw, traceSchema, FAULT);
		return jsonResponse(await traceConversion(db, id));
	});
	return app;
}
