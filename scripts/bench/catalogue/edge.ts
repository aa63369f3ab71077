/** The edge Worker over a catalogue, with its KV reads counted. */
import { ACME } from "../../demo/well-known.ts";
import { buildWorker } from "../build-worker.ts";
import type { Target } from "../load-protocol.ts";
import type { Bench } from "../part.ts";
import { openRtbTarget } from "../requests.ts";
import { type Runtime, startWorkers } from "../runtime.ts";
import { domainOf } from "./generate.ts";
import type { CatalogueName } from "./state.ts";

export type BookStats = {
	/** What the book reckons that it holds in memory. */
	bytes: number;
	shards: number;
	/** Lookups that had to go to KV. */
	waits: number;
	/** KV read operations, and the keys they asked for. */
	gets: number;
	keysRead: number;
};

export async function startCountedEdges(bench: Bench, names: readonly CatalogueName[], inspectorPort?: number): Promise<Runtime> {
	const script = await buildWorker(bench, { entry: "test/bench/counted-edge.ts", environment: "edge" });
	return startWorkers(
		bench.folder,
		names.map((name) => ({ name, script, state: name })),
		inspectorPort,
	);
}

export async function readStats(origin: string): Promise<BookStats> {
	return (await (await fetch(`${origin}/bench/stats`)).json()) as BookStats;
}

/** A bid request for a brand of the catalogues. */
export function bidTarget(brand: number, at: number): Target {
	return openRtbTarget(ACME.publisher_identity, domainOf(brand), at);
}
