/** A stream of bids over a catalogue that no isolate holds as a whole. */
import { FILTER_SPAN_BITS } from "../../../src/campaign-book/packed/head.ts";
import { buildWorker } from "../build-worker.ts";
import { LoadProcess } from "../load.ts";
import type { Bench } from "../part.ts";
import { startWorkers } from "../runtime.ts";
import { readStats, startCountedEdges, warmUp } from "./edge.ts";
import { brandsFor } from "./generate.ts";
import { stream } from "./stream.ts";

/** As many campaigns as in the large catalogue, so many times. */
const TIMES_LARGE = 5;
/** About 64 KiB a chunk. */
const CAMPAIGNS_A_CHUNK = 2_500;
/** Of an isolate, where the large catalogue has a million campaigns; less where it has fewer. */
const MEMORY_MIB = 44;
const MILLION = 1_000_000;
const CHUNKS_PER_CALL = 64;
const BIDS = 60_000;

export async function streamPast(bench: Bench): Promise<{ waitedShare: number; waitedShare90: number; bids: number; heldShare: number }> {
	const campaigns = TIMES_LARGE * bench.campaigns;
	const bytes = await packBook(bench, campaigns);
	const memory = Math.ceil((MEMORY_MIB * Math.min(bench.campaigns, MILLION)) / MILLION);
	await using runtime = await startCountedEdges(bench, ["past"], { variables: { BOOK_MEMORY_MIB: String(memory) } });
	const origin = await runtime.origin("past");
	await warmUp(bench, origin);
	using load = new LoadProcess();
	const brands = brandsFor(campaigns);
	// What is asked for most is in memory after the first.
	await stream(bench, load, origin, { brands, bids: BIDS / 2, unknownShare: 0 });
	const { waitedShare, bids } = await stream(bench, load, origin, { brands, bids: BIDS / 2, unknownShare: 0 });
	const { waitedShare: waitedShare90 } = await stream(bench, load, origin, { brands, bids: BIDS / 3, unknownShare: 90 });
	return { waitedShare, waitedShare90, bids, heldShare: (await readStats(origin)).bytes / bytes };
}

async function packBook(bench: Bench, campaigns: number): Promise<number> {
	const bits = Math.max(FILTER_SPAN_BITS, Math.ceil(Math.log2(campaigns / CAMPAIGNS_A_CHUNK)));
	const script = await buildWorker(bench, { entry: "test/bench/pack-worker.ts" });
	await using runtime = await startWorkers(bench.folder, [{ name: "pack", script, state: "past" }]);
	const origin = await runtime.origin("pack");
	let bytes = 0;
	for (let from = 0; from < 2 ** bits; from += CHUNKS_PER_CALL) {
		const query = `campaigns=${campaigns}&bits=${bits}&from=${from}&to=${from + CHUNKS_PER_CALL}`;
		({ bytes } = (await (await fetch(`${origin}/pack?${query}`, { method: "POST" })).json()) as { bytes: number });
	}
	bench.say(`packed ${campaigns} campaigns: ${(bytes / 1e6).toFixed(1)} MB of facts`);
	return bytes;
}
