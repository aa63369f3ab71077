/** Bench-only Worker: the click consumer, given messages that are made here. POST /{round}?batches=N writes N batches of 100. */
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "../../src/clicks/consumer/kept-facts.ts";
import type { Env } from "../../src/config.ts";
import { openDatabase } from "../../src/db/client.ts";
import { benchClick } from "./click-messages.ts";

const BATCH = 100;
const facts = new KeptFacts();

export default {
	async fetch(request, env) {
		const url = new URL(request.url);
		const batches = Number(url.searchParams.get("batches"));
		const round = Number(url.pathname.slice(1));
		if (env.DB === undefined) throw new Error("the binding DB is needed");
		const deps = { db: openDatabase(env.DB), kv: env.BOOK, now: () => Date.now(), facts };
		for (let batch = 0; batch < batches; batch++) {
			const first = (round * batches + batch) * BATCH;
			const letters = Array.from({ length: BATCH }, (_, at) => ({ id: String(at), body: benchClick(first + at) }));
			await consumeClicks(deps, letters);
		}
		return new Response(String(batches * BATCH));
	},
} satisfies ExportedHandler<Env>;
