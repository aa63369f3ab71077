/** Composition root of the origin Worker: every route but the bids and the redirect; and the Worker itself. */
import { Hono } from "hono";
import { adjustmentRoutes } from "./adjustments/adjustment-routes.ts";
import type { AdjustingDeps } from "./adjustments/deps.ts";
import { ratesRoutes } from "./adjustments/rates-routes.ts";
import { OPERATOR_API } from "./api-docs/operations/all.ts";
import { apiDocsRoutes } from "./api-docs/routes.ts";
import { feedbackReportRoutes, feedbackRoutes } from "./auction-feedback/routes.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { runCron, runQueue } from "./background.ts";
import { bidsRoutes } from "./bid-counts/bids-routes.ts";
import type { BiddingDeps } from "./bidding/deps.ts";
import { explainRoutes } from "./bidding/explain-route.ts";
import { callbackRoutes } from "./callbacks/operator-routes.ts";
import type { CampaignBook } from "./campaign-book/load.ts";
import { openBook } from "./campaign-book/open-book.ts";
import { publishBookPatiently } from "./campaign-book/publisher/publish.ts";
import { ListStates } from "./catalogue/list-states.ts";
import { ReadyLists } from "./catalogue/ready-lists.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { changesRoutes } from "./changes/changes-routes.ts";
import { claimRoutes, ownClaimRoutes } from "./claims/claim-routes.ts";
import { LinkTokens } from "./click-token/link-token.ts";
import { ClickTokens } from "./click-token/token.ts";
import { sweepImportedCaps } from "./clicks/consumer/caps.ts";
import { type Env, readConfig } from "./config.ts";
import { consoleRoutes } from "./console/console-routes.ts";
import { openAccess } from "./console/session/access.ts";
import { peopleRoutes } from "./console/session/people-routes.ts";
import { signInLinkRoutes } from "./console/session/sign-in-link-routes.ts";
import { assetRoutes } from "./console/ui/asset-routes.ts";
import { attachConversion, detachConversion, judgeConversion } from "./conversions/judge-conversion.ts";
import { PostbackBatcher } from "./conversions/postback-batcher.ts";
import { routePostback } from "./conversions/postback-route.ts";
import { revalueConversions } from "./conversions/revalue-conversions.ts";
import { traceRoutes } from "./conversions/trace-route.ts";
import { UnknownKeyLimit } from "./conversions/unknown-key-limit.ts";
import { isNetworkElsewhere } from "./database-move/hold-work.ts";
import { moveRoutes } from "./database-move/move-routes.ts";
import { isHeld } from "./database-move/source.ts";
import { dayRoutes } from "./days/days-routes.ts";
import { withConnections, withConnectionsOf } from "./db/postgres-connections.ts";
import { type DatabaseFault, SchemaCheck } from "./db/schema-check.ts";
import { frontDoorRoutes } from "./front-door/front-door-routes.tsx";
import { FailedKeys } from "./http/failed-keys.ts";
import { guard, type KeyHeader } from "./http/guard.ts";
import { PublisherLimit } from "./http/publisher-limit.ts";
import { KeyOwners } from "./keys/key-owners.ts";
import { ledgerRoutes } from "./ledger-check/ledger-routes.ts";
import { equalSecrets } from "./lib/bytes.ts";
import { jsonResponse } from "./lib/http.ts";
import { logError } from "./lib/log.ts";
import { measureTo } from "./lib/measure.ts";
import { PerMinute } from "./lib/per-minute.ts";
import { SecretBox } from "./lib/secret-box.ts";
import { HOUR_MS } from "./lib/time.ts";
import { readDataThrough } from "./network-reports/data-through.ts";
import { networkReportRoutes } from "./network-reports/report-routes.ts";
import { clicksRoutes } from "./operator/clicks/clicks-routes.ts";
import { conversionsRoutes } from "./operator/conversions/conversions-routes.ts";
import { replayRoutes } from "./operator/dead-letters/replay-routes.ts";
import { eraseRoutes } from "./operator/erase/erase-routes.ts";
import { feedRoutes } from "./operator/feeds/feed-routes.ts";
import { keysRoutes } from "./operator/keys/keys-routes.ts";
import { explainPrices } from "./operator/learning/explain-prices.ts";
import { learningRoutes } from "./operator/learning/learning-routes.ts";
import { ENTRY_SECTIONS } from "./operator/network/entry-answers.ts";
import { entryRoutes, networkRoutes } from "./operator/network/network-routes.ts";
import { postbackUrlRoutes } from "./operator/postback-problems/postback-url-routes.ts";
import { problemsRoutes } from "./operator/postback-problems/problems-routes.ts";
import { operatorRoutes } from "./operator/routes.ts";
import { statementRoutes } from "./operator/statement/statement-routes.ts";
import { statusRoutes } from "./operator/status/status-routes.ts";
import { boundEnv, callbackDeps, clickDeps, clickFacts, databases, now } from "./origin-deps.ts";
import { KeptNetwork } from "./products/kept-network.ts";
import { productRoutes } from "./products/routes.ts";
import { publisherApiRoutes } from "./publisher-api/routes.ts";
import { reconcileRoutes } from "./reconcile/reconcile-routes.ts";
import { reportRoutes } from "./reports/routes.ts";
import { completeApp } from "./worker-app.ts";

