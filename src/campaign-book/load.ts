/**
 * Reads the campaign book at the edge: KV → isolate memory. Everything kept is plain data, never another request's promise.
 *
 * A resident lookup is synchronous. The manifest is re-read in the background once it is older than its TTL while the old one
 * serves; before a new one takes over, the changed shards among the resident ones are fetched, so that no bid waits for a
 * publish and no bid sees two books.
 */
import type { WaitUntil } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
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
	shardKey,
	shardVersion,
} from "./format.ts";
import { BookUnavailableError, openShard, ResidentShards, type Shard } from "./resident-shards.ts";
import { shardOf, slotOf } from "./slots.ts";

/** The part of a KV namespace that reading a book needs. */
export type BookStore = {
	get(keys: string[], options: { type: "text"; cacheTtl: number }): Promise<Map<string, string | null>>;
};

/** KV's shortest cache life; longer would only delay a publish. */
const MANIFEST_CACHE_SECONDS = 30;
/** Shards never change under their key. Misses are cached too, so this bounds how long a late shard is missed. */
const SHARD_CACHE_SECONDS = 3_600;
/** Pauses are re-read this often, in the background. */
const PAUSES_TTL_MS = 10_000;
/** A refresh that has not ended after this long is taken for lost. */
const REFRESH_LOST_MS = 10_000;
/** Past this many TTLs without a look at KV (an isolate that slept), a request waits for the refresh. */
const STALE_TTLS = 10;
/** At most so many changed shards are fetched before a new manifest takes over; the others load when they are asked for. */
const PREFETCH_SHARDS = 64;
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
	readonly #shards: ResidentShards;
	#snapshot: BookSnapshot | null = null;
	#previous: Manifest | null = null;
	#paused: ReadonlySet<number> = new Set();
	/** What the head called them when they were read; null where they must be read again, whatever it says. */
	#pausesVersion: string | null = null;
	#manifestReadAt = 0;
	#pausesReadAt = 0;
	#refreshStartedAt = Number.NEGATIVE_INFINITY;
	#pausesStartedAt = Number.NEGATIVE_INFINITY;
	#waits = 0;

	constructor(store: BookStore, options: BookOptions) {
		this.#store = store;
		this.#ttlMs = options.snapshotTtlMs;
		this.#shards = new ResidentShards(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
	}

	/** What is in memory: for readiness answers and benchmarks. `waits` counts the lookups that had to go to KV. */
	get stats() {
		return { bytes: this.#shards.bytes, shards: this.#shards.size, waits: this.#waits };
	}

	/**
	 * The present snapshot: at once when there is one, a promise on a cold isolate or one that slept long.
	 * Null where no readable book has been published.
	 */
	snapshot(now: number, waitUntil: WaitUntil): BookSnapshot | null | Promise<BookSnapshot | null> {
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
		const { manifest } = snapshot;
		const index = shardOf(slotOf(key), manifest.bits);
		const version = shardVersion(manifest, index);
		if (version === null) return null;
		const shard = this.#shards.get(manifest.bits, index, version);
		if (shard !== undefined) return this.#shards.read(shard, key);
		this.#waits++;
		return this.#load(manifest, index, version).then((loaded) => this.#shards.read(loaded, key));
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
			await this.#take(parseManifest(values.get(MANIFEST_KEY) ?? null), now);
		} catch (error) {
			logError("book.refresh_failed", error);
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
			logError("book.pauses_failed", error);
		}
		// As above: tried, with whatever result.
		this.#pausesReadAt = now;
		this.#pausesStartedAt = Number.NEGATIVE_INFINITY;
	}

	#get(keys: string[]): Promise<Map<string, string | null>> {
		return this.#store.get(keys, { type: "text", cacheTtl: MANIFEST_CACHE_SECONDS });
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

	async #take(manifest: Manifest | null, now: number): Promise<void> {
		const current = this.#snapshot?.manifest;
		if (manifest === null || (current !== undefined && manifest.version <= current.version)) return;
		if (current !== undefined) await this.#prefetch(current, manifest);
		// While the shards came, another request may have taken a newer book.
		if (this.#snapshot !== null && this.#snapshot.manifest.version >= manifest.version) return;
		this.#previous = current ?? null;
		this.#snapshot = openSnapshot(manifest);
		this.#manifestReadAt = now;
	}

	/** Fetches the changed ones of the resident shards, most recently used first. @throws where KV fails or one cannot be read */
	async #prefetch(current: Manifest, next: Manifest): Promise<void> {
		if (current.bits !== next.bits) return;
		const changed: [index: number, version: string][] = [];
		for (const shard of this.#shards.newestFirst()) {
			const version = shardVersion(next, shard.index);
			if (version !== null && version !== shard.version && changed.length < PREFETCH_SHARDS) changed.push([shard.index, version]);
		}
		if (changed.length === 0) return;
		const keys = changed.map(([index, version]) => shardKey(next.bits, index, version));
		const texts = await this.#store.get(keys, { type: "text", cacheTtl: SHARD_CACHE_SECONDS });
		for (const [index, version] of changed) {
			const text = texts.get(shardKey(next.bits, index, version)) ?? null;
			// One that KV has not must not hold up all the others: it is looked for when it is asked for.
			if (text === null) logError("book.shard_unavailable", new Error("a changed shard is not in KV"), { shard: index, version });
			else this.#shards.keep(openShard(next.bits, index, version, text));
		}
	}

	async #load(manifest: Manifest, index: number, version: string): Promise<Shard> {
		const key = shardKey(manifest.bits, index, version);
		let shard: Shard;
		try {
			const values = await this.#store.get([key], { type: "text", cacheTtl: SHARD_CACHE_SECONDS });
			shard = openShard(manifest.bits, index, version, values.get(key) ?? null);
		} catch (error) {
			return this.#loadPrevious(manifest, index, version, error);
		}
		this.#shards.keep(shard);
		return shard;
	}

	/** A shard that KV has not spread here yet: its last good version, for this lookup only. */
	async #loadPrevious(manifest: Manifest, index: number, missing: string, cause: unknown): Promise<Shard> {
		logError("book.shard_unavailable", cause, { shard: index, version: missing });
		const previous = this.#previous;
		const version = previous === null || previous.bits !== manifest.bits ? null : shardVersion(previous, index);
		if (version === null || version === missing) throw unavailable(cause);
		const key = shardKey(manifest.bits, index, version);
		try {
			const values = await this.#store.get([key], { type: "text", cacheTtl: SHARD_CACHE_SECONDS });
			return openShard(manifest.bits, index, version, values.get(key) ?? null);
		} catch (error) {
			throw unavailable(error);
		}
	}
}

function unavailable(cause: unknown): BookUnavailableError {
	return new BookUnavailableError("a shard of the campaign book cannot be read", { cause });
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
