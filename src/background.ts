/** What the origin does unasked: the jobs of the cron, and the consumers of the queues. */
import { ALERT_KEYS, ALERT_STATEMENTS, type AlertDeps, sweepAlerts } from "./alerts/sweep-alerts.ts";
import { consumeBidCounts, splitBidCounts } from "./bid-counts/consume-bid-counts.ts";
import { CallTimes } from "./callbacks/call-times.ts";
import { resealSecrets } from "./callbacks/callback-secrets.ts";
import { consumeCallbacks } from "./callbacks/consume-callbacks.ts";
import { sweepCallbacks } from "./callbacks/sweep-callbacks.ts";
import { PublishBusyError, publishBook, sweepBook } from "./campaign-book/publisher/publish.ts";
import { LEAST_PUBLISH } from "./campaign-book/publisher/publish-shards.ts";
import { sweepCaps } from "./clicks/consumer/caps.ts";
import { consumeClicks } from "./clicks/consumer/consume-clicks.ts";
import { sweepKeptClicks } from "./clicks/consumer/kept-clicks.ts";
import { type Env, readAlertSettings, readConfig } from "./config.ts";
import { consumePostbacks } from "./conversions/consume-postbacks.ts";
import { sweepConversions } from "./conversions/sweep-conversions.ts";
import { NOTE_STATEMENTS, noteJobs } from "./cron-jobs/note-jobs.ts";
import { isBatchHeld, isCronHeld } from "./database-move/hold-work.ts";
import { DAYS_STATEMENTS, sweepDays } from "./days/sweep-days.ts";
import { chooseNetwork } from "./db/choose.ts";
import type { Database } from "./db/client.ts";
import { warnOfSize } from "./db/database-size.ts";
import { wrapD1 } from "./db/wrap-d1.ts";
import { keepDeadLettersSafely, sweepDeadLetters } from "./dead-letters/dead-letters-in-kv.ts";
import { KeyOwners } from "./keys/key-owners.ts";
import { LEARNING_STATEMENTS, sweepLearning } from "./learning-night/sweep-learning.ts";
import { LEDGER_STATEMENTS, sweepLedger } from "./ledger-check/sweep-ledger.ts";
import { type CronJob, QUEUE_NAMES, type QueueName } from "./lib/enums.ts";
import { type Job, orderJobs, runJobs } from "./lib/jobs.ts";
import { logError, logInfo } from "./lib/log.ts";
import { Operations } from "./lib/operations.ts";
import { SecretBox } from "./lib/secret-box.ts";
import { readWebhookSecret } from "./lib/sign-webhook.ts";
import { MINUTE_MS } from "./lib/time.ts";
import { readStatus } from "./operator/status/read-status.ts";
import { boundEnv, callbackDeps, clickDeps, databases, now, type OnPauses } from "./origin-deps.ts";
import { SUMS_STATEMENTS, sweepSums } from "./reconcile/sweep-sums.ts";
import { RETENTION_STATEMENTS, removeOld } from "./retention/remove-old.ts";

/**
 * The work of every minute, counted against what one invocation may do: the jobs leave each other enough, and one that finds too little left
 * waits for a later minute.
 */