export type Origin = {
	/** Everything that is answered by a router. */
	app: Hono;
	/** Answers what is recognised by its path, before any router: postbacks; null for other requests. */
	answer: (request: Request, ctx: ExecutionContext) => Promise<Response> | null;
	/** Why it is not ready; null where it is. */
	findFault: () => Promise<DatabaseFault | null>;
};

/** The origin's parts. `book` is the reader of the bid path where both live in one Worker: a publish reaches it at once. */
export function openOrigin(bindings: Env, book: CampaignBook): Origin {
	const env = boundEnv(bindings);
	const app = new Hono();
	const config = readConfig(env);
	const { db, products, move } = databases(env);
	const keys = new KeyOwners({ db, now });
	const states = new ListStates(db, now);
	const links = new LinkTokens(config.TOKEN_KEYS);
	const network = new KeptNetwork({ db, now });
	const ready = new ReadyLists(config.BASE_URL, now);
	const failedKeys = new FailedKeys({ now, limit: env.FAILED_KEYS });
	const mayBeValid = async (header: KeyHeader, key: string) =>
		(header === "OperatorKey" && config.OPERATOR_KEY !== undefined && (await equalSecrets(key, config.OPERATOR_KEY))) ||
		(await keys.mayBeValid(key));
	app.use("*", guard({ now, failedKeys, mayBeValid }));
	app.route("/api", catalogueRoutes({ db, keys, states, links, ready, trackerUrl: config.TRACKER_URL }));
	const consoleUrl = config.CONSOLE_URL ?? config.BASE_URL;
	const addresses = { baseUrl: config.BASE_URL, rtbUrl: config.RTB_URL, clickUrl: config.CLICK_URL };
	app.route("/", apiDocsRoutes(addresses, now));
	app.route("/", assetRoutes());
	app.route("/", frontDoorRoutes({ addresses: { ...addresses, trackerUrl: config.TRACKER_URL }, keys, kv: env.BOOK, now }));
	app.route("/api/reporting", reportRoutes({ db, keys }));
	const tokens = new ClickTokens(config.TOKEN_KEYS);
	const bidding: BiddingDeps = {
		book,
		tokens,
		clickUrl: config.CLICK_URL,
		clickTtlMs: config.CLICK_TTL_HOURS * HOUR_MS,
		now,
		vendorId: config.GVL_VENDOR_ID,
	};
	const limit = new PublisherLimit({ now, shared: env.PUBLISHERS });
	const dataThrough = () => readDataThrough({ db, kv: env.BOOK, queues: { clicks: env.CLICKS, postbacks: env.POSTBACKS }, now });
	const publisherApi = {
		db,
		kv: env.BOOK,
		keys,
		now,
		limit,
		bidding,
		links,
		trackerUrl: config.TRACKER_URL,
		callbacks: () => callbackDeps(env),
		dataThrough,
	};
	app.route("/api", publisherApiRoutes(publisherApi));
	app.route("/api", changesRoutes(publisherApi));
	app.route("/api", feedbackRoutes({ db, keys, now, limit }));
	app.route("/api", ownClaimRoutes(publisherApi));
	app.route("/api", dayRoutes({ db, keys, now, limit }));
	const searching = { db, products, network, keys, links, clickUrl: config.CLICK_URL };
	app.route("/", productRoutes(searching));
	const postbacks = {
		db,
		keys,
		areKeysElsewhere: move === null ? undefined : () => isNetworkElsewhere(move),
		now,
		// It has a bound of its own: no postback is to pay for two.
		postbacks: bindings.POSTBACKS === undefined ? undefined : new PostbackBatcher(bindings.POSTBACKS),
		callbacks: env.CALLBACKS,
		failedKeys,
		unknownKeys: new UnknownKeyLimit(env.UNKNOWN_KEYS),
		perMinute: new PerMinute(),
		measure: measureTo(env.EVENTS),
	};
	const schema = new SchemaCheck(db, now);
	const isNetworkHeld = async () => move !== null && !move.hasSwitched && (await isHeld(move.from));
	const origin: Origin = {
		app,
		answer: (request, ctx) => routePostback(postbacks, request, (promise) => ctx.waitUntil(promise)),
		findFault: () => schema.findFault(),
	};
	const queues = { clicks: env.CLICKS, postbacks: env.POSTBACKS, callbacks: env.CALLBACKS };
	const feeds = { db, products, now };
	const sweepCaps = () => sweepImportedCaps(clickDeps(env, (campaignIds) => book.adoptPauses(campaignIds, now())));
	const publish = async () => {
		keys.forget();
		states.forget();
		network.forget();
		clickFacts.forget();
		const published = await publishBookPatiently({ db, kv: env.BOOK, now, bookFormat: config.BOOK_FORMAT });
		if (published.manifest !== null) await book.adopt(published.manifest, now());
		await sweepCaps();
		return published;
	};
	const settling = { db, callbacks: env.CALLBACKS, now };
	const adjusting: AdjustingDeps = {
		db,
		now,
		judge: (...word) => judgeConversion(settling, ...word),
		attach: (...word) => attachConversion(settling, ...word),
		detach: (...word) => detachConversion(settling, ...word),
		revalue: (...conversions) => revalueConversions(settling, ...conversions),
		onSpendChanged: sweepCaps,
	};
	const imports = { db, products, now, publish, allowInsecureCallbacks: config.ALLOW_INSECURE_CALLBACKS };
	const issuing = { db, now, publish, box: new SecretBox(config.TOKEN_KEYS) };
	const watching = { db, products, kv: env.BOOK, queues, now };
	const mending = { ...settling, clickDays: config.CLICK_RETENTION_DAYS };
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
			searching,
			issuing,
			imports,
			adjusting,
			mending,
			watching,
		}),
	);
	const verbs = {
		"/network": networkRoutes({ ...imports, baseUrl: config.BASE_URL }),
		...Object.fromEntries(ENTRY_SECTIONS.map((section) => [`/${section}`, entryRoutes(imports, section)])),
		"/products": feedRoutes(feeds, "products"),
		"/seller-products": feedRoutes(feeds, "seller_products"),
		"/explain": explainRoutes(bidding, (asked) => explainPrices(db, asked, now())),
		"/learning": learningRoutes(imports),
		"/keys": keysRoutes(issuing),
		"/people": peopleRoutes({ db, now }),
		"/sign-in-links": signInLinkRoutes({ db, now, consoleUrl }),
		"/audit": auditRoutes({ db }),
		"/replay": replayRoutes({ db, queues, now }),
		"/reports": networkReportRoutes(watching),
		"/erase": eraseRoutes({ db, kv: env.BOOK, archive: env.ARCHIVE, keys, now }),
		"/bids": bidsRoutes({ db, now }),
		"/auction-feedback": feedbackReportRoutes({ db, now }),
		"/status": statusRoutes(watching),
		...(env.CALLBACKS !== undefined && { "/callbacks": callbackRoutes(callbackDeps(env)) }),
		"/trace": traceRoutes(db),
		"/adjustments": adjustmentRoutes(adjusting),
		"/claims": claimRoutes(adjusting),
		"/clicks": clicksRoutes(adjusting.db),
		"/rates": ratesRoutes(adjusting),
		"/conversions": conversionsRoutes(adjusting),
		"/problems/postbacks": problemsRoutes(mending),
		"/reconcile": statementRoutes(settling),
		"/postback-url": postbackUrlRoutes({ db, now, baseUrl: config.BASE_URL }),
		"/reconcile-sums": reconcileRoutes({ db, now }),
		"/check-ledger": ledgerRoutes({ db, now }),
		"/database": moveRoutes({ move, now }),
	};
	app.route(
		"/operator",
		operatorRoutes({
			operatorKey: config.OPERATOR_KEY,
			findOperator: (key, waitUntil) => keys.findOperator(key, waitUntil),
			failedKeys,
			operations: OPERATOR_API.operations,
			now,
			isHeld: isNetworkHeld,
			verbs,
		}),
	);
	return origin;
}

const opened = new WeakMap<Env, Origin>();

function originOf(env: Env): Origin {
	const known = opened.get(env);
	if (known !== undefined) return known;
	const app = new Hono();
	// Asked by `explain` alone.
	const book = openBook(env.BOOK, readConfig(env), false);
	const { app: routes, answer, findFault } = openOrigin(env, book);
	app.get("/ready", async () => {
		const fault = await findFault();
		return fault === null ? jsonResponse({ status: "ready" }) : jsonResponse({ status: fault }, 503);
	});
	app.route("/", routes);
	completeApp(app);
	const origin: Origin = { app, answer, findFault };
	opened.set(env, origin);
	return origin;
}

function serveOrigin(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
	try {
		const { app, answer } = originOf(env);
		return answer(request, ctx) ?? app.fetch(request, env, ctx);
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
