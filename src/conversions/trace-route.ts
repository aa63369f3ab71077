import { Hono } from "hono";
import * as v from "valibot";
import type { Database } from "../db/client.ts";
import { readBody } from "../http/read-input.ts";
import { MAX_CLICK_ID_LENGTH } from "../lib/click-id.ts";
import { jsonResponse } from "../lib/http.ts";
import { traceConversion } from "./trace.ts";

const ID = "must be a click hash, a publisher's click id, a transaction id or a postback's request id";
export const traceSchema = v.strictObject({
	id: v.pipe(v.string(ID), v.trim(), v.nonEmpty(ID), v.maxLength(MAX_CLICK_ID_LENGTH, ID)),
});

/** POST /operator/trace with `{"id": …}`. */
export function traceRoutes(db: Database): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const { id } = await readBody(c.req.raw, traceSchema);
		return jsonResponse(await traceConversion(db, id));
	});
	return app;
}
