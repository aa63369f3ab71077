/**
 * Reads the campaign book at the edge: KV → isolate memory. Everything kept is plain data, never another request's promise.
 *
 * A resident lookup is synchronous. The manifest is re-read in the background once it is older than its TTL while the old one
 * serves; before a new one takes over, the changed shards among the resident ones are fetched, so that no bid waits for a
 * publish and no bid sees two books.
 */
import type { WaitUntil } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import { LogLimit } from "../lib/log-limit.ts";
import { DEFAULT_POLICY, layPolicies, type TrafficPolicy } from "../lib/traffic-rules.ts";
import {
	type BookBrand,
	type BookPublisher,
	decodePublisher,
	MANIFEST_KEY,
	type Manifest,
	PAUSED_HEAD_KEY,
	PAUSED_KEY,
	parseManifest,
	parsePauses,
	readPausesVersion,
} from "./format.ts";
import { SHORT_CACHE_SECONDS } from "./late-parts.ts";
import { type BookStore, ShardReader } from "./shard-reader.ts";

/** Pauses are re-read this often, in the background. */
const PAUSES_TTL_MS = 10_000;
/** A refresh that has not ended after this long is taken for lost. */
const REFRESH_LOST_MS = 10_000;
/** Past this many TTLs without a look at KV (an isolate that slept), a request waits for the refresh. */
const STALE_TTLS = 10;
const DEFAULT_CACHE_BYTES = 44 * 1024 * 1024;

/** One version of the book as an isolate sees it. */
export type BookSnapshot = {
	readonly manifest: Manifest;
	/** Every publisher by its identity, and by those it had: what click tokens carry. */
	readonly byIdentity: ReadonlyMap<string, BookPublisher>;
	/** Publishers enabled for the Serving Engine, by `pubi`. */
	readonly byPublisherId: ReadonlyMap<string, BookPublisher>;
	/** Publishers enabled for OpenRTB, by the identity in the path. */
	readonly byOpenRtbIdentity: ReadonlyMap<string, BookPublisher>;
	/** Names that a rotation replaced: `pubi {value}` and `rtb {value}`. */
	readonly former: ReadonlyMap<string, { publisher: BookPublisher; until: number }>;
	/** The network's rules on which clicks are paid. */
	readonly traffic: TrafficPolicy;
};

/** The publisher that a request to the OpenRTB endpoint names; by a former identity until its overlap ends. */
export function findByOpenRtbIdentity(snapshot: BookSnapshot, identity: string, now: number): BookPublisher | undefined {
	return snapshot.byOpenRtbIdentity.get(identity) ?? findFormer(snapshot, `rtb ${identity}`, now);
}

/** The publisher that a request to the Serving Engine names; by a former publisher id until its overlap ends. */
export function findByPublisherId(snapshot: BookSnapshot, publisherId: string, now: number): BookPublisher | undefined {
	return snapshot.byPublisherId.get(publisherId) ?? findFormer(snapshot, `pubi ${publisherId}`, now);
}

function findFormer({ former }: BookSnapshot, key: string, now: number): BookPublisher | undefined {
	const found = former.get(key);
	return found !== undefined && now < found.until ? found.publisher : undefined;
}

export type BookOptions = { snapshotTtlMs: number; cacheBytes?: number };

export class CampaignBook {
	readonly #store: BookStore;
	readonly #ttlMs: number;
	readonly #shards: ShardReader;
	#snapshot: BookSnapshot | null = null;
	readonly #errors = new LogLimit();
	/** The time of the latest request. */
	#now = 0;
	#paused: ReadonlySet<number> = new Set();
	/** What the head called them when they were read; null where they must be read again, whatever it says. */
	#pausesVersion: string | null = null;
	#manifestReadAt = 0;
	#pausesReadAt = 0;
	#refreshStartedAt = Number.NEGATIVE_INFINITY;
	#pausesStartedAt = Number.NEGATIVE_INFINITY;

	constructor(store: BookStore, options: BookOptions) {
		this.#store = store;
		this.#ttlMs = options.snapshotTtlMs;
		this.#shards = new ShardReader(store, options.cacheBytes ?? DEFAULT_CACHE_BYTES, this.#errors);
	}

	/** What is in memory: for readiness answers and benchmarks. `waits` counts the lookups that had to go to KV. */
	get stats() {
		return this.#shards.stats;
	}