export async function runCron(controller: ScheduledController, bindings: Env, onPauses?: OnPauses): Promise<void> {
	const env = boundEnv(bindings);
	if (controller.cron !== "* * * * *") throw new Error(`unknown cron ${controller.cron}`);
	if (await isMoving(env)) return;
	const operations = new Operations();
	const own = countOperations(env, operations);
	// Whatever the jobs take, it is left.
	operations.countStatements(NOTE_STATEMENTS);
	const { db, products } = databases(own);
	const small: Job<CronJob>[] = [
		{ name: "caps", run: () => sweepCaps(clickDeps(own, onPauses)) },
		{ name: "callbacks", run: () => sweepCallbacks(callbackDeps(own)) },
		{
			name: "secrets",
			run: () => keepSealed(db, readConfig(own).TOKEN_KEYS),
		},
		{ name: "size", run: () => warnOfSize({ network: db, products }, isCheckMinute()) },
		{ name: "dead_letters", run: () => sweepDeadLetters({ db, kv: own.BOOK, now }) },
		{
			name: "conversions",
			run: () => sweepConversions({ db, callbacks: own.CALLBACKS, now }, () => operations.has({ statements: LEFT_BY_CONVERSIONS })),
		},
	];
	const minute = Math.floor(controller.scheduledTime / MINUTE_MS);
	const alerts: Job<CronJob> = {
		name: "alerts",
		needs: { statements: ALERT_STATEMENTS, keys: ALERT_KEYS },
		run: () => sweepAlerts(alertDeps(own), minute),
	};
	const clicks: Job<CronJob> = { name: "clicks", run: () => sweepKeptClicks({ ...clickDeps(own, onPauses), operations }) };
	const long: Job<CronJob>[] = [
		{ name: "book", needs: LEAST_PUBLISH, run: () => keepBook(own, operations) },
		{
			name: "retention",
			needs: { statements: RETENTION_STATEMENTS },
			run: () => removeOld({ db, now, clickDays: readConfig(own).CLICK_RETENTION_DAYS, archive: own.ARCHIVE }),
		},
		{ name: "sums", needs: { statements: SUMS_STATEMENTS }, run: () => sweepSums({ db, now }) },
		{ name: "days", needs: { statements: DAYS_STATEMENTS }, run: () => sweepDays({ db, now }) },
		{
			name: "learning",
			needs: { statements: LEARNING_STATEMENTS },
			run: () => sweepLearning({ db, kv: own.BOOK, now }, (statements) => operations.has({ statements })),
		},
		{ name: "ledger", needs: { statements: LEDGER_STATEMENTS }, run: () => sweepLedger({ db, now }) },
	];
	const outcomes = await runJobs(orderJobs([...small, alerts], clicks, long, minute), operations);
	try {
		await noteJobs(databases(env).db, outcomes, now());
	} catch (error) {
		logError("cron.not_noted", error, { failed: outcomes.failed.join(", ") });
	}
	if (outcomes.failed.length > 0) throw new Error(`failed: ${outcomes.failed.join(", ")}`);
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

/** The newest key, where this isolate has seen that all secrets are sealed by it. */
let sealedBy: string | undefined;

/** Each hour, since others may still seal by an older key; and until it was done once by this one, whatever minute was missed or has failed. */
async function keepSealed(db: Database, tokenKeys: readonly string[]): Promise<void> {
	const [newest] = tokenKeys;
	if (sealedBy === newest && !isCheckMinute()) return;
	sealedBy = undefined;
	if (await resealSecrets({ db, box: new SecretBox(tokenKeys) })) sealedBy = newest;
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

/** Of all batches of this isolate. */
const callTimes = new CallTimes();

/** The consumer of each queue. */
const consumers: Partial<Record<QueueName, (batch: MessageBatch, env: Env, onPauses?: OnPauses) => Promise<void>>> = {
	postbacks: (batch, env) => {
		const { db } = databases(env);
		return consumePostbacks({ db, postbacks: env.POSTBACKS, callbacks: env.CALLBACKS, now, keys: new KeyOwners({ db, now }) }, batch);
	},
	callbacks: (batch, env) => consumeCallbacks(callbackDeps(env), batch, callTimes),
	clicks: async (batch, env, onPauses) => {
		const { counts, others } = splitBidCounts(batch.messages);
		await consumeClicks(clickDeps(env, onPauses), others);
		await consumeBidCounts({ db: databases(env).db, now }, counts);
	},
};

const QUEUE = new RegExp(`(?:^|-)(${QUEUE_NAMES.join("|")})(-dead)?$`);

/** Takes a batch of any of our queues: `…-clicks`, `…-postbacks`, `…-callbacks`, and `…-dead` of each. */
export async function runQueue(batch: MessageBatch, bindings: Env, onPauses?: OnPauses): Promise<void> {
	const env = boundEnv(bindings);
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

/** @throws Error where an operator who wants alerts would get none */
function alertDeps(env: Env): AlertDeps {
	const { ALERT_URL: url, ALERT_SECRET: secret } = readAlertSettings(env);
	if ((url === undefined) !== (secret === undefined)) throw new Error("ALERT_URL and ALERT_SECRET need each other: no alert is sent");
	const key = secret === undefined ? null : readWebhookSecret(secret);
	const { db, products } = databases(env);
	const queues = { clicks: env.CLICKS, postbacks: env.POSTBACKS, callbacks: env.CALLBACKS };
	return {
		db,
		kv: env.BOOK,
		now,
		webhook: url === undefined || key === null ? null : { url, key },
		readProblems: async () => (await readStatus({ db, products, kv: env.BOOK, queues, now })).problems,
		fetch: (address, init) => fetch(address, init),
	};
}
