import { waitUntil } from "cloudflare:workers";
import { SECOND_MS } from "../lib/time.ts";
import { CampaignBook } from "./load.ts";
import { CachedChunks } from "./packed/chunk-store.ts";

const MEBIBYTE = 1024 * 1024;

/** The variables of a Worker that say how it reads the book. */
type BookSettings = { SNAPSHOT_TTL_SECONDS: number; BOOK_MEMORY_MIB: number; RTB_URL: string };

/**
 * The campaign book as an isolate reads it.
 * @param fill whether it gets all that fits, as bids need it, or what is asked for alone
 */
export function openBook(kv: KVNamespace, settings: BookSettings, fill: boolean): CampaignBook {
	return new CampaignBook(kv, {
		snapshotTtlMs: settings.SNAPSHOT_TTL_SECONDS * SECOND_MS,
		cacheBytes: settings.BOOK_MEMORY_MIB * MEBIBYTE,
		chunks: new CachedChunks(kv, caches.default, settings.RTB_URL, waitUntil),
		fill,
	});
}
