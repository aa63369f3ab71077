/**
 * The shards of a book as an isolate reads them: from memory, else from KV, else an earlier version of them. KV spreads each key in its
 * own time, so a manifest may name what has not come yet (docs/decisions/0003-reading-a-new-book.md).
 */
import { logError } from "../lib/log.ts";
import type { LogLimit } from "../lib/log-limit.ts";
import type { BookBrand } from "./book.ts";
import { type Manifest, shardKey, shardVersion } from "./format.ts";
import { LateParts, SHORT_CACHE_SECONDS } from "./late-parts.ts";
import { BookUnavailableError, openShard, ResidentShards, type Shard } from "./resident-shards.ts";
import { shardOf, slotOf } from "./slots.ts";

/** The part of a KV namespace that reading a book needs. */
export type BookStore = {
	get(keys: string[], options: { type: "text"; cacheTtl: number }): Promise<Map<string, string | null>>;
};

/** At most this many changed shards are fetched before a new manifest takes over; the others load when they are asked for. */
const PREFETCH_SHARDS = 64;

type ShardName = { bits: number; index: number; version: string };

const keyOf = ({ bits, index, version }: ShardName): string => shardKey(bits, index, version);

export class ShardReader {
	readonly #store: BookStore;
	readonly #shards: ResidentShards;
	readonly #errors: LogLimit;
	readonly #late = new LateParts();
	/** Where the shards of the book before stand. */
	#previous: Pick<Manifest, "bits" | "shards"> | null = null;
	#waits = 0;

	/** @param cacheBytes memory for shards */
	constructor(store: BookStore, cacheBytes: number, errors: LogLimit) {
		this.#store = store;
		this.#shards = new ResidentShards(cacheBytes);
		this.#errors = errors;
	}

