/** /operator/learning: how prices are learned, what they were, and what is advised. */
import { Hono } from "hono";
import { actorOf } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { readBody, readQuery } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import type { ImportDeps } from "../network/import-network.ts";
import { readUndoOptions } from "../network/import-options.ts";
import { acceptAdvice } from "./accept-advice.ts";
import { acceptSchema, adviceQuerySchema, pricesQuerySchema, rebuildSchema } from "./learning-requests.ts";
import { showAdvice } from "./read-advice.ts";
import { hasCampaign } from "./read-learned.ts";
import { rebuildLearning } from "./rebuild.ts";
import { showPrices } from "./show-prices.ts";
import { showLearningState } from "./show-state.ts";

export function learningRoutes(deps: ImportDeps): Hono {
	const app = new Hono();
	app.get("/", async () => jsonResponse(await showLearningState(deps.db, deps.now())));
	app.get("/prices", async (c) => {
		const query = readQuery(pricesQuerySchema, c.req.query());
		const prices = await showPrices(deps.db, query, deps.now());
		if (prices === null) throw noCampaign(query.campaign);
		return jsonResponse(prices);
	});
	app.get("/advice", async (c) => {
		const query = readQuery(adviceQuerySchema, c.req.query());
		if (query.campaign !== undefined && !(await hasCampaign(deps.db, query.campaign))) throw noCampaign(query.campaign);
		return jsonResponse(await showAdvice(deps.db, query, deps.now()));
	});
	app.post("/advice/accept", async (c) => {
		const options = readUndoOptions(c.req, actorOf(c));
		return jsonResponse(await acceptAdvice(deps, await readBody(c.req.raw, acceptSchema), options));
	});
	app.post("/rebuild", async (c) => jsonResponse(await rebuildLearning(deps, await readBody(c.req.raw, rebuildSchema), actorOf(c))));
	return app;
}

function noCampaign(campaign: number): Error {
	return invalidInput([{ path: "campaign", message: `there is no campaign ${campaign}` }]);
}
