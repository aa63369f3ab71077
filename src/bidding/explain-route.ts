import { Hono } from "hono";
import * as v from "valibot";
import { readBody } from "../http/read-input.ts";
import type { WaitUntil } from "../lib/async.ts";
import { jsonResponse } from "../lib/http.ts";
import { notAList } from "../lib/shapes.ts";
import type { BiddingDeps } from "./deps.ts";
import { type AskedFor, type ExplainInput, explainBid } from "./explain.ts";
import type { Explanation } from "./explain-answer.ts";

const text = v.pipe(v.string(), v.nonEmpty());
/** What an OpenRTB bid request, or a Serving Engine query, would get. */
export const explainSchema = v.union([
	v.pipe(
		v.strictObject({ publisher_identity: text, request: v.pipe(v.unknown(), v.description("An OpenRTB bid request.")) }),
		v.transform(({ publisher_identity: identity, request }): ExplainInput => ({ endpoint: "openrtb", identity, request })),
	),
	v.pipe(
		v.strictObject({
			publisher_id: text,
			query: v.union([
				v.pipe(v.string(), v.description("A Serving Engine query as it is sent.")),
				v.pipe(notAList(v.record(v.string(), v.string())), v.description("Its parameters, where none is repeated.")),
			]),
		}),
		v.transform(
			({ publisher_id: publisherId, query }): ExplainInput => ({
				endpoint: "serving-engine",
				publisherId,
				query: typeof query === "string" ? query : new URLSearchParams(query).toString(),
			}),
		),
	),
]);
const FAULT = {
	path: "",
	message:
		"must hold publisher_identity and request (an OpenRTB bid request), or publisher_id and query (a Serving Engine query, or an object of its parameters), and nothing else",
};

/** How the prices of those who could bid were made, where they are learned; of none where they are not. */
export type ExplainPrices = (asked: AskedFor) => Promise<Explanation["prices"]>;

/** A decision explained to operators, with how its prices were made. */
export async function explainWithPrices(
	deps: BiddingDeps,
	explainPrices: ExplainPrices,
	input: ExplainInput,
	waitUntil: WaitUntil,
): Promise<Explanation> {
	const publisher =
		input.endpoint === "openrtb"
			? ({ kind: "publisher_identity", value: input.identity } as const)
			: ({ kind: "publisher_id", value: input.publisherId } as const);
	const asked: AskedFor = { publisher, sourceId: null, priced: [] };
	const explanation = await explainBid(deps, input, waitUntil, asked);
	const prices = await explainPrices(asked);
	return prices === undefined ? explanation : { ...explanation, prices };
}

/** POST /operator/explain: what a request would get, and why. */
export function explainRoutes(deps: BiddingDeps, explainPrices: ExplainPrices): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const question = await readBody(c.req.raw, explainSchema, FAULT);
		return jsonResponse(await explainWithPrices(deps, explainPrices, question, (promise) => c.executionCtx.waitUntil(promise)));
	});
	return app;
}