	/**
	 * The present snapshot: at once when there is one, a promise on a cold isolate or one that slept long.
	 * Null where no readable book has been published.
	 */
	snapshot(now: number, waitUntil: WaitUntil): BookSnapshot | null | Promise<BookSnapshot | null> {
		this.#now = now;
		const age = now - this.#manifestReadAt;
		if (this.#snapshot === null || age > this.#ttlMs * STALE_TTLS) return this.#readBoth(now);
		if (age > this.#ttlMs) {
			if (now - this.#refreshStartedAt > REFRESH_LOST_MS) {
				this.#refreshStartedAt = now;
				waitUntil(this.#readBoth(now));
			}
		} else if (now - this.#pausesReadAt > PAUSES_TTL_MS && now - this.#pausesStartedAt > REFRESH_LOST_MS) {
			this.#pausesStartedAt = now;
			waitUntil(this.#readPauses(now));
		}
		return this.#snapshot;
	}

	/** Whether a campaign is paused because a cap is met. */
	isPaused(campaignId: number): boolean {
		return this.#paused.has(campaignId);
	}

	/**
	 * The brands of an entry, or null where the book has no such entry; a promise where its shard is not resident.
	 * @throws BookUnavailableError (or rejects with it) where the shard cannot be read
	 */
	entry(snapshot: BookSnapshot, key: string): readonly BookBrand[] | null | Promise<readonly BookBrand[] | null> {
		return this.#shards.entry(snapshot.manifest, key, this.#now);
	}

	/** Takes a manifest that was just published in this very isolate, without waiting for KV to tell. */
	async adopt(manifestText: string, now: number): Promise<void> {
		await this.#take(parseManifest(manifestText), now);
	}

	/** Takes pauses that were just published in this very isolate, without waiting for KV to tell. */
	adoptPauses(campaignIds: readonly number[], now: number): void {
		this.#paused = new Set(campaignIds);
		this.#pausesVersion = null;
		this.#pausesReadAt = now;
	}

	async #readBoth(now: number): Promise<BookSnapshot | null> {
		try {
			const values = await this.#get(
				this.#pausesVersion === null ? [MANIFEST_KEY, PAUSED_HEAD_KEY, PAUSED_KEY] : [MANIFEST_KEY, PAUSED_HEAD_KEY],
			);
			await this.#takePauses(values, now);
			const isTaken = await this.#take(parseManifest(values.get(MANIFEST_KEY) ?? null), now);
			if (!isTaken && this.#snapshot !== null) await this.#shards.fetchAwaited(this.#snapshot.manifest, now);
		} catch (error) {
			if (this.#errors.allows("refresh", now)) logError("book.refresh_failed", error);
		}
		// Tried, with whatever result: the last good book serves until the next try.
		this.#manifestReadAt = now;
		this.#refreshStartedAt = Number.NEGATIVE_INFINITY;
		return this.#snapshot;
	}

	async #readPauses(now: number): Promise<void> {
		try {
			const values = await this.#get(this.#pausesVersion === null ? [PAUSED_HEAD_KEY, PAUSED_KEY] : [PAUSED_HEAD_KEY]);
			await this.#takePauses(values, now);
		} catch (error) {
			if (this.#errors.allows("pauses", now)) logError("book.pauses_failed", error);
		}
		// As above: tried, with whatever result.
		this.#pausesReadAt = now;
		this.#pausesStartedAt = Number.NEGATIVE_INFINITY;
	}

	#get(keys: string[]): Promise<Map<string, string | null>> {
		return this.#store.get(keys, { type: "text", cacheTtl: SHORT_CACHE_SECONDS });
	}

	/**
	 * Takes pauses where the head names others than those that are known. There may be tens of thousands, and they change rarely: while the
	 * head stays, it alone is read. The two keys come in no order: what is read under a head that is not its own is taken, and read again.
	 */
	async #takePauses(values: ReadonlyMap<string, string | null>, now: number): Promise<void> {
		const named = readPausesVersion(values.get(PAUSED_HEAD_KEY) ?? null);
		this.#pausesReadAt = now;
		if (named !== null && named === this.#pausesVersion) return;
		const text = values.has(PAUSED_KEY) ? values.get(PAUSED_KEY) : (await this.#get([PAUSED_KEY])).get(PAUSED_KEY);
		const pauses = text == null ? null : parsePauses(text);
		// An unreadable value keeps the last good one; that both keys are missing means that nothing is paused.
		if (pauses !== null) this.#paused = new Set(pauses.campaigns);
		else if (text == null && named === null) this.#paused = new Set();
		this.#pausesVersion = pauses?.version !== undefined && pauses.version === named ? named : null;
	}

	/** Whether the manifest took over. */
	async #take(manifest: Manifest | null, now: number): Promise<boolean> {
		const current = this.#snapshot?.manifest;
		if (manifest === null || (current !== undefined && manifest.version <= current.version)) return false;
		if (current !== undefined) await this.#shards.prefetch(current, manifest, now);
		// While the shards came, another request may have taken a newer book.
		if (this.#snapshot !== null && this.#snapshot.manifest.version >= manifest.version) return false;
		this.#shards.takeOver(current ?? null, manifest);
		this.#snapshot = openSnapshot(manifest);
		this.#manifestReadAt = now;
		return true;
	}
}

function openSnapshot(manifest: Manifest): BookSnapshot {
	const byIdentity = new Map<string, BookPublisher>();
	const byPublisherId = new Map<string, BookPublisher>();
	const byOpenRtbIdentity = new Map<string, BookPublisher>();
	const former = new Map<string, { publisher: BookPublisher; until: number }>();
	const traffic = layPolicies(DEFAULT_POLICY, manifest.traffic ?? null);
	for (const wire of manifest.publishers) {
		const publisher = decodePublisher(wire, traffic);
		byIdentity.set(publisher.identity, publisher);
		if (wire.pubi !== undefined) byPublisherId.set(wire.pubi, publisher);
		if (wire.rtb !== undefined) byOpenRtbIdentity.set(wire.rtb, publisher);
		for (const { n, v, u } of wire.former ?? []) {
			// A bid made under a former identity is that identity's: its seat and its token name what the path named.
			const named = n === "identity" ? { ...publisher, identity: v } : publisher;
			if (n === "identity") byIdentity.set(v, named);
			if (n === "identity" && wire.rtb !== undefined) former.set(`rtb ${v}`, { publisher: named, until: u });
			if (n === "pubi" && wire.pubi !== undefined) former.set(`pubi ${v}`, { publisher: named, until: u });
		}
	}
	return { manifest, byIdentity, byPublisherId, byOpenRtbIdentity, former, traffic };
}
