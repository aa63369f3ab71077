import { countColdReads } from "../catalogue/cold.ts";
import { compareResident } from "../catalogue/resident.ts";
import { prepareCatalogues } from "../catalogue/state.ts";
import { streamBids } from "../catalogue/stream.ts";
import { tellCost } from "../cost.ts";
import { atMost, tell } from "../figure.ts";
import { cpuRatioOf, medianOf, ratioOf } from "../load.ts";
import type { Part } from "../part.ts";

const MEGABYTE = 1_000_000;

export const catalogue: Part = {
	name: "catalogue",
	about: "bids over 1,000 against 1,000,000 campaigns: cost, memory, waits and KV reads",
	async run(bench) {
		await prepareCatalogues(bench);
		const cold = await countColdReads(bench);
		const { small, large } = await compareResident(bench);
		const timeRatio = ratioOf(small, large, "perSecond");
		const stream = await streamBids(bench);
		return [
			// What a bid costs is workerd's CPU time for it; where that cannot be read, the inverse of the throughput.
			atMost("catalogue.cost_ratio", cpuRatioOf(large, small) ?? timeRatio, "×", 1.15),
			tell("catalogue.time_ratio", timeRatio, "×"),
			tell("catalogue.small.throughput", medianOf(small, "perSecond"), "requests/s"),
			tell("catalogue.large.throughput", medianOf(large, "perSecond"), "requests/s"),
			atMost("catalogue.resident_book", stream.heapBytes / MEGABYTE, "MB", 48),
			tell("catalogue.resident_book_reckoned", stream.reckonedBytes / MEGABYTE, "MB"),
			tell("catalogue.resident_shards", stream.residentShards, "shards"),
			tell("catalogue.waited_share", stream.waitedShare, `of ${stream.bids} bids`),
			tell("catalogue.stream_throughput", stream.perSecond, "requests/s"),
			...tellCost("catalogue.bid", stream.cpuMicros, stream.keysRead),
			atMost("catalogue.cold_reads", cold.operations, "KV reads", 2),
			tell("catalogue.cold_keys", cold.keys, "keys"),
		];
	},
};
