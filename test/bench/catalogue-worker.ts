/**
 * Bench-only Worker: the all-in-one Worker with its KV writes counted, and beside it `/unpublished/operator/network`, the
 * same import without the publish at its end, so that a large book is published once, as a whole, by the cron.
 * GET /bench/counts tells the counts since it was last asked.
 */
import { Hono } from "hono";
import { OPERATOR_API } from "../../src/api-docs/operations/all.ts";
import type { Env } from "../../src/config.ts";
import { openDatabase } from "../../src/db/client.ts";
import { networkRoutes } from "../../src/operator/network/network-routes.ts";
import { operatorRoutes } from "../../src/operator/routes.ts";
import worker from "../../src/worker.ts";
import { countKv } from "./counted-kv.ts";

const PREFIX = "/unpublished";

function open(env: Env) {
	const { DB, PRODUCTS, OPERATOR_KEY } = env;
	if (DB === undefined || PRODUCTS === undefined || OPERATOR_KEY === undefined) throw new Error("bindings are missing");
	const { kv, counts } = countKv(env.BOOK);
	const operator = operatorRoutes({
		operatorKey: OPERATOR_KEY,
		findOperator: () => Promise.resolve(null),
		failedKeys: { count: () => Promise.resolve() },
		operations: OPERATOR_API.operations,
		now: () => Date.now(),
		isHeld: () => Promise.resolve(false),
		verbs: {
			"/network": networkRoutes({
				db: openDatabase(DB),
				products: openDatabase(PRODUCTS),
				now: () => Date.now(),
				allowInsecureCallbacks: false,
				baseUrl: "http://base.example",
				publish: async () => ({ version: 0, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null }),
			}),
		},
	});
	return { env: { ...env, BOOK: kv }, counts, unpublished: new Hono().route("/operator", operator) };
}

let opened: ReturnType<typeof open> | undefined;

export default {
	fetch(request, env, ctx) {
		opened ??= open(env);
		const { pathname, origin } = new URL(request.url);
		if (pathname === "/bench/counts") {
			const counts = { ...opened.counts };
			for (const name of Object.keys(opened.counts) as (keyof typeof counts)[]) opened.counts[name] = 0;
			return Response.json(counts);
		}
		if (pathname.startsWith(`${PREFIX}/operator`)) {
			return opened.unpublished.fetch(new Request(`${origin}${pathname.slice(PREFIX.length)}`, request), env, ctx);
		}
		return worker.fetch(request, opened.env, ctx);
	},
	scheduled(controller, env) {
		opened ??= open(env);
		return worker.scheduled(controller, opened.env);
	},
} satisfies ExportedHandler<Env>;
