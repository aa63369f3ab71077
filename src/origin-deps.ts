/** What the origin's routes and its background work are given: the databases, and what is made of bindings and variables. */
import type { CallbackDeps } from "./callbacks/deliver-callback.ts";
import type { CallbackMessage } from "./callbacks/message.ts";
import type { ConsumeDeps } from "./clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "./clicks/consumer/kept-facts.ts";
import { type Env, readConfig } from "./config.ts";
import { chooseNetwork } from "./db/choose.ts";
import { openDatabase } from "./db/client.ts";
import { boundD1 } from "./db/wrap-d1.ts";
import { BINDING_TIMEOUT_MS, boundCalls } from "./lib/away.ts";
import { measureTo } from "./lib/measure.ts";
import { SecretBox } from "./lib/secret-box.ts";

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

/** The bindings of the origin and of its background work: none of KV and the queues is waited for for ever, as no database is. */
export function boundEnv(env: Env): Env {
	const known = bounded.get(env);
	if (known !== undefined) return known;
	const queue = (binding: Queue | undefined) => binding && boundCalls(binding, BINDING_TIMEOUT_MS, "the queue");
	const [clicks, postbacks, callbacks] = [queue(env.CLICKS), queue(env.POSTBACKS), queue(env.CALLBACKS)];
	const own: Env = {
		...env,
		BOOK: boundCalls(env.BOOK, BINDING_TIMEOUT_MS, "KV"),
		...(clicks !== undefined && { CLICKS: clicks }),
		...(postbacks !== undefined && { POSTBACKS: postbacks }),
		...(callbacks !== undefined && { CALLBACKS: callbacks }),
	};
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
	return { db, isPostgres, products: openDatabase(boundD1(env.PRODUCTS)), move: between };
}
