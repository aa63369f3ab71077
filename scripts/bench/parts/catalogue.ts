import { countColdReads } from "../catalogue/cold.ts";
import { streamPast } from "../catalogue/past.ts";
import { compareResident } from "../catalogue/resident.ts";
import { prepareCatalogues } from "../catalogue/state.ts";
import { streamBids } from "../catalogue/stream.ts";
import { tellCost } from "../cost.ts";
import { atLeast, atMost, tell } from "../figure.ts";
import { cpuRatioOf, medianOf, ratioOf } from "../load.ts";
import type { Part } from "../part.ts";

const MEGABYTE = 1_000_000;
const MAX_COST_RATIO = 1.05;
/** Of bids after the warm-up. */
const MAX_WAITED_SHARE = 0.01;

export const catalogue: Part = {
	name: "catalogue",
	about: "bids over 1,000 against 1,000,000 campaigns, and over 5,000,000: cost, memory, waits and KV reads",
	async run(bench) {
		await prepareCatalogues(bench);
		const cold = await countColdReads(bench);
		const { small, large } = await compareResident(bench);
		const timeRatio = ratioOf(small, large, "perSecond");
		const { streams, ...stream } = await streamBids(bench);
		const past = await streamPast(bench);
		const { perSecond } = streams[0];
		return [
			// What a bid costs is workerd's CPU time for it; where that cannot be read, the inverse of the throughput.
			atMost("catalogue.cost_ratio", cpuRatioOf(large, small) ?? timeRatio, "×", MAX_COST_RATIO),
			tell("catalogue.time_ratio", timeRatio, "×"),
			tell("catalogue.small.throughput", medianOf(small, "perSecond"), "requests/s"),
			tell("catalogue.large.throughput", medianOf(large, "perSecond"), "requests/s"),
			atMost("catalogue.resident_book", stream.heapBytes / MEGABYTE, "MB", 48),
			tell("catalogue.resident_book_reckoned", stream.reckonedBytes / MEGABYTE, "MB"),
			tell("catalogue.resident_shards", stream.residentShards, "shards"),
			atMost("catalogue.replacing_book", stream.replacingBytes / MEGABYTE, "MB", 60),
			atMost("catalogue.waited_share", streams[0].waitedShare, `of ${streams[0].bids} bids`, MAX_WAITED_SHARE),
			atMost("catalogue.waited_share_50", streams[50].waitedShare, `of ${streams[50].bids} bids`, MAX_WAITED_SHARE),
			atMost("catalogue.waited_share_90", streams[90].waitedShare, `of ${streams[90].bids} bids`, MAX_WAITED_SHARE),
			tell("catalogue.stream_throughput", perSecond, "requests/s"),
			atLeast("catalogue.stream_ratio", perSecond / medianOf(large, "perSecond"), "×", 0.9),
			...tellCost("catalogue.bid", streams[0].cpuMicros, streams[0].keysRead),
			tell("catalogue.past.waited_share", past.waitedShare, `of ${past.bids} bids`),
			tell("catalogue.past.waited_share_90", past.waitedShare90, "of bids, 90 % of them on unknown advertisers"),
			tell("catalogue.past.held_share", past.heldShare, "of the facts"),
			atMost("catalogue.cold_reads", cold.operations, "KV reads", 2),
			tell("catalogue.cold_keys", cold.keys, "keys"),
		];
	},
};
