/**
 * Reads the campaign book at the edge: KV → isolate memory. Everything kept is plain data, never another request's promise.
 *
 * A resident lookup is synchronous. The manifest is re-read in the background once it is older than its TTL while the old one
 * serves; before a new one takes over, the changed shards among the resident ones are fetched, so that no bid waits for a
 * publish and no bid sees two books.
 */
import { type WaitUntil, within } from "../lib/async.ts";
import { logError } from "../lib/log.ts";
import { LogLimit } from "../lib/log-limit.ts";
import type { BookBrand, BookPublisher } from "./book.ts";
import { BOOK_FORMAT, domainKey, keywordKey, MANIFEST_KEY, type Manifest, parseManifest } from "./format.ts";
import { SHORT_CACHE_SECONDS } from "./late-parts.ts";
import { LEARNED_KEY, LearnedFactors, parseLearned } from "./learned.ts";
import { BackgroundFill } from "./packed/background-fill.ts";
import type { ChunkStore } from "./packed/chunk-store.ts";
import { type Head, PACKED_FORMAT, parseHead } from "./packed/head.ts";
import { PackedReader, type PackedSnapshot } from "./packed/packed-reader.ts";
import { PausedCampaigns, REFRESH_LOST_MS } from "./paused-campaigns.ts";
import { type BookStore, ShardReader } from "./shard-reader.ts";
import { type ManifestSnapshot, openManifest } from "./snapshot.ts";

/** Past this many TTLs without a look at KV (an isolate that slept), a request waits for the refresh. */
const STALE_TTLS = 10;
/** It waits no longer than this, where it has a book all the same: KV may say nothing at all. */
const AWAITED_MS = 500;
/** A new book waits no longer for what it changes. */
const PREFETCH_MS = 5_000;
const DEFAULT_CACHE_BYTES = 44 * 1024 * 1024;

/** One version of the book as an isolate sees it. */
export type BookSnapshot = ManifestSnapshot | PackedSnapshot;

type FoundPublisher = BookPublisher | undefined | Promise<BookPublisher | undefined>;

/** The publisher that a request to the OpenRTB endpoint names; by a former identity until its overlap ends. */
export function findByOpenRtbIdentity({ publishers }: BookSnapshot, identity: string, now: number): FoundPublisher {
	return publishers.find("rtb", identity, now);
}

/** The publisher that a request to the Serving Engine names; by a former publisher id until its overlap ends. */
export function findByPublisherId({ publishers }: BookSnapshot, publisherId: string, now: number): FoundPublisher {
	return publishers.find("pubi", publisherId, now);
}

/** The publisher whose identity a click token carries, former ones among them. */
export function findByIdentity({ publishers }: BookSnapshot, identity: string, now: number): FoundPublisher {
	return publishers.find("identity", identity, now);
}

export type BookOptions = {
	snapshotTtlMs: number;
	/** Memory for what bids ask, bytes. */
	cacheBytes?: number;
	/** Where chunks of a packed book are read; absent: no such book is. */
	chunks?: ChunkStore;
	/** Whether the isolate gets all of a packed book that fits, or only what is asked for. */
	fill?: boolean;
};

/** Until the key could be read. */
const NO_FACTORS = new LearnedFactors(null);

/** For whom a book is taken: for a request that waits for it, for an isolate that has published it itself, or for those to come. */
type Taking = { isAwaited: () => boolean; hasPublished: boolean };

export class CampaignBook {
	readonly #store: BookStore;
	readonly #ttlMs: number;
	readonly #cacheBytes: number;
	#shards: ShardReader;
	readonly #packed: PackedReader | null;
	readonly #fill: BackgroundFill | null;
	readonly #errors = new LogLimit();
	#snapshot: BookSnapshot | null = null;
	/** The time of the latest request. */
	#now = 0;
	readonly #pauses: PausedCampaigns;
	#learned: LearnedFactors | null = null;
	#learnedText: string | null = null;
	#manifestReadAt = 0;
	#refreshStartedAt = Number.NEGATIVE_INFINITY;

	constructor(store: BookStore, options: BookOptions) {
		this.#store = store;
		this.#ttlMs = options.snapshotTtlMs;
		this.#cacheBytes = options.cacheBytes ?? DEFAULT_CACHE_BYTES;
		this.#pauses = new PausedCampaigns((keys) => this.#get(keys), this.#errors);
		this.#shards = new ShardReader(store, this.#cacheBytes, this.#errors);
		this.#packed = options.chunks === undefined ? null : new PackedReader(options.chunks, this.#cacheBytes, this.#errors);
		this.#fill = this.#packed === null || options.fill === false ? null : new BackgroundFill(this.#packed);
	}

	/** What is in memory: for readiness answers and benchmarks. `waits` counts the lookups that had to go to KV. */
	get stats() {
		return this.#snapshot?.format === PACKED_FORMAT && this.#packed !== null ? this.#packed.stats : this.#shards.stats;
	}

