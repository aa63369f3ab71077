import { Hono } from "hono";
import * as v from "valibot";
import { readBody } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import type { BiddingDeps } from "./deps.ts";
import { type ExplainInput, explainBid } from "./explain.ts";

const text = v.pipe(v.string(), v.nonEmpty());
/** What an OpenRTB bid request, or a Serving Engine query, would get. */
export const explainSchema = v.union([
	v.pipe(
		v.object({ publisher_identity: text, request: v.pipe(v.unknown(), v.description("An OpenRTB bid request.")) }),
		v.transform(({ publisher_identity: identity, request }): ExplainInput => ({ endpoint: "openrtb", identity, request })),
	),
	v.pipe(
		v.object({ publisher_id: text, query: v.record(v.string(), v.string()) }),
		v.transform(({ publisher_id: publisherId, query }): ExplainInput => ({ endpoint: "serving-engine", publisherId, query })),
	),
]);
const FAULT = {
	path: "",
	message:
		"must hold publisher_identity and request (an OpenRTB bid request), or publisher_id and query (an object of Serving Engine parameters)",
};

/** POST /operator/explain: what a request would get, and why. */
export function explainRoutes(deps: BiddingDeps): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const question = await readBody(c.req.raw, explainSchema, FAULT);
		return jsonResponse(await explainBid(deps, question, (promise) => c.executionCtx.waitUntil(promise)));
	});
	return app;
}