	/** `waits` counts the lookups that had to go to KV. */
	get stats() {
		return { bytes: this.#shards.bytes, shards: this.#shards.size, waits: this.#waits };
	}

	/**
	 * The brands of an entry, or null where the book has no such entry; a promise where its shard is not resident.
	 * @throws BookUnavailableError (or rejects with it) where neither the shard nor an earlier version of it can be read
	 */
	entry(manifest: Manifest, key: string, now: number): readonly BookBrand[] | null | Promise<readonly BookBrand[] | null> {
		const { bits } = manifest;
		const index = shardOf(slotOf(key), bits);
		const version = shardVersion(manifest, index);
		if (version === null) return null;
		const shard = this.#shards.get(bits, index, version) ?? this.#standIn({ bits, index, version });
		if (shard !== undefined) return this.#shards.read(shard, key);
		this.#waits++;
		return this.#load(manifest, { bits, index, version }, key, now).then((loaded) => this.#shards.read(loaded, key));
	}

	/**
	 * Fetches what changes among the resident shards, the most recently used first, before another book takes over.
	 * @throws where KV fails or one cannot be read
	 */
	async prefetch(current: Manifest, next: Manifest, now: number): Promise<void> {
		if (current.bits !== next.bits) return;
		const changed: [index: number, version: string][] = [];
		/** Those of the present book: they serve on where their successor has not come. */
		const standIns = new Map<number, string>();
		for (const { index, version: resident } of this.#shards.newestFirst()) {
			const version = shardVersion(next, index);
			if (version === null || version === resident || changed.length === PREFETCH_SHARDS) continue;
			changed.push([index, version]);
			const named = shardVersion(current, index) ?? "";
			if (resident === named || resident === this.#late.standInFor(index, named)) standIns.set(index, resident);
		}
		await this.#fetch(next, changed, standIns, now);
	}

	/** To be called when the book that {@link prefetch} made ready takes over. */
	takeOver(current: Manifest | null, next: Manifest): void {
		this.#previous = current === null ? null : { bits: current.bits, shards: current.shards };
		this.#late.retain((index, version) => next.bits === current?.bits && shardVersion(next, index) === version);
	}

	/** Looks again for shards that had not come. @throws where KV fails or one cannot be read */
	async fetchAwaited(manifest: Manifest, now: number): Promise<void> {
		const awaited = this.#late.awaited(PREFETCH_SHARDS);
		const standIns = new Map(awaited.map(([index, , standIn]) => [index, standIn]));
		await this.#fetch(
			manifest,
			awaited.map(([index, version]) => [index, version]),
			standIns,
			now,
		);
	}

	/** One read for all; one that KV has not must not hold up the others. */
	async #fetch(
		{ bits, publishedAt }: Manifest,
		wanted: readonly [index: number, version: string][],
		standIns: ReadonlyMap<number, string>,
		now: number,
	): Promise<void> {
		if (wanted.length === 0) return;
		const texts = await this.#read(
			wanted.map(([index, version]) => keyOf({ bits, index, version })),
			this.#late.cacheSeconds(publishedAt, now),
		);
		for (const [index, version] of wanted) {
			const text = texts.get(keyOf({ bits, index, version })) ?? null;
			if (text === null) {
				this.#report({ bits, index, version }, new BookUnavailableError(`shard ${index} is not in KV`), now);
				this.#late.note(index, version, standIns.get(index) ?? null);
			} else this.#keep(openShard(bits, index, version, text));
		}
	}

	/** The shard in memory that serves in place of one that is known not to have come. */
	#standIn({ bits, index, version }: ShardName): Shard | undefined {
		const standIn = this.#late.standInFor(index, version);
		return standIn === null ? undefined : this.#shards.get(bits, index, standIn);
	}

	async #load(manifest: Manifest, name: ShardName, entry: string, now: number): Promise<Shard> {
		const key = keyOf(name);
		try {
			const values = await this.#read([key], this.#late.cacheSeconds(manifest.publishedAt, now));
			const shard = openShard(name.bits, name.index, name.version, values.get(key) ?? null);
			this.#keep(shard);
			return shard;
		} catch (error) {
			this.#report(name, error, now);
			return this.#loadStandIn(name, this.#earlierVersions(manifest, name, entry), error);
		}
	}

	/** The first of the earlier versions that KV has here. One of the same place stays, and serves until the missing one has come. */
	async #loadStandIn(missing: ShardName, earlier: readonly ShardName[], cause: unknown): Promise<Shard> {
		const { bits, index, version } = missing;
		const texts = await this.#readEarlier(earlier.map(keyOf));
		// Another request may have got it meanwhile.
		const arrived = this.#shards.get(bits, index, version);
		if (arrived !== undefined) return arrived;
		const found = earlier.find((name) => texts.get(keyOf(name)) != null);
		if (found === undefined) {
			this.#late.note(index, version, null);
			throw unavailable(cause);
		}
		const shard = openShard(found.bits, found.index, found.version, texts.get(keyOf(found)) ?? null);
		const stays = found.bits === bits;
		if (stays) this.#shards.keep(shard);
		this.#late.note(index, version, stays ? found.version : null);
		return shard;
	}

	/** What the book before names for an entry, if this isolate knows one, and what is surely everywhere. */
	#earlierVersions(manifest: Manifest, missing: ShardName, entry: string): ShardName[] {
		const earlier: ShardName[] = [];
		if (this.#previous !== null) {
			const { bits } = this.#previous;
			const index = shardOf(slotOf(entry), bits);
			const version = shardVersion(this.#previous, index);
			if (version !== null) earlier.push({ bits, index, version });
		}
		const spread = manifest.spread?.[missing.index];
		if (spread !== undefined) earlier.push({ ...missing, version: spread });
		return earlier.filter((name) => keyOf(name) !== keyOf(missing));
	}

	async #readEarlier(keys: readonly string[]): Promise<Map<string, string | null>> {
		try {
			return keys.length === 0 ? new Map() : await this.#read([...new Set(keys)], SHORT_CACHE_SECONDS);
		} catch (error) {
			throw unavailable(error);
		}
	}

	#read(keys: string[], cacheTtl: number): Promise<Map<string, string | null>> {
		return this.#store.get(keys, { type: "text", cacheTtl });
	}

	#keep(shard: Shard): void {
		this.#late.arrived(shard.index, shard.version);
		this.#shards.keep(shard);
	}

	/** One line a minute and shard, not one a bid. */
	#report({ index, version }: ShardName, error: unknown, now: number): void {
		if (this.#errors.allows(`shard ${index}`, now)) logError("book.shard_unavailable", error, { shard: index, version });
	}
}

function unavailable(cause: unknown): BookUnavailableError {
	return new BookUnavailableError("a shard of the campaign book cannot be read", { cause });
}
