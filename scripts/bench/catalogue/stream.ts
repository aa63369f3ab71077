/** Long streams of bids over a large catalogue: how many waited for KV, and what an isolate then holds in memory. */
import { MANIFEST_KEY } from "../../../src/campaign-book/format.ts";
import { chunkKey, parseHead, versionAt } from "../../../src/campaign-book/packed/head.ts";
import { Random } from "../../demo/random.ts";
import { median } from "../figure.ts";
import { Inspector } from "../inspector.ts";
import { CONNECTIONS, LoadProcess } from "../load.ts";
import type { Target } from "../load-protocol.ts";
import type { Bench } from "../part.ts";
import type { Runtime } from "../runtime.ts";
import { readServerCpu } from "../server-cpu.ts";
import { bidTarget, readStats, startCountedEdges, unknownTarget, warmUp } from "./edge.ts";
import { brandsFor } from "./generate.ts";
import { campaignsOf } from "./state.ts";
import { Zipf } from "./zipf.ts";

const SEED = 78;
const BIDS = 60_000;
const BIDS_PER_CALL = 10_000;
/** Shares of bids on advertisers that are unknown, per cent; the first gets three times as many bids. */
const UNKNOWN_SHARES = [0, 50, 90] as const;
/** The isolate looks for a new book once its own is 15 s old, and then replaces all of it. */
const REPLACEMENT_MS = 40_000;

/** Statuses of a bid and of none. */
const BID_OR_NONE = [200, 204] as const;

type Stream = {
	bids: number;
	/** The part of all bids that waited for KV, after the warm-up. */
	waitedShare: number;
	/** Keys read from KV, a bid: refreshes included. */
	keysRead: number;
	/** CPU of workerd a bid, in microseconds; null where it cannot be read. */
	cpuMicros: number | null;
	/** The median over every BIDS_PER_CALL bids. */
	perSecond: number;
};

export type StreamResult = {
	/** By the share of unknown advertisers, per cent. */
	streams: Record<(typeof UNKNOWN_SHARES)[number], Stream>;
	/** V8's heap after a full collection, less that of the same Worker before its first bid; buffers outside the heap included. */
	heapBytes: number;
	/** The most of it while every chunk of the book is replaced. */
	replacingBytes: number;
	/** What the book itself reckons that it holds. */
	reckonedBytes: number;
	residentShards: number;
};

export async function streamBids(bench: Bench): Promise<StreamResult> {
	await using runtime = await startCountedEdges(bench, ["large"], { inspectorPort: 0 });
	const origin = await runtime.origin("large");
	const poke = async () => (await fetch(`${origin}/health`)).arrayBuffer();
	await poke();
	using inspector = await Inspector.connect(runtime, "large");
	const before = await inspector.heap(poke);
	const readHeap = async () => {
		const { used, buffers } = await inspector.heap(poke);
		return used + buffers - before.used - before.buffers;
	};
	await warmUp(bench, origin);
	using load = new LoadProcess();
	const brands = brandsFor(campaignsOf(bench, "large"));
	const streams = {
		0: await stream(bench, load, origin, { brands, bids: BIDS, unknownShare: 0 }),
		50: await stream(bench, load, origin, { brands, bids: BIDS / 3, unknownShare: 50 }),
		90: await stream(bench, load, origin, { brands, bids: BIDS / 3, unknownShare: 90 }),
	};
	const heapBytes = await readHeap();
	const { bytes, shards } = await readStats(origin);
	const replacingBytes = await replaceBook(bench, runtime, readHeap, async () => {
		const { path, body = null } = bidTarget(0, 0);
		await (await fetch(`${origin}${path}`, { method: "POST", body, headers: { "content-type": "application/json" } })).arrayBuffer();
	});
	return { streams, heapBytes, replacingBytes, reckonedBytes: bytes, residentShards: shards };
}

type StreamOptions = {
	/** Brands of the catalogue, drawn by Zipf's law. */
	brands: number;
	bids: number;
	/** Share of bids on unknown advertisers, per cent. */
	unknownShare: number;
};

export async function stream(
	bench: Bench,
	load: LoadProcess,
	origin: string,
	{ brands, bids, unknownShare }: StreamOptions,
): Promise<Stream> {
	const random = new Random(SEED + unknownShare);
	const zipf = new Zipf(random, brands);
	const { waits: waitedBefore, keysRead: keysBefore } = await readStats(origin);
	const readCpu = readServerCpu();
	const cpuBefore = readCpu?.() ?? 0;
	const rates: number[] = [];
	let waited = 0;
	for (let sent = 0; sent < bids; sent += BIDS_PER_CALL) {
		const targets = Array.from(
			{ length: BIDS_PER_CALL },
			(_, at): Target =>
				random.chance(unknownShare / 100) ? unknownTarget(random.integer(0, 10 * brands), sent + at) : bidTarget(zipf.next(), sent + at),
		);
		const { perSecond, ownCpu } = await load.run({ origin, targets, connections: CONNECTIONS, once: true }, BID_OR_NONE);
		rates.push(perSecond);
		const { waits, shards, bytes } = await readStats(origin);
		waited = waits - waitedBefore;
		bench.say(
			`${sent + BIDS_PER_CALL} bids by Zipf, ${unknownShare} % of them on unknown advertisers, ${perSecond.toFixed(0)}/s with ${ownCpu.toFixed(2)} of a core to ask: ${waited} lookups waited, ${shards} parts resident, ${(bytes / 1e6).toFixed(1)} MB by the book's reckoning`,
		);
	}
	const cpuMicros = readCpu === null ? null : ((readCpu() - cpuBefore) * 1_000_000) / bids;
	const { keysRead } = await readStats(origin);
	return { bids, waitedShare: waited / bids, keysRead: (keysRead - keysBefore) / bids, cpuMicros, perSecond: median(rates) };
}

/** Publishes the same book under other versions, as if every campaign had changed. Returns the most memory it took meanwhile. */
async function replaceBook(bench: Bench, runtime: Runtime, readHeap: () => Promise<number>, bid: () => Promise<void>): Promise<number> {
	const kv = await runtime.miniflare.getKVNamespace("BOOK", "large");
	const head = parseHead(await kv.get(MANIFEST_KEY, "text"));
	if (head === null) throw new Error("the large catalogue has no packed book");
	const versions: string[] = [];
	for (let index = 0; index < 2 ** head.bits; index++) {
		const version = versionAt(head.facts, index);
		versions.push(version === null ? " ".repeat(12) : `-${version.slice(1)}`);
		const bytes = version === null ? null : await kv.get(chunkKey("f", head.bits, index, version), "arrayBuffer");
		if (bytes !== null) await kv.put(chunkKey("f", head.bits, index, versions.at(-1) ?? ""), bytes);
	}
	await kv.put(MANIFEST_KEY, JSON.stringify({ ...head, version: head.version + 1, publishedAt: Date.now(), facts: versions.join("") }));
	let most = 0;
	for (const startedAt = performance.now(); performance.now() - startedAt < REPLACEMENT_MS; ) {
		await bid();
		most = Math.max(most, await readHeap());
	}
	bench.say(`while every chunk was replaced, the book took ${(most / 1e6).toFixed(1)} MB at most`);
	return most;
}
