/** Composition root of the origin Worker: every route but the bids and the redirect, the consumers of the queues, and the cron. */
import { Hono } from "hono";
import { adjustmentRoutes } from "./adjustments/adjustment-routes.ts";
import type { AdjustingDeps } from "./adjustments/deps.ts";
import { ratesRoutes } from "./adjustments/rates-routes.ts";
import { ALERT_KEYS, ALERT_STATEMENTS, type AlertDeps, sweepAlerts } from "./alerts/sweep-alerts.ts";
import { OPERATOR_API } from "./api-docs/operations/all.ts";
import { apiDocsRoutes } from "./api-docs/routes.ts";
import { auditRoutes } from "./audit/audit-routes.ts";
import { bidsRoutes } from "./bid-counts/bids-routes.ts";
import { consumeBidCounts, splitBidCounts } from "./bid-counts/consume-bid-counts.ts";
import type { BiddingDeps } from "./bidding/deps.ts";
import { explainRoutes } from "./bidding/explain-route.ts";
import { resealSecrets } from "./callbacks/callback-secrets.ts";
import { consumeCallbacks } from "./callbacks/consume-callbacks.ts";
import type { CallbackDeps } from "./callbacks/deliver-callback.ts";
import type { CallbackMessage } from "./callbacks/message.ts";
import { callbackRoutes } from "./callbacks/operator-routes.ts";
import { sweepCallbacks } from "./callbacks/sweep-callbacks.ts";
import type { CampaignBook } from "./campaign-book/load.ts";
import { openBook } from "./campaign-book/open-book.ts";
import { PublishBusyError, publishBook, publishBookPatiently, sweepBook } from "./campaign-book/publisher/publish.ts";
import { LEAST_PUBLISH } from "./campaign-book/publisher/publish-shards.ts";
import { ListStates } from "./catalogue/list-states.ts";
import { ReadyLists } from "./catalogue/ready-lists.ts";
import { catalogueRoutes } from "./catalogue/routes.ts";
import { changesRoutes } from "./changes/changes-routes.ts";
import { LinkTokens } from "./click-token/link-token.ts";
import { ClickTokens } from "./click-token/token.ts";
import { sweepCaps, sweepImportedCaps } from "./clicks/consumer/caps.ts";
import { type ConsumeDeps, consumeClicks } from "./clicks/consumer/consume-clicks.ts";
import { sweepKeptClicks } from "./clicks/consumer/kept-clicks.ts";
import { KeptFacts } from "./clicks/consumer/kept-facts.ts";
import { type Env, readConfig } from "./config.ts";
import { consumePostbacks } from "./conversions/consume-postbacks.ts";
import { attachConversion, detachConversion, judgeConversion } from "./conversions/judge-conversion.ts";
import { PostbackBatcher } from "./conversions/postback-batcher.ts";
import { routePostback } from "./conversions/postback-route.ts";
import { revalueConversions } from "./conversions/revalue-conversions.ts";
import { sweepConversions } from "./conversions/sweep-conversions.ts";
import { traceRoutes } from "./conversions/trace-route.ts";
import { UnknownKeyLimit } from "./conversions/unknown-key-limit.ts";
import { isBatchHeld, isCronHeld } from "./database-move/hold-work.ts";
import { moveRoutes } from "./database-move/move-routes.ts";
import { isHeld } from "./database-move/source.ts";
import { dayRoutes } from "./days/days-routes.ts";
import { DAYS_STATEMENTS, sweepDays } from "./days/sweep-days.ts";
import { chooseNetwork } from "./db/choose.ts";
import { openDatabase } from "./db/client.ts";
import { warnOfSize } from "./db/database-size.ts";
import { withConnections, withConnectionsOf } from "./db/postgres.ts";
import { type DatabaseFault, SchemaCheck } from "./db/schema-check.ts";
import { wrapD1 } from "./db/wrap-d1.ts";
import { keepDeadLettersSafely, sweepDeadLetters } from "./dead-letters/dead-letters-in-kv.ts";
import { FailedKeys } from "./http/failed-keys.ts";
import { guard, type KeyHeader } from "./http/guard.ts";
import { PublisherLimit } from "./http/publisher-limit.ts";
import { KeyOwners } from "./keys/key-owners.ts";
import { ledgerRoutes } from "./ledger-check/ledger-routes.ts";
import { LEDGER_STATEMENTS, sweepLedger } from "./ledger-check/sweep-ledger.ts";
import { equalSecrets } from "./lib/bytes.ts";
import { QUEUE_NAMES, type QueueName } from "./lib/enums.ts";
import { jsonResponse } from "./lib/http.ts";
import { type Job, orderJobs, runJobs } from "./lib/jobs.ts";
import { logError, logInfo } from "./lib/log.ts";
import { measureTo } from "./lib/measure.ts";
import { Operations } from "./lib/operations.ts";
import { PerMinute } from "./lib/per-minute.ts";
import { SecretBox } from "./lib/secret-box.ts";
import { readWebhookSecret } from "./lib/sign-webhook.ts";
import { MINUTE_MS } from "./lib/time.ts";
import { networkReportRoutes } from "./network-reports/report-routes.ts";
import { conversionsRoutes } from "./operator/conversions/conversions-routes.ts";
import { replayRoutes } from "./operator/dead-letters/replay-routes.ts";
import { feedRoutes } from "./operator/feeds/feed-routes.ts";
import { keysRoutes } from "./operator/keys/keys-routes.ts";
import { ENTRY_SECTIONS } from "./operator/network/entry-answers.ts";
import { entryRoutes, networkRoutes } from "./operator/network/network-routes.ts";
import { postbackUrlRoutes } from "./operator/postback-problems/postback-url-routes.ts";
import { problemsRoutes } from "./operator/postback-problems/problems-routes.ts";
import { operatorRoutes } from "./operator/routes.ts";
import { statementRoutes } from "./operator/statement/statement-routes.ts";
import { readStatus } from "./operator/status/read-status.ts";
import { statusRoutes } from "./operator/status/status-routes.ts";
import { KeptNetwork } from "./products/kept-network.ts";
import { productRoutes } from "./products/routes.ts";
import { publisherApiRoutes } from "./publisher-api/routes.ts";
import { reconcileRoutes } from "./reconcile/reconcile-routes.ts";
import { SUMS_STATEMENTS, sweepSums } from "./reconcile/sweep-sums.ts";
import { reportRoutes } from "./reports/routes.ts";
import { RETENTION_STATEMENTS, removeOld } from "./retention/remove-old.ts";
import { completeApp } from "./worker-app.ts";

