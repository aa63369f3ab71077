import { Hono } from "hono";
import { actorOf } from "../../http/actor.ts";
import { jsonResponse } from "../../lib/http.ts";
import type { FeedKind } from "./feed-columns.ts";
import { readFeedOptions } from "./feed-options.ts";
import { type FeedDeps, importFeed } from "./import-feed.ts";

/** POST /operator/products or /operator/seller-products with a feed of that kind. */
export function feedRoutes(deps: FeedDeps, kind: FeedKind): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const options = readFeedOptions(kind, new URL(c.req.url).searchParams);
		const report = await importFeed(deps, actorOf(c), kind, options, c.req.raw.body ?? new Blob([]).stream());
		return jsonResponse(report, report.incomplete ? 422 : 200);
	});
	return app;
}
