/**
 * A packed book as an isolate reads it: what is in memory answers at once, and the rest is read for the lookup that needs it. In the
 * background the isolate gets all that fits. Everything kept is plain data, never another request's promise.
 */
import { within } from "../../lib/async.ts";
import { hashOf } from "../../lib/hash.ts";
import { logError } from "../../lib/log.ts";
import type { LogLimit } from "../../lib/log-limit.ts";
import { DEFAULT_POLICY, layPolicies, type TrafficPolicy } from "../../lib/traffic-rules.ts";
import type { BookBrand, BookPublisher } from "../book.ts";
import { domainKey } from "../format.ts";
import { LateParts, SHORT_CACHE_SECONDS } from "../late-parts.ts";
import { BookUnavailableError } from "../resident-shards.ts";
import { shardOf, slotOf } from "../slots.ts";
import type { Opened, PublisherName } from "../snapshot.ts";
import type { ChunkStore } from "./chunk-store.ts";
import { type ChunkKind, chunkKey, type Head, PACKED_FORMAT, versionAt } from "./head.ts";
import { type Chunk, type ChunkName, HeldChunks, openChunk } from "./held-chunks.ts";
import type { LinksChunk } from "./links.ts";
import { publisherChunkOf } from "./publishers.ts";
import type { FactsChunk } from "./read-facts.ts";

/** At most this many changed chunks are fetched before a new head takes over; the others serve as they were until they are replaced. */
const PREFETCH_CHUNKS = 64;
/** A click waits no longer for changed links, where the ones before are in memory. */
const AWAITED_MS = 2_000;
/** As many connections as a request may have open. */
const MAX_CONCURRENT_READS = 6;

export type PackedSnapshot = Opened<typeof PACKED_FORMAT, Head>;

export class PackedReader {
	readonly #store: ChunkStore;
	readonly #errors: LogLimit;
	readonly #limit: number;
	#held: HeldChunks;
	readonly #late = new LateParts();
	/** The one that holds now. */
	#head: Head | null = null;
	/** The network's rules, made again only where a head has others: parsed publishers rest on them. */
	#traffic: { settings: string; policy: TrafficPolicy } = { settings: "", policy: DEFAULT_POLICY };
	#waits = 0;
	#standIns = 0;

	/** @param limit bytes of facts to hold at most */
	constructor(store: ChunkStore, limit: number, errors: LogLimit) {
		this.#store = store;
		this.#errors = errors;
		this.#limit = limit;
		this.#held = new HeldChunks(limit);
	}