const now = () => Date.now();

export type Origin = {
	/** Everything that is answered by a router. */
	app: Hono;
	/** Answers what is recognised by its path, before any router: postbacks; null for other requests. */
	answer: (request: Request, ctx: ExecutionContext) => Promise<Response> | null;
	/** Why it is not ready; null where it is. */
	findFault: () => Promise<DatabaseFault | null>;
};

/** The origin's parts. `book` is the reader of the bid path where both live in one Worker: a publish reaches it at once. */
export function openOrigin(env: Env, book: CampaignBook): Origin {
	const app = new Hono();
	const config = readConfig(env);
	const { db, isPostgres, products, move } = databases(env);
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
	app.route("/", apiDocsRoutes({ baseUrl: config.BASE_URL, rtbUrl: config.RTB_URL, clickUrl: config.CLICK_URL }, now));
	app.route("/api/reporting", reportRoutes({ db, keys }));
	const tokens = new ClickTokens(config.TOKEN_KEYS);
	const bidding: BiddingDeps = { book, tokens, clickUrl: config.CLICK_URL, now };
	const limit = new PublisherLimit({ now, shared: env.PUBLISHERS });
	const publisherApi = { db, keys, now, limit, bidding, links, trackerUrl: config.TRACKER_URL, callbacks: () => callbackDeps(env) };
	app.route("/api", publisherApiRoutes(publisherApi));
	app.route("/api", changesRoutes(publisherApi));
	app.route("/api", dayRoutes({ db, keys, now, limit }));
	app.route("/", productRoutes({ db, products, network, keys, links, clickUrl: config.CLICK_URL }));
	const postbacks = {
		db,
		keys,
		now,
		postbacks: env.POSTBACKS === undefined ? undefined : new PostbackBatcher(env.POSTBACKS),
		callbacks: env.CALLBACKS,
		failedKeys,
		unknownKeys: new UnknownKeyLimit(env.UNKNOWN_KEYS),
		perMinute: new PerMinute(),
		measure: measureTo(env.EVENTS),
	};
	const schema = isPostgres ? new SchemaCheck(db, now) : null;
	const origin: Origin = {
		app,
		answer: (request, ctx) => routePostback(postbacks, request, (promise) => ctx.waitUntil(promise)),
		findFault: async () => (await schema?.findFault()) ?? null,
	};
	const queues = { clicks: env.CLICKS, postbacks: env.POSTBACKS, callbacks: env.CALLBACKS };
	const feeds = { db, products, now };
	const publish = async () => {
		keys.forget();
		states.forget();
		network.forget();
		clickFacts.forget();
		const published = await publishBookPatiently({ db, kv: env.BOOK, now, bookFormat: config.BOOK_FORMAT });
		if (published.manifest !== null) await book.adopt(published.manifest, now());
		await sweepImportedCaps(clickDeps(env, (campaignIds) => book.adoptPauses(campaignIds, now())));
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
		onSpendChanged: () => sweepImportedCaps(clickDeps(env, (campaignIds) => book.adoptPauses(campaignIds, now()))),
	};
	const imports = { db, products, now, publish, allowInsecureCallbacks: config.ALLOW_INSECURE_CALLBACKS };
	const verbs = {
		"/network": networkRoutes({ ...imports, baseUrl: config.BASE_URL }),
		...Object.fromEntries(ENTRY_SECTIONS.map((section) => [`/${section}`, entryRoutes(imports, section)])),
		"/products": feedRoutes(feeds, "products"),
		"/seller-products": feedRoutes(feeds, "seller_products"),
		"/explain": explainRoutes(bidding),
		"/keys": keysRoutes({ db, now, publish, box: new SecretBox(config.TOKEN_KEYS) }),
		"/audit": auditRoutes({ db }),
		"/replay": replayRoutes({ db, queues, now }),
		"/reports": networkReportRoutes({ db, kv: env.BOOK, queues, now }),
		"/bids": bidsRoutes({ db, now }),
		"/status": statusRoutes({ db, kv: env.BOOK, queues, now }),
		...(env.CALLBACKS !== undefined && { "/callbacks": callbackRoutes(callbackDeps(env)) }),
		"/trace": traceRoutes(db),
		"/adjustments": adjustmentRoutes(adjusting),
		"/rates": ratesRoutes(adjusting),
		"/conversions": conversionsRoutes(adjusting),
		"/problems/postbacks": problemsRoutes({ ...settling, clickDays: config.CLICK_RETENTION_DAYS }),
		"/reconcile": statementRoutes(settling),
		"/postback-url": postbackUrlRoutes({ db, now, baseUrl: config.BASE_URL }),
		"/reconcile-sums": reconcileRoutes({ db, now }),
		"/check-ledger": ledgerRoutes({ db, now }),
		"/database": moveRoutes({ move, now }),
	};
	const isNetworkHeld = async () => move !== null && !move.hasSwitched && (await isHeld(move.from));
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

/**
 * The work of every minute, counted against what one invocation may do: the jobs leave each other enough, and one that finds too little left
 * waits for a later minute.
 */
export async function runCron(controller: ScheduledController, env: Env, onPauses?: OnPauses): Promise<void> {
	if (controller.cron !== "* * * * *") throw new Error(`unknown cron ${controller.cron}`);
	if (await isMoving(env)) return;
	const operations = new Operations();
	const own = countOperations(env, operations);
	const { db, products } = databases(own);
	const small: Job[] = [
		{ name: "caps", run: () => sweepCaps(clickDeps(own, onPauses)) },
		{ name: "callbacks", run: () => sweepCallbacks(callbackDeps(own)) },
		{
			name: "secrets",
			run: async () => (isCheckMinute() ? resealSecrets({ db, box: new SecretBox(readConfig(own).TOKEN_KEYS) }) : undefined),
		},
		{ name: "size", run: () => warnOfSize({ network: db, products }, isCheckMinute()) },
		{ name: "dead_letters", run: () => sweepDeadLetters({ db, kv: own.BOOK, now }) },
		{
			name: "conversions",
			run: () => sweepConversions({ db, callbacks: own.CALLBACKS, now }, () => operations.has({ statements: LEFT_BY_CONVERSIONS })),
		},
	];
	const minute = Math.floor(controller.scheduledTime / MINUTE_MS);
	const alerts: Job = {
		name: "alerts",
		needs: { statements: ALERT_STATEMENTS, keys: ALERT_KEYS },
		run: () => sweepAlerts(alertDeps(own), minute),
	};
	const clicks: Job = { name: "clicks", run: () => sweepKeptClicks({ ...clickDeps(own, onPauses), operations }) };
	const long: Job[] = [
		{ name: "book", needs: LEAST_PUBLISH, run: () => keepBook(own, operations) },
		{
			name: "retention",
			needs: { statements: RETENTION_STATEMENTS },
			run: () => removeOld({ db, now, clickDays: readConfig(own).CLICK_RETENTION_DAYS, archive: own.ARCHIVE }),
		},
		{ name: "sums", needs: { statements: SUMS_STATEMENTS }, run: () => sweepSums({ db, now }) },
		{ name: "days", needs: { statements: DAYS_STATEMENTS }, run: () => sweepDays({ db, now }) },
		{ name: "ledger", needs: { statements: LEDGER_STATEMENTS }, run: () => sweepLedger({ db, now }) },
	];
	await runJobs(orderJobs([...small, alerts], clicks, long, minute), operations);
}

/** Whether a move keeps the cron from writing. Where that cannot be told, no database takes writes that should not. */
async function isMoving(env: Env): Promise<boolean> {
	const { db, isPostgres, move } = databases(env);
	try {
		return await isCronHeld(isPostgres ? db : null, move);
	} catch (error) {
		logError("cron.failed", error, { job: "move" });
		return false;
	}
}

/** Statements that looking again at conversions leaves to the other jobs. */
const LEFT_BY_CONVERSIONS = 700;

/** The same bindings, with what is done to KV and the databases counted. */
function countOperations(env: Env, operations: Operations): Env {
	const count = (d1: D1Database) => wrapD1(d1, (statements) => operations.countStatements(statements.length));
	const { POSTGRES: _, DB: __, NETWORK_DATABASE: ___, ...others } = env;
	const { inUse: network } = chooseNetwork(env);
	return {
		...others,
		BOOK: operations.countKeys(env.BOOK),
		...(network !== undefined && { DB: count(network) }),
		...(env.PRODUCTS !== undefined && { PRODUCTS: count(env.PRODUCTS) }),
	};
}

/** Minute of each hour at which KV is checked for what the book should have there, and the log told how full the databases are. */
const CHECK_MINUTE = 7;

function isCheckMinute(): boolean {
	return new Date(now()).getUTCMinutes() === CHECK_MINUTE;
}

/** Publishes what an import could not, and removes shards that nobody reads any more. */
async function keepBook(env: Env, operations: Operations): Promise<void> {
	const { db } = databases(env);
	const deps = { db, kv: env.BOOK, now, bookFormat: readConfig(env).BOOK_FORMAT };
	try {
		const { manifest, version, shardsWritten, complete } = await publishBook(deps, isCheckMinute(), operations.left);
		if (manifest !== null) logInfo("book.published", { version, shards: shardsWritten, complete });
		await sweepBook(deps, operations.left);
	} catch (error) {
		if (!(error instanceof PublishBusyError)) throw error;
		logInfo("book.publish_busy", { message: error.message });
	}
}

/** The consumer of each queue. */
const consumers: Partial<Record<QueueName, (batch: MessageBatch, env: Env, onPauses?: OnPauses) => Promise<void>>> = {
	postbacks: (batch, env) => {
		const { db } = databases(env);
		return consumePostbacks({ db, postbacks: env.POSTBACKS, callbacks: env.CALLBACKS, now, keys: new KeyOwners({ db, now }) }, batch);
	},
	callbacks: (batch, env) => consumeCallbacks(callbackDeps(env), batch),
	clicks: async (batch, env, onPauses) => {
		const { counts, others } = splitBidCounts(batch.messages);
		await consumeClicks(clickDeps(env, onPauses), others);
		await consumeBidCounts({ db: databases(env).db, now }, counts);
	},
};

const QUEUE = new RegExp(`(?:^|-)(${QUEUE_NAMES.join("|")})(-dead)?$`);

/** Takes a batch of any of our queues: `…-clicks`, `…-postbacks`, `…-callbacks`, and `…-dead` of each. */
export async function runQueue(batch: MessageBatch, env: Env, onPauses?: OnPauses): Promise<void> {
	const [, part, dead] = QUEUE.exec(batch.queue) ?? [];
	if (part === undefined) throw new Error(`unknown queue ${batch.queue}`);
	const queue = part as QueueName;
	if (dead !== undefined) {
		await keepDeadLettersSafely({ db: databases(env).db, kv: env.BOOK, now }, queue, batch.messages);
		logInfo("queue.dead_letters", { queue, count: batch.messages.length });
		return;
	}
	const consume = consumers[queue];
	if (consume === undefined) throw new Error(`queue ${batch.queue} has no consumer`);
	if (await isBatchHeld(databases(env).move, batch)) return;
	await consume(batch, env, onPauses);
}

/** Told the paused campaigns when they change: where the bid path is in the same Worker, it need not wait for KV. */
type OnPauses = (campaignIds: readonly number[]) => void;

/** One for this isolate: an import forgets what the consumer knows. */
const clickFacts = new KeptFacts();

function clickDeps(env: Env, onPauses: OnPauses | undefined): ConsumeDeps {
	return { db: databases(env).db, kv: env.BOOK, now, facts: clickFacts, ...(onPauses !== undefined && { onPauses }) };
}

function callbackDeps(env: Env): CallbackDeps {
	if (env.CALLBACKS === undefined) throw new Error("the binding CALLBACKS is needed");
	return {
		db: databases(env).db,
		queue: env.CALLBACKS as Queue<CallbackMessage>,
		now,
		box: new SecretBox(readConfig(env).TOKEN_KEYS),
		fetch: (url, init) => fetch(url, init),
		allowInsecure: readConfig(env).ALLOW_INSECURE_CALLBACKS,
		chance: Math.random,
		measure: measureTo(env.EVENTS),
	};
}

function alertDeps(env: Env): AlertDeps {
	const { ALERT_URL: url, ALERT_SECRET: secret } = readConfig(env);
	const key = secret === undefined ? null : readWebhookSecret(secret);
	const { db } = databases(env);
	const queues = { clicks: env.CLICKS, postbacks: env.POSTBACKS, callbacks: env.CALLBACKS };
	return {
		db,
		now,
		webhook: url === undefined || key === null ? null : { url, key },
		readProblems: async () => (await readStatus({ db, kv: env.BOOK, queues, now })).problems,
		fetch: (address, init) => fetch(address, init),
	};
}

/** The network database, what it can be moved from and to, and the products'. */
function databases(env: Env) {
	const { inUse, isPostgres, move } = chooseNetwork(env);
	if (inUse === undefined || env.PRODUCTS === undefined) throw new Error("the bindings DB, or POSTGRES, and PRODUCTS are needed");
	const db = openDatabase(inUse);
	const between = move && { from: openDatabase(move.from), to: openDatabase(move.to), hasSwitched: isPostgres };
	return { db, isPostgres, products: openDatabase(env.PRODUCTS), move: between };
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
