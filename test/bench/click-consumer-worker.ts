/** Bench-only Worker: the click consumer, given messages that are made here. POST /?first=F&batches=N writes N batches of 100 from click F on. */
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "../../src/clicks/consumer/kept-facts.ts";
import type { Env } from "../../src/config.ts";
import { chooseNetwork } from "../../src/db/choose.ts";
import { openDatabase } from "../../src/db/client.ts";
import { withConnectionsOf } from "../../src/db/postgres.ts";
import { benchClick } from "./click-messages.ts";

const BATCH = 100;
const facts = new KeptFacts();

export default {
	async fetch(request, env) {
		const query = new URL(request.url).searchParams;
		const [first, batches] = [Number(query.get("first")), Number(query.get("batches"))];
		// What distinguishes visitors; a click without it is not remembered for repeats.
		const isKnown = query.has("known");
		const { inUse } = chooseNetwork(env);
		if (inUse === undefined) throw new Error("the binding DB or POSTGRES is needed");
		// Clicks are counted as soon as they are made.
		const ahead = benchClick(first).at - Date.now();
		const deps = { db: openDatabase(inUse), kv: env.BOOK, now: () => Date.now() + ahead, facts };
		const consume = async () => {
			for (let start = first; start < first + batches * BATCH; start += BATCH) {
				const letters = Array.from({ length: BATCH }, (_, at) => ({ id: String(at), body: messageOf(start + at, isKnown) }));
				// As the handler of the queue does for each batch.
				await (query.has("connect") ? withConnectionsOf(env, () => consumeClicks(deps, letters)) : consumeClicks(deps, letters));
			}
		};
		// Hyperdrive keeps connections to the server from batch to batch.
		await (query.has("connect") ? consume() : withConnectionsOf(env, consume));
		return new Response(String(batches * BATCH));
	},
} satisfies ExportedHandler<Env>;

function messageOf(at: number, isKnown: boolean) {
	const click = benchClick(at);
	return isKnown ? { ...click, connection: click.hash.slice(0, 16) } : click;
}
