import { Hono } from "hono";
import type { BiddingDeps } from "./deps.ts";
import { handleOpenRtb } from "./openrtb-route.ts";
import { handleServingEngine } from "./serving-engine-route.ts";

/** The two real-time endpoints. */
export function biddingRoutes(deps: BiddingDeps): Hono {
	const app = new Hono();
	for (const path of ["/openrtb", "/openrtb/*"]) {
		app.all(path, (c) => handleOpenRtb(deps, c.req.raw, (promise) => c.executionCtx.waitUntil(promise)));
	}
	app.all("/serving-engine", (c) => handleServingEngine(deps, c.req.raw, (promise) => c.executionCtx.waitUntil(promise)));
	return app;
}
