/** Composition root of the origin Worker: every route but the bids and the redirect; and the Worker itself. */
import { Hono } from "hono";
import { OPERATOR_API } from "./api-docs/operations/all.ts";
import { apiDocsRoutes } from "./api-docs/routes.ts";
import { feedbackRoutes } from "./auction-feedback/routes.ts";
import { runCron, runQueue } from "./background.ts";
import type { CampaignBook } from "./campaign-book/load.ts";
import { openBook } from "./campaign-book/open-book.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { changesRoutes } from "./changes/changes-routes.ts";
import { ownClaimRoutes } from "./claims/claim-routes.ts";
import { type Env, readConfig } from "./config.ts";
import { consoleRoutes } from "./console/console-routes.ts";
import { openAccess } from "./console/session/access.ts";
import { assetRoutes } from "./console/ui/asset-routes.ts";
import { routePostback } from "./conversions/postback-route.ts";
import { dayRoutes } from "./days/days-routes.ts";
import { withConnections, withConnectionsOf } from "./db/postgres-connections.ts";
import { SchemaCheck } from "./db/schema-check.ts";
import { frontDoorRoutes } from "./front-door/front-door-routes.tsx";
import { type Readiness, routeHealth } from "./health.ts";
import { completeApp } from "./http/errors.ts";
import { guard, type KeyHeader } from "./http/guard.ts";
import { equalSecrets } from "./lib/bytes.ts";
import { jsonResponse } from "./lib/http.ts";
import { logError } from "./lib/log.ts";
import { operatorRoutes } from "./operator/routes.ts";
import { operatorVerbs } from "./operator-verbs.ts";
import { now } from "./origin-deps.ts";
import { openServices } from "./origin-services.ts";
import { productRoutes } from "./products/routes.ts";
import { publisherApiRoutes } from "./publisher-api/routes.ts";
import { reportRoutes } from "./reports/routes.ts";

export type Origin = {
	/** Everything that is answered by a router. */
	app: Hono;
	/** Answers what is recognised by its path, before any router: postbacks; null for other requests. */
	answer: (request: Request, ctx: ExecutionContext) => Promise<Response> | null;
	/** What `/ready` says: whether its database is there, and migrated. */
	isReady: () => Promise<Readiness>;
};

/** The origin's parts. `book` is the reader of the bid path where both live in one Worker: a publish reaches it at once. */
export function openOrigin(bindings: Env, book: CampaignBook): Origin {
	const services = openServices(bindings, book);
	const { env, config, db, keys, failedKeys, limit, consoleUrl, publisherApi, issuing, isNetworkHeld } = services;
	const app = new Hono();
	const mayBeValid = async (header: KeyHeader, key: string) =>
		(header === "OperatorKey" && config.OPERATOR_KEY !== undefined && (await equalSecrets(key, config.OPERATOR_KEY))) ||
		(await keys.mayBeValid(key));
	app.use("*", guard({ now, failedKeys, mayBeValid }));
	app.route("/api", catalogueRoutes(services.catalogue));
	const addresses = { baseUrl: config.BASE_URL, rtbUrl: config.RTB_URL, clickUrl: config.CLICK_URL };
	app.route("/", apiDocsRoutes(addresses, now));
	app.route("/", assetRoutes());
	app.route("/", frontDoorRoutes({ addresses: { ...addresses, trackerUrl: config.TRACKER_URL }, keys, kv: env.BOOK, now }));
	app.route("/api/reporting", reportRoutes({ db, keys }));
	app.route("/api", publisherApiRoutes(publisherApi));
	app.route("/api", changesRoutes(publisherApi));
	app.route("/api", feedbackRoutes({ db, keys, now, limit }));
	app.route("/api", ownClaimRoutes(publisherApi));
	app.route("/api", dayRoutes({ db, keys, now, limit }));
	app.route("/", productRoutes(services.searching));
	app.route(
		"/",
		consoleRoutes({
			db,
			now,
			consoleUrl,
			baseUrl: config.BASE_URL,
			isHeld: isNetworkHeld,
			passkeys: { db, now, consoleUrl, box: issuing.box },
			access:
				config.ACCESS_TEAM === undefined || config.ACCESS_AUD === undefined ? null : openAccess(config.ACCESS_TEAM, config.ACCESS_AUD),
			publisherApi,
			searching: services.searching,
			issuing,
			imports: services.imports,
			adjusting: services.adjusting,
			mending: services.mending,
			watching: services.watching,
		}),
	);
	app.route(
		"/operator",
		operatorRoutes({
			operatorKey: config.OPERATOR_KEY,
			findOperator: (key, waitUntil) => keys.findOperator(key, waitUntil),
			failedKeys,
			operations: OPERATOR_API.operations,
			now,
			isHeld: isNetworkHeld,
			verbs: operatorVerbs(services),
		}),
	);
	completeApp(app);
	const schema = new SchemaCheck(db, now);
	return {
		app,
		answer: (request, ctx) => routePostback(services.postbacks, request, (promise) => ctx.waitUntil(promise)),
		async isReady() {
			const fault = await schema.findFault();
			return fault === null ? [200, { status: "ready" }] : [503, { status: fault }];
		},
	};
}

const opened = new WeakMap<Env, Origin>();

function originOf(env: Env): Origin {
	const known = opened.get(env);
	if (known !== undefined) return known;
	// Asked by `explain` alone.
	const book = openBook(env.BOOK, readConfig(env), false);
	const origin = openOrigin(env, book);
	opened.set(env, origin);
	return origin;
}

function serveOrigin(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
	try {
		const { app, answer, isReady } = originOf(env);
		return answer(request, ctx) ?? routeHealth(request, isReady) ?? app.fetch(request, env, ctx);
	} catch (error) {
		logError("configuration.invalid", error);
		return jsonResponse({ error: "Internal error" }, 500);
	}
}

export default {
	fetch: (request, env, ctx) => withConnections(env, () => serveOrigin(request, env, ctx)),
	scheduled: (controller, env) => withConnectionsOf(env, () => runCron(controller, env)),
	queue: (batch, env, _ctx) => withConnectionsOf(env, () => runQueue(batch, env)),
} satisfies ExportedHandler<Env>;
