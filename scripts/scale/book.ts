/** What the campaign book needs of KV and of an isolate's memory: pure. */
import type { Values } from "./assumptions.ts";

const HOUR_SECONDS = 3_600;
/** The catalogue that `largeBookBytes` and `largeWaitedShare` were measured with. */
const LARGE_CAMPAIGNS = 1_000_000;
/** Keys that a cold isolate reads before shards: the manifest, the pauses and their head. */
const COLD_KEYS = 3;

export type Book = {
	bytes: number;
	shards: number;
	/** Part of the book that an isolate holds. */
	residentShare: number;
	/** Part of the bids that read a shard from KV. */
	waitedShare: number;
};

/** A catalogue's book. What waits between the size that fits into memory and the one that was measured is taken in proportion. */
export function bookOf(campaigns: number, v: Values): Book {
	const residentShareOf = (bytes: number) => Math.min(1, (v.shardCacheMb * 1e6) / bytes);
	const bytes = (campaigns / LARGE_CAMPAIGNS) * v.largeBookBytes;
	const residentShare = residentShareOf(bytes);
	const measuredAbsent = 1 - residentShareOf(v.largeBookBytes);
	return {
		bytes,
		shards: 2 ** Math.ceil(Math.log2(Math.max(1, bytes / (v.shardKib * 1_024)))),
		residentShare,
		waitedShare: Math.min(1, ((1 - residentShare) / measuredAbsent) * v.largeWaitedShare),
	};
}

/** KV's keys read and written a second, its gigabytes, and how many isolates serve so many look-ups. */
export function bookNeeds(lookups: number, campaigns: number, v: Values) {
	const book = bookOf(campaigns, v);
	const isolates = Math.max(v.leastIsolates, lookups / v.bidsPerIsolate);
	const residentShards = book.shards * book.residentShare;
	// A look at the manifest is one at the pauses too; between two of them, pauses are looked at by themselves.
	const refreshes = (2 + Math.floor(v.manifestSeconds / v.pausesSeconds)) / v.manifestSeconds;
	const coldStarts = (COLD_KEYS + residentShards) / (v.isolateHours * HOUR_SECONDS);
	const changes = (v.pausesPerHour + v.changedShardsPerHour * book.residentShare) / HOUR_SECONDS;
	return {
		isolates,
		kvReads: isolates * (refreshes + coldStarts + changes) + lookups * book.waitedShare,
		kvWrites: (v.publishesPerHour + v.changedShardsPerHour + 2 * v.pausesPerHour) / HOUR_SECONDS,
		kvStorageGb: book.bytes / 1e9,
	};
}
