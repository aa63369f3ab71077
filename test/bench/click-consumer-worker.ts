/**
 * Bench-only Worker: the click consumer, given messages that are made here. POST /?first=F&batches=N writes N batches of 100 from click F
 * on, with &lanes=L by so many consumers at once; with &floor only what no consumer can leave out, straight into D1: one round trip that reads, one that inserts the clicks.
 */
import { CLICK_ROW_COLUMNS, clickRow } from "../../scripts/bench/clicks/row.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "../../src/clicks/consumer/kept-facts.ts";
import type { Env } from "../../src/config.ts";
import { chooseNetwork } from "../../src/db/choose.ts";
import { openDatabase } from "../../src/db/client.ts";
import { withConnectionsOf } from "../../src/db/postgres-connections.ts";
import { benchClick } from "./click-messages.ts";

const BATCH = 100;
const facts = new KeptFacts();

const INSERT = `INSERT INTO clicks (${CLICK_ROW_COLUMNS.join(", ")})
	WITH given AS MATERIALIZED (SELECT jsonb(value) AS value FROM json_each(?))
	SELECT ${CLICK_ROW_COLUMNS.map((_, at) => `value ->> ${at}`).join(", ")} FROM given`;

async function insertAlone(db: D1Database, first: number, batches: number): Promise<void> {
	for (let start = first; start < first + batches * BATCH; start += BATCH) {
		await db.batch([db.prepare("SELECT version FROM click_sequence")]);
		const rows = Array.from({ length: BATCH }, (_, at) => Object.values(clickRow(start + at)));
		await db.batch([db.prepare(INSERT).bind(JSON.stringify(rows))]);
	}
}

export default {
	async fetch(request, env) {
		const query = new URL(request.url).searchParams;
		const [first, batches] = [Number(query.get("first")), Number(query.get("batches"))];
		// What distinguishes visitors; a click without it is not remembered for repeats.
		const isKnown = query.has("known");
		if (query.has("floor") && env.DB !== undefined) {
			await insertAlone(env.DB, first, batches);
			return new Response(String(batches * BATCH));
		}
		const { inUse } = chooseNetwork(env);
		if (inUse === undefined) throw new Error("the binding DB or POSTGRES is needed");
		// Clicks are counted as soon as they are made.
		const ahead = benchClick(first).at - Date.now();
		const deps = { db: openDatabase(inUse), kv: env.BOOK, now: () => Date.now() + ahead, facts };
		const lanes = Number(query.get("lanes") ?? 1);
		const consume = async (lane: number) => {
			for (let start = first + lane * BATCH; start < first + batches * BATCH; start += lanes * BATCH) {
				const letters = Array.from({ length: BATCH }, (_, at) => ({ id: String(at), body: messageOf(start + at, isKnown) }));
				// As the handler of the queue does for each batch.
				await (query.has("connect") ? withConnectionsOf(env, () => consumeClicks(deps, letters)) : consumeClicks(deps, letters));
			}
		};
		// Hyperdrive keeps connections to the server from batch to batch.
		const run = (lane: number) => (query.has("connect") ? consume(lane) : withConnectionsOf(env, () => consume(lane)));
		await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
		return new Response(String(batches * BATCH));
	},
} satisfies ExportedHandler<Env>;

function messageOf(at: number, isKnown: boolean) {
	const click = benchClick(at);
	return isKnown ? { ...click, connection: click.hash.slice(0, 16) } : click;
}