	/**
	 * The present snapshot: at once when there is one, a promise on a cold isolate or one that slept long.
	 * Null where no readable book has been published.
	 */
	snapshot(now: number, waitUntil: WaitUntil): BookSnapshot | null | Promise<BookSnapshot | null> {
		this.#now = now;
		const age = now - this.#manifestReadAt;
		if (this.#snapshot === null || age > this.#ttlMs * STALE_TTLS) {
			return this.#awaitBoth(now, waitUntil).then((snapshot) => {
				this.#fill?.start(this.#presentHead, now, waitUntil);
				return snapshot;
			});
		}
		this.#fill?.start(this.#presentHead, now, waitUntil);
		if (age > this.#ttlMs) {
			if (now - this.#refreshStartedAt > REFRESH_LOST_MS) {
				// It has looked, though nothing came of it: no bid waits for what KV may go on to keep to itself.
				if (this.#refreshStartedAt !== Number.NEGATIVE_INFINITY) this.#manifestReadAt = now - this.#ttlMs;
				this.#refreshStartedAt = now;
				waitUntil(this.#readBoth(now, () => false));
			}
		} else this.#pauses.refresh(now, waitUntil);
		return this.#snapshot;
	}

	/** Whether a campaign is paused because a cap is met. */
	isPaused(campaignId: number): boolean {
		return this.#pauses.has(campaignId);
	}

	/**
	 * What prices are multiplied by beyond what the book has; null where they are not learned. A book of learned prices is never without
	 * them, or bids would not be held back.
	 */
	get learned(): LearnedFactors | null {
		return this.#learned ?? (this.#snapshot?.manifest.learned === 1 ? NO_FACTORS : null);
	}

	/** The head of a packed book; null for another book, or none. */
	readonly #presentHead = (): Head | null => (this.#snapshot?.format === PACKED_FORMAT ? this.#snapshot.manifest : null);

	/**
	 * The brand that a host names, or null; a promise where it is not in memory.
	 * @throws BookUnavailableError (or rejects with it) where it cannot be read
	 */
	brandOf(snapshot: BookSnapshot, host: string): BookBrand | null | Promise<BookBrand | null> {
		if (snapshot.format === PACKED_FORMAT && this.#packed !== null) return this.#packed.host(snapshot, domainKey(host), this.#now);
		return firstOf(this.entry(snapshot, domainKey(host)));
	}

	/** A brand by its domain, with the templates of its links; as {@link brandOf}. */
	linkedBrandOf(snapshot: BookSnapshot, domain: string): BookBrand | null | Promise<BookBrand | null> {
		if (snapshot.format === PACKED_FORMAT && this.#packed !== null) return this.#packed.linked(snapshot, domain, this.#now);
		return firstOf(this.entry(snapshot, domainKey(domain)));
	}

	/** The campaigns that have an entry for a keyword, each as a brand of its own, highest keyword EPC first; as {@link brandOf}. */
	candidatesOf(snapshot: BookSnapshot, keyword: string): Iterable<BookBrand> | null | Promise<Iterable<BookBrand> | null> {
		if (snapshot.format === PACKED_FORMAT && this.#packed !== null) return this.#packed.keyword(snapshot, keywordKey(keyword), this.#now);
		return this.entry(snapshot, keywordKey(keyword));
	}

	/** The brands of an entry of either format, or null; as {@link brandOf}. */
	entry(snapshot: BookSnapshot, key: string): readonly BookBrand[] | null | Promise<readonly BookBrand[] | null> {
		if (snapshot.format === BOOK_FORMAT) return this.#shards.entry(snapshot.manifest, key, this.#now);
		const found = key.startsWith("k ") ? this.candidatesOf(snapshot, key.slice(2)) : this.brandOf(snapshot, key.slice(2));
		return found instanceof Promise ? found.then(listOf) : listOf(found);
	}

	/** Takes a manifest that was just published in this very isolate, without waiting for KV to tell. */
	async adopt(manifestText: string, now: number): Promise<void> {
		await this.#take(manifestText, now, { isAwaited: () => false, hasPublished: true });
		if ((this.#snapshot?.manifest.learned === 1) !== (this.#learned !== null)) await this.#takeLearned(new Map(), now);
	}

	/** Takes pauses that were just published in this very isolate, without waiting for KV to tell. */
	adoptPauses(campaignIds: readonly number[], now: number): void {
		this.#pauses.adopt(campaignIds, now);
	}

	/** @param isAwaited whether a request still waits for it, since there is no book or one from before a long sleep */
	async #readBoth(now: number, isAwaited: () => boolean): Promise<BookSnapshot | null> {
		try {
			const values = await this.#get([
				MANIFEST_KEY,
				...this.#pauses.keys,
				// What is not known yet may be of learned prices: a cold bid has no time to ask twice.
				...(this.#snapshot === null || this.#snapshot.manifest.learned === 1 ? [LEARNED_KEY] : []),
			]);
			await this.#pauses.take(values, now);
			const isTaken = await this.#take(values.get(MANIFEST_KEY) ?? null, now, { isAwaited, hasPublished: false });
			await this.#takeLearned(values, now);
			if (!isTaken && this.#snapshot?.format === BOOK_FORMAT) await this.#shards.fetchAwaited(this.#snapshot.manifest, now);
		} catch (error) {
			if (this.#errors.allows("refresh", now)) logError("book.refresh_failed", error);
		}
		this.#noteTried(now);
		return this.#snapshot;
	}

	/** Reads for a request that waits: for all of it where there is no book, else for so long. */
	async #awaitBoth(now: number, waitUntil: WaitUntil): Promise<BookSnapshot | null> {
		let isAwaited = true;
		const reading = this.#readBoth(now, () => isAwaited);
		if (this.#snapshot === null) return reading;
		waitUntil(reading);
		await within(reading, AWAITED_MS, null);
		isAwaited = false;
		this.#noteTried(now);
		return this.#snapshot;
	}

	/** Tried, with whatever result, or none yet: the last good book serves until the next try. */
	#noteTried(now: number): void {
		this.#manifestReadAt = Math.max(this.#manifestReadAt, now);
		this.#refreshStartedAt = Number.NEGATIVE_INFINITY;
	}

	#get(keys: string[]): Promise<Map<string, string | null>> {
		return this.#store.get(keys, { type: "text", cacheTtl: SHORT_CACHE_SECONDS });
	}

	/** Takes the factors beside the book, where that has learned prices; unreadable ones leave the last good ones. */
	async #takeLearned(values: ReadonlyMap<string, string | null>, now: number): Promise<void> {
		if (this.#snapshot?.manifest.learned !== 1) {
			this.#learned = null;
			this.#learnedText = null;
			return;
		}
		const text = (values.has(LEARNED_KEY) ? values : await this.#get([LEARNED_KEY])).get(LEARNED_KEY) ?? null;
		if (this.#learned !== null && text === this.#learnedText) return;
		const wire = text === null ? null : parseLearned(text);
		if (text !== null && wire === null && this.#errors.allows("learned", now)) logError("book.learned_unreadable", null);
		if (text !== null && wire === null && this.#learned !== null) return;
		this.#learned = new LearnedFactors(wire);
		this.#learnedText = text;
	}

	/** Whether the manifest took over: chunk by chunk, but where a bid waits for it, or this very isolate has published it. */
	async #take(text: string | null, now: number, { isAwaited, hasPublished }: Taking): Promise<boolean> {
		const current = this.#snapshot?.manifest;
		if (text === null || (current !== undefined && text.startsWith(startOf(current)))) return false;
		const manifest = parseManifest(text) ?? (this.#packed === null ? null : parseHead(text));
		if (manifest === null || (current !== undefined && manifest.version <= current.version)) return false;
		if (manifest.format === BOOK_FORMAT) {
			if (current?.format === BOOK_FORMAT) await this.#shards.prefetch(current, manifest, now);
		} else if (current?.format === PACKED_FORMAT && !isAwaited() && this.#packed !== null) {
			// One chunk that KV keeps to itself must not keep out all that is newer: what has not come serves as it was.
			await within(this.#packed.prefetch(current, manifest, now), PREFETCH_MS, undefined);
		}
		// While the shards came, another request may have taken a newer book.
		const before = this.#snapshot?.manifest ?? null;
		if (before !== null && before.version >= manifest.version) return false;
		if (manifest.format === BOOK_FORMAT) this.#open(before, manifest);
		// What nothing replaces in the background must not stay, either.
		else this.#openPacked(before, manifest, isAwaited() || hasPublished || this.#fill === null);
		this.#manifestReadAt = Math.max(this.#manifestReadAt, now);
		return true;
	}

	#open(before: Manifest | Head | null, manifest: Manifest): void {
		this.#shards.takeOver(before?.format === BOOK_FORMAT ? before : null, manifest);
		this.#snapshot = openManifest(manifest);
		if (before?.format === PACKED_FORMAT) this.#packed?.clear();
	}

	#openPacked(before: Manifest | Head | null, head: Head, dropsChanged: boolean): void {
		if (this.#packed === null) return;
		this.#snapshot = this.#packed.takeOver(before?.format === PACKED_FORMAT ? before : null, head, dropsChanged);
		this.#fill?.need();
		if (before?.format === BOOK_FORMAT) this.#shards = new ShardReader(this.#store, this.#cacheBytes, this.#errors);
	}
}

/** How the text of a manifest begins: one that is unchanged is told by that, whatever it holds. */
function startOf({ format, version, publishedAt }: Manifest | Head): string {
	return `{"format":${format},"version":${version},"publishedAt":${publishedAt},`;
}

function listOf(found: BookBrand | Iterable<BookBrand> | null): readonly BookBrand[] | null {
	if (found === null) return null;
	return "brandId" in found ? [found] : [...found];
}

function firstOf(brands: readonly BookBrand[] | null | Promise<readonly BookBrand[] | null>): BookBrand | null | Promise<BookBrand | null> {
	return brands instanceof Promise ? brands.then((found) => found?.[0] ?? null) : (brands?.[0] ?? null);
}
