/** The edge Worker over a catalogue, with its KV reads counted. */
import { ACME } from "../../demo/well-known.ts";
import { buildWorker } from "../build-worker.ts";
import type { Target } from "../load-protocol.ts";
import type { Bench } from "../part.ts";
import { openRtbTarget } from "../requests.ts";
import { type Runtime, startWorkers } from "../runtime.ts";
import { domainOf } from "./generate.ts";

export type BookStats = {
	/** What the book reckons that it holds in memory. */
	bytes: number;
	shards: number;
	/** Lookups that had to go to KV. */
	waits: number;
	/** KV read operations, and the keys they asked for. */
	gets: number;
	keysRead: number;
	/** The same before the first answer: what goes on behind it, no bid waits for. */
	beforeFirst: { gets: number; keysRead: number };
};

/** The book has come to rest once it has not changed for this time. */
const AT_REST_MS = 2_000;

/** Waits until an isolate has fetched what it fetches in the background. */
export async function warmUp(bench: Bench, origin: string): Promise<void> {
	const { path, body = null } = bidTarget(0, 0);
	let shards = -1;
	for (let changedAt = performance.now(); performance.now() - changedAt < AT_REST_MS; ) {
		await (await fetch(`${origin}${path}`, { method: "POST", body, headers: { "content-type": "application/json" } })).arrayBuffer();
		const stats = await readStats(origin);
		if (stats.shards !== shards) changedAt = performance.now();
		shards = stats.shards;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	bench.say(`${shards} parts of the book in memory after the warm-up`);
}

type EdgeOptions = { inspectorPort?: number; variables?: Record<string, string> };

/** @param names of stored books */
export async function startCountedEdges(
	bench: Bench,
	names: readonly string[],
	{ inspectorPort, variables = {} }: EdgeOptions = {},
): Promise<Runtime> {
	const script = await buildWorker(bench, { entry: "test/bench/counted-edge.ts", environment: "edge" });
	return startWorkers(
		bench.folder,
		names.map((name) => ({ name, script, state: name, variables })),
		inspectorPort,
	);
}

export async function readStats(origin: string): Promise<BookStats> {
	return (await (await fetch(`${origin}/bench/stats`)).json()) as BookStats;
}

/** A bid request for an advertiser that no catalogue has. */
export function unknownTarget(number: number, at: number): Target {
	return openRtbTarget(ACME.publisher_identity, `unknown-${number.toString(36)}.example`, at);
}

/** A bid request for a brand of the catalogues. */
export function bidTarget(brand: number, at: number): Target {
	return openRtbTarget(ACME.publisher_identity, domainOf(brand), at);
}
