/** What the origin's routes and its background work are given: the databases, and what is made of bindings and variables. */
import type { CallbackDeps } from "./callbacks/deliver-callback.ts";
import type { CallbackMessage } from "./callbacks/message.ts";
import type { ConsumeDeps } from "./clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "./clicks/consumer/kept-facts.ts";
import { type Env, readConfig } from "./config.ts";
import { chooseNetwork } from "./db/choose.ts";
import { openDatabase } from "./db/client.ts";
import { boundD1 } from "./db/wrap-d1.ts";
import { boundCalls } from "./lib/away.ts";
import { measureTo } from "./lib/measure.ts";
import { SecretBox } from "./lib/secret-box.ts";
import { SECOND_MS } from "./lib/time.ts";

export const now = () => Date.now();

/** Told the paused campaigns when they change: where the bid path is in the same Worker, it need not wait for KV. */
export type OnPauses = (campaignIds: readonly number[]) => void;

/** One for this isolate: an import forgets what the consumer knows. */
export const clickFacts = new KeptFacts();

export function clickDeps(env: Env, onPauses: OnPauses | undefined): ConsumeDeps {
	return { db: databases(env).db, kv: env.BOOK, now, facts: clickFacts, ...(onPauses !== undefined && { onPauses }) };
}

export function callbackDeps(env: Env): CallbackDeps {
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

const bounded = new WeakMap<Env, Env>();

/** How long KV and queues are waited for where nobody else says how long. */
const BINDING_TIMEOUT_MS = 10 * SECOND_MS;
/** How long a limit is waited for, which limits nothing where it fails; and the archive, which takes long texts. */
const LIMIT_TIMEOUT_MS = SECOND_MS / 2;
const ARCHIVE_TIMEOUT_MS = 30 * SECOND_MS;

/** The bindings of the origin and of its background work: none of them is waited for for ever, as no database is (db/choose.ts). */
export function boundEnv(env: Env): Env {
	const known = bounded.get(env);
	if (known !== undefined) return known;
	const own: Env = { ...env, BOOK: boundCalls(env.BOOK, BINDING_TIMEOUT_MS, "KV") };
	if (env.CLICKS !== undefined) own.CLICKS = boundCalls(env.CLICKS, BINDING_TIMEOUT_MS, "the queue of clicks");
	if (env.POSTBACKS !== undefined) own.POSTBACKS = boundCalls(env.POSTBACKS, BINDING_TIMEOUT_MS, "the queue of postbacks");
	if (env.CALLBACKS !== undefined) own.CALLBACKS = boundCalls(env.CALLBACKS, BINDING_TIMEOUT_MS, "the queue of callbacks");
	if (env.FAILED_KEYS !== undefined) own.FAILED_KEYS = boundCalls(env.FAILED_KEYS, LIMIT_TIMEOUT_MS, "the limit");
	if (env.UNKNOWN_KEYS !== undefined) own.UNKNOWN_KEYS = boundCalls(env.UNKNOWN_KEYS, LIMIT_TIMEOUT_MS, "the limit");
	if (env.PUBLISHERS !== undefined) own.PUBLISHERS = boundCalls(env.PUBLISHERS, LIMIT_TIMEOUT_MS, "the limit");
	if (env.ARCHIVE !== undefined) own.ARCHIVE = boundCalls(env.ARCHIVE, ARCHIVE_TIMEOUT_MS, "the archive");
	bounded.set(env, own);
	bounded.set(own, own);
	return own;
}

/** The network database, what it can be moved from and to, and the products'. */
export function databases(env: Env) {
	const { inUse, isPostgres, move } = chooseNetwork(env);
	if (inUse === undefined || env.PRODUCTS === undefined) throw new Error("the bindings DB, or POSTGRES, and PRODUCTS are needed");
	const db = openDatabase(inUse);
	const between = move && { from: openDatabase(move.from), to: openDatabase(move.to), hasSwitched: isPostgres };
	return { db, isPostgres, products: openDatabase(boundD1(env.PRODUCTS, "the products database")), move: between };
}
