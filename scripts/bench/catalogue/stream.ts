/** A long stream of bids over the large catalogue: how many waited for KV, and what an isolate then holds in memory. */
import { Random } from "../../demo/random.ts";
import { Inspector } from "../inspector.ts";
import { CONNECTIONS, LoadProcess } from "../load.ts";
import type { Bench } from "../part.ts";
import { readServerCpu } from "../server-cpu.ts";
import { bidTarget, readStats, startCountedEdges } from "./edge.ts";
import { brandsFor } from "./generate.ts";
import { CATALOGUES } from "./state.ts";
import { Zipf } from "./zipf.ts";

const SEED = 78;
const BIDS = 60_000;
const BIDS_PER_CALL = 10_000;

export type StreamResult = {
	bids: number;
	/** The part of all bids that waited for KV. */
	waitedShare: number;
	/** Keys read from KV, a bid: the first ones of a cold isolate, and refreshes, included. */
	keysRead: number;
	/** CPU of workerd a bid, in microseconds; null where it cannot be read. */
	cpuMicros: number | null;
	/** V8's heap after a full collection, less that of the same Worker before its first bid; buffers outside the heap included. */
	heapBytes: number;
	/** What the book itself reckons that it holds. */
	reckonedBytes: number;
	residentShards: number;
	perSecond: number;
};

export async function streamBids(bench: Bench): Promise<StreamResult> {
	await using runtime = await startCountedEdges(bench, ["large"], 0);
	const origin = await runtime.origin("large");
	const poke = async () => (await fetch(`${origin}/health`)).arrayBuffer();
	await poke();
	using inspector = await Inspector.connect(runtime, "large");
	const before = await inspector.heap(poke);

	using load = new LoadProcess();
	const zipf = new Zipf(new Random(SEED), brandsFor(CATALOGUES.large));
	let perSecond = 0;
	const readCpu = readServerCpu();
	const cpuBefore = readCpu?.() ?? 0;
	for (let sent = 0; sent < BIDS; sent += BIDS_PER_CALL) {
		const targets = Array.from({ length: BIDS_PER_CALL }, (_, at) => bidTarget(zipf.next(), sent + at));
		({ perSecond } = await load.run({ origin, targets, connections: CONNECTIONS, once: true }));
		const { waits, shards, bytes } = await readStats(origin);
		bench.say(
			`${sent + BIDS_PER_CALL} bids by Zipf, ${perSecond.toFixed(0)}/s: ${waits} lookups waited, ${shards} shards resident, ${(bytes / 1e6).toFixed(1)} MB by the book's reckoning`,
		);
	}
	const cpuMicros = readCpu === null ? null : ((readCpu() - cpuBefore) * 1_000_000) / BIDS;
	const after = await inspector.heap(poke);
	const { waits, bytes, shards, keysRead } = await readStats(origin);
	return {
		bids: BIDS,
		waitedShare: waits / BIDS,
		keysRead: keysRead / BIDS,
		cpuMicros,
		heapBytes: after.used + after.buffers - before.used - before.buffers,
		reckonedBytes: bytes,
		residentShards: shards,
		perSecond,
	};
}
