/** The operator's endpoints. They exist only where a secret is set, and every request must carry it. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { equalSecrets } from "../lib/bytes.ts";
import { HttpError, jsonResponse, unauthorized } from "../lib/http.ts";
import type { ReplayDeps } from "./dead-letters/replay-dead-letters.ts";
import { replayRoutes } from "./dead-letters/replay-routes.ts";
import { type ExplainQuestion, readExplainBody } from "./explain.ts";
import type { FeedKind } from "./feeds/feed-columns.ts";
import { readFeedOptions } from "./feeds/feed-options.ts";
import { importFeed } from "./feeds/import-feed.ts";
import { keysRoutes } from "./keys/keys-routes.ts";
import { type ImportDeps, ImportFaultsError, importNetwork } from "./network/import-network.ts";
import type { Status } from "./status/read-status.ts";

export type OperatorDeps = ImportDeps & {
	/** The secret that the OperatorKey header must hold. */
	operatorKey: string;
	explain: (question: ExplainQuestion, waitUntil: (promise: Promise<unknown>) => void) => Promise<unknown>;
	readStatus: () => Promise<Status>;
	/** To which dead letters are sent again. */
	queues: ReplayDeps["queues"];
	/** Routes of other parts for the operator, by the path under /operator at which they stand. */
	parts?: Record<string, Hono>;
};

/** Cloudflare takes no larger request body on most plans. */
const MAX_IMPORT_BYTES = 95 * 1024 * 1024;
const MAX_EXPLAIN_BYTES = 1024 * 1024;
const MAX_SMALL_BYTES = 16 * 1024;

export function operatorRoutes(deps: OperatorDeps): Hono {
	const app = new Hono();
	app.use("*", async (c, next) => {
		const given = c.req.header("OperatorKey");
		if (given === undefined || !(await equalSecrets(given, deps.operatorKey))) return unauthorized();
		return next();
	});
	app.post("/network", limit(MAX_IMPORT_BYTES), async (c) => {
		const body = c.req.raw.body ?? new Blob([]).stream();
		return jsonResponse(await importNetwork(deps, body));
	});
	const feed = (kind: FeedKind) => async (c: Context) => {
		const options = readFeedOptions(kind, new URL(c.req.url).searchParams);
		const report = await importFeed(deps, kind, options, c.req.raw.body ?? new Blob([]).stream());
		return jsonResponse(report, report.incomplete ? 422 : 200);
	};
	app.post("/products", limit(MAX_IMPORT_BYTES), feed("products"));
	app.post("/seller-products", limit(MAX_IMPORT_BYTES), feed("seller_products"));
	app.post("/explain", limit(MAX_EXPLAIN_BYTES), async (c) => {
		const question = readExplainBody(parseJson(await c.req.text()));
		return jsonResponse(await deps.explain(question, (promise) => c.executionCtx.waitUntil(promise)));
	});
	app.use("/keys/*", limit(MAX_SMALL_BYTES));
	app.route("/keys", keysRoutes({ ...deps, readJson: async (request) => parseJson(await request.text()) }));
	app.use("/replay", limit(MAX_SMALL_BYTES));
	app.route("/replay", replayRoutes({ ...deps, readJson: async (request) => parseJson(await request.text()) }));
	app.get("/status", async () => jsonResponse(await deps.readStatus(), 200, { "cache-control": "no-store" }));
	for (const [path, part] of Object.entries(deps.parts ?? {})) app.route(path, part);
	app.onError((error) => {
		if (error instanceof ImportFaultsError) {
			return jsonResponse({ error: "Validation failed", faults: error.faults, fault_count: error.faultCount }, 422);
		}
		if (error instanceof HttpError) return jsonResponse(error.body, error.status);
		throw error;
	});
	return app;
}

function limit(maxSize: number) {
	return bodyLimit({ maxSize, onError: () => jsonResponse({ error: `The body may hold at most ${maxSize} bytes` }, 413) });
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}