	/** `waits` counts the lookups that had to go to KV. */
	get stats() {
		return { bytes: this.#held.bytes, shards: this.#held.facts.size, waits: this.#waits };
	}

	/** How often a chunk of before was held in the place of one that has not come: it stays until that is fetched. */
	get standIns(): number {
		return this.#standIns;
	}

	/**
	 * The brand that a host names, or null; a promise where its chunk is not in memory.
	 * @throws BookUnavailableError (or rejects with it) where neither the chunk nor an earlier version of it can be read
	 */
	host({ manifest }: PackedSnapshot, key: string, now: number): BookBrand | null | Promise<BookBrand | null> {
		const hash = hashOf(key);
		const chunk = this.#factsOf(manifest, key, hash, now);
		return chunk instanceof Promise ? chunk.then((read) => read.host(key, hash)) : (chunk?.host(key, hash) ?? null);
	}

	/** The candidates of a keyword, highest keyword EPC first, or null; as {@link host}. */
	keyword({ manifest }: PackedSnapshot, key: string, now: number): Iterable<BookBrand> | null | Promise<Iterable<BookBrand> | null> {
		const hash = hashOf(key);
		const chunk = this.#factsOf(manifest, key, hash, now);
		return chunk instanceof Promise ? chunk.then((read) => read.keyword(key, hash)) : (chunk?.keyword(key, hash) ?? null);
	}

	/** The brand of a domain with its links, or null; as {@link host}. Facts and links are read together. */
	linked({ manifest }: PackedSnapshot, domain: string, now: number): BookBrand | null | Promise<BookBrand | null> {
		const known = this.#held.linked(manifest, domain);
		if (known !== undefined) return known;
		const key = domainKey(domain);
		const hash = hashOf(key);
		const facts = this.#factsOf(manifest, key, hash, now);
		const brand = facts instanceof Promise ? facts.then((read) => read.host(key, hash)) : (facts?.host(key, hash) ?? null);
		// An alias of another brand has no links, and its brand is not the token's.
		if (brand === null || (!(brand instanceof Promise) && brand.domain !== domain)) return brand;
		const links = this.#linksOf(manifest, key, now);
		if (!(facts === null || facts instanceof Promise || brand instanceof Promise || links instanceof Promise)) {
			if (links === null) return brand;
			const linked = links.link(key, hash, brand);
			this.#held.keepLinked(domain, { slot: slotOf(key), facts, links, brand: linked });
			return linked;
		}
		return Promise.all([brand, links]).then(([found, chunk]) =>
			found === null || found.domain !== domain ? found : (chunk?.link(key, hash, found) ?? found),
		);
	}

	/**
	 * Makes ready for a head: fetches what it changes of what is in memory, so that what one publish changes comes together.
	 * @throws where KV fails or one cannot be read
	 */
	async prefetch(before: Head, head: Head, now: number): Promise<void> {
		if (before.bits !== head.bits) return;
		const changed = this.#held.wanted(head).filter((name) => this.#held.versionOf(name) !== null);
		const first = changed.slice(0, PREFETCH_CHUNKS);
		const fetched: { name: ChunkName; bytes: ArrayBuffer | null }[] = [];
		for (let at = 0; at < first.length; at += MAX_CONCURRENT_READS) {
			const some = first.slice(at, at + MAX_CONCURRENT_READS);
			fetched.push(...(await Promise.all(some.map(async (name) => ({ name, bytes: await this.#read(name, head, now, true) })))));
		}
		// Another request may have taken a newer head over, whose chunks these are not.
		if (this.#head !== before) return;
		for (const { name, bytes } of fetched) {
			// One that KV has not must not hold up all the others: it serves as it was.
			if (bytes === null) this.report(name, new BookUnavailableError("a changed chunk is not in KV"), now);
			else this.#held.hold(name, openChunk(name.kind, name.version, bytes));
		}
	}

	/** Takes a head over. @param dropsChanged whether nothing that it changes may serve any more */
	takeOver(before: Head | null, head: Head, dropsChanged: boolean): PackedSnapshot {
		const traffic = this.#trafficOf(head);
		this.#head = head;
		this.#held.takeOver(before, head);
		if (dropsChanged) this.#held.dropChanged(head);
		this.#late.retain((index, version) => versionAt(head.facts, index) === version);
		return {
			format: PACKED_FORMAT,
			manifest: head,
			publishers: { find: (name, value, now) => this.#publisher(head, traffic, name, value, now) },
			traffic,
		};
	}

	/** What bids need that is not in memory, or is as it was before: what was asked for most first. */
	wanted(head: Head): ChunkName[] {
		return this.#held.wanted(head);
	}

	/** Fetches one of them in the background, if there is room for it. @throws where KV fails or it cannot be read */
	async fetch(name: ChunkName, head: Head, now: number): Promise<void> {
		const held = this.#held.versionOf(name);
		if (held === name.version) return;
		if (name.kind === "f" && held === null && !this.#held.facts.hasRoomFor(head.bytes / 2 ** head.bits)) return;
		const bytes = await this.#read(name, head, now, true);
		if (bytes === null) throw new BookUnavailableError("a chunk is not in KV");
		this.#open(name, name.version, bytes, head);
	}

	/** Lets go of everything: the book has another format now. */
	clear(): void {
		this.#head = null;
		this.#held = new HeldChunks(this.#limit);
	}

	/** To be called when nothing is wanted any more. Returns whether that made room. */
	settle(): boolean {
		return this.#held.settle();
	}

	#trafficOf({ traffic = {} }: Head): TrafficPolicy {
		const settings = JSON.stringify(traffic);
		if (settings !== this.#traffic.settings) this.#traffic = { settings, policy: layPolicies(DEFAULT_POLICY, traffic) };
		return this.#traffic.policy;
	}

	/** One line a minute and chunk, not one a bid. */
	report({ kind, index, version }: ChunkName, error: unknown, now: number): void {
		if (this.#errors.allows(`${kind} ${index}`, now)) logError("book.chunk_unavailable", error, { kind, chunk: index, version });
	}

	#factsOf(head: Head, key: string, hash: number, now: number): FactsChunk | null | Promise<FactsChunk> {
		const slot = slotOf(key);
		const held = this.#held.facts.lookUp(slot);
		if (held !== undefined) return held;
		const index = shardOf(slot, head.bits);
		const version = versionAt(head.facts, index);
		if (version === null || this.#held.filterOf(head, index)?.has(hash) === false) return null;
		return this.#load({ kind: "f", bits: head.bits, index, version }, head, now);
	}

	#linksOf(head: Head, key: string, now: number): LinksChunk | null | Promise<LinksChunk> {
		const index = shardOf(slotOf(key), head.bits);
		const version = versionAt(head.links, index);
		if (version === null) return null;
		const held = this.#held.links(index);
		if (held?.version === version) return held;
		const loaded = this.#load({ kind: "l", bits: head.bits, index, version } as const, head, now);
		// The version before, until the new one has come: KV may say nothing at all.
		return held === undefined
			? loaded
			: within(
					loaded.catch(() => held),
					AWAITED_MS,
					held,
				);
	}

	#publisher(
		head: Head,
		traffic: TrafficPolicy,
		name: PublisherName,
		value: string,
		now: number,
	): BookPublisher | undefined | Promise<BookPublisher | undefined> {
		const index = publisherChunkOf(name, value, head.publisherBits);
		const held = this.#held.publishers(index);
		if (held !== undefined) return held.find(name, value, now, traffic);
		const version = versionAt(head.publishers, index);
		if (version === null) return undefined;
		const loaded = this.#load({ kind: "p", bits: head.publisherBits, index, version } as const, head, now);
		return loaded.then((chunk) => chunk.find(name, value, now, traffic));
	}

	/** Reads a chunk for a request that waits for it; where it is not there, what every data centre has of it. */
	async #load<Kind extends ChunkKind>(name: ChunkName & { kind: Kind }, head: Head, now: number): Promise<Chunk[Kind]> {
		this.#waits++;
		try {
			const bytes = await this.#read(name, head, now, false);
			if (bytes === null) throw new BookUnavailableError("a chunk is not in KV");
			return this.#open(name, name.version, bytes, head);
		} catch (error) {
			this.report(name, error, now);
			return await this.#loadSpread(name, head, error);
		}
	}

	async #loadSpread<Kind extends ChunkKind>(name: ChunkName & { kind: Kind }, head: Head, cause: unknown): Promise<Chunk[Kind]> {
		const version = head.spread?.[`${name.kind}:${name.index}`];
		try {
			const bytes = version === undefined ? null : await this.#store.read(keyOf({ ...name, version }), SHORT_CACHE_SECONDS, false);
			if (version !== undefined && bytes !== null) {
				// Clicks look for the links that they ask for again and again themselves.
				if (name.kind !== "l") this.#standIns++;
				return this.#open(name, version, bytes, head);
			}
		} catch (error) {
			throw new BookUnavailableError("a chunk of the campaign book cannot be read", { cause: error });
		}
		throw new BookUnavailableError("a chunk of the campaign book cannot be read", { cause });
	}

	#open<Kind extends ChunkKind>(name: ChunkName & { kind: Kind }, version: string, bytes: ArrayBuffer, head: Head): Chunk[Kind] {
		const chunk = openChunk(name.kind, version, bytes);
		// While it came another head may have taken over, or another request got what it stands in for: nothing would replace it any more.
		if (head === this.#head && this.#held.versionOf(name) !== name.version) this.#held.hold(name, chunk);
		return chunk;
	}

	async #read(name: ChunkName, head: Head, now: number, isBackground: boolean): Promise<ArrayBuffer | null> {
		const cacheSeconds = this.#late.cacheSeconds(head.publishedAt, now);
		let bytes = await this.#store.read(keyOf(name), cacheSeconds, isBackground);
		// KV may remember for as long that it had nothing, and would not have looked again: a lost chunk may be back.
		if (bytes === null && cacheSeconds > SHORT_CACHE_SECONDS)
			bytes = await this.#store.read(keyOf(name), SHORT_CACHE_SECONDS, isBackground);
		if (name.kind !== "f") return bytes;
		if (bytes === null) this.#late.note(name.index, name.version, null);
		else this.#late.arrived(name.index, name.version);
		return bytes;
	}
}

function keyOf({ kind, bits, index, version }: ChunkName): string {
	return chunkKey(kind, bits, index, version);
}
