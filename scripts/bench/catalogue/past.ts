/** A stream of bids over a catalogue that no isolate holds as a whole. */
import { buildWorker } from "../build-worker.ts";
import { LoadProcess } from "../load.ts";
import type { Bench } from "../part.ts";
import { startWorkers } from "../runtime.ts";
import { readStats, startCountedEdges, warmUp } from "./edge.ts";
import { brandsFor } from "./generate.ts";
import { stream } from "./stream.ts";

const CAMPAIGNS = 5_000_000;
/** About 64 KiB a chunk. */
const BITS = 11;
const CHUNKS_PER_CALL = 64;
const BIDS = 60_000;

export async function streamPast(bench: Bench): Promise<{ waitedShare: number; waitedShare90: number; bids: number; heldShare: number }> {
	const bytes = await packBook(bench);
	await using runtime = await startCountedEdges(bench, ["past"]);
	const origin = await runtime.origin("past");
	await warmUp(bench, origin);
	using load = new LoadProcess();
	const brands = brandsFor(CAMPAIGNS);
	// What is asked for most is in memory after the first.
	await stream(bench, load, origin, { brands, bids: BIDS / 2, unknownShare: 0 });
	const { waitedShare, bids } = await stream(bench, load, origin, { brands, bids: BIDS / 2, unknownShare: 0 });
	const { waitedShare: waitedShare90 } = await stream(bench, load, origin, { brands, bids: BIDS / 3, unknownShare: 90 });
	return { waitedShare, waitedShare90, bids, heldShare: (await readStats(origin)).bytes / bytes };
}

async function packBook(bench: Bench): Promise<number> {
	const script = await buildWorker(bench, { entry: "test/bench/pack-worker.ts" });
	await using runtime = await startWorkers(bench.folder, [{ name: "pack", script, state: "past" }]);
	const origin = await runtime.origin("pack");
	let bytes = 0;
	for (let from = 0; from < 2 ** BITS; from += CHUNKS_PER_CALL) {
		const query = `campaigns=${CAMPAIGNS}&bits=${BITS}&from=${from}&to=${from + CHUNKS_PER_CALL}`;
		({ bytes } = (await (await fetch(`${origin}/pack?${query}`, { method: "POST" })).json()) as { bytes: number });
	}
	bench.say(`packed ${CAMPAIGNS} campaigns: ${(bytes / 1e6).toFixed(1)} MB of facts`);
	return bytes;
}
