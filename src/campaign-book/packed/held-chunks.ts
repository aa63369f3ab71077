/** All chunks that an isolate holds in memory, and which of those that a head names it has not, or has as they were before. */
import { putBounded } from "../../lib/bounded-map.ts";
import { fromUtf8 } from "../../lib/utf8.ts";
import type { BookBrand } from "../book.ts";
import { shardOf } from "../slots.ts";
import { FuseFilter } from "./fuse-filter.ts";
import { type ChunkKind, FILTER_SPAN_BITS, type Head, holdsPublishers, versionAt } from "./head.ts";
import { LinksChunk } from "./links.ts";
import { PublishersChunk } from "./publishers.ts";
import { FactsChunk } from "./read-facts.ts";
import { ResidentFacts } from "./resident-facts.ts";

/** Memory for links: a click asks for them, and a bid never does. */
const LINKS_BYTES = 4 * 1024 * 1024;

/** Few brands have most of the clicks, and few have many campaigns: at most so many, of at most so many, are kept as clicks read them. */
const MAX_LINKED = 500;
const MAX_LINKED_CAMPAIGNS = 16;

/** A brand with its links, and what it was read from: its slot's chunks. */
type Linked = { slot: number; facts: FactsChunk; links: LinksChunk; brand: BookBrand };

/** A chunk by its name. */
export type ChunkName = { kind: ChunkKind; bits: number; index: number; version: string };

export type Chunk = { f: FactsChunk; l: LinksChunk; p: PublishersChunk; x: FuseFilter };

/**
 * Opens the bytes of a chunk.
 * @throws BookUnavailableError where they are cut short, or of a format this code does not know
 */
export function openChunk<Kind extends ChunkKind>(kind: Kind, version: string, bytes: ArrayBuffer): Chunk[Kind] {
	const open: { [Each in ChunkKind]: () => Chunk[Each] } = {
		f: () => new FactsChunk(version, bytes),
		l: () => new LinksChunk(version, bytes),
		p: () => new PublishersChunk(version, fromUtf8(bytes)),
		x: () => new FuseFilter(version, bytes),
	};
	return open[kind]();
}

export class HeldChunks {
	readonly facts: ResidentFacts;
	/** With when each was last used, as a count: to move an entry of a Map to its end costs more than the look-up. */
	readonly #links = new Map<number, { chunk: LinksChunk; used: number }>();
	#linksUses = 0;
	#linksBytes = 0;
	/** By domain. A brand keeps the bytes of its facts, so all are let go of whenever any chunk of facts or links is. */
	readonly #linked = new Map<string, Linked>();
	#publishers: (PublishersChunk | undefined)[] = [];
	#filters: (FuseFilter | undefined)[] = [];

	/** @param limit bytes of facts to hold at most */
	constructor(limit: number) {
		this.facts = new ResidentFacts(limit);
	}

	get bytes(): number {
		const sizes = [...this.#filters, ...this.#publishers].map((chunk) => chunk?.size ?? 0);
		return sizes.reduce((sum, size) => sum + size, this.facts.bytes + this.#linksBytes);
	}

	publishers(index: number): PublishersChunk | undefined {
		return this.#publishers[index];
	}

	/** A chunk of links of whatever version, which counts as used now. */
	links(index: number): LinksChunk | undefined {
		const held = this.#links.get(index);
		if (held === undefined) return undefined;
		held.used = ++this.#linksUses;
		return held.chunk;
	}

	/** A brand with its links as it was read last, where the chunks that it was read from hold by this head; they count as used now. */
	linked(head: Head, domain: string): BookBrand | undefined {
		const known = this.#linked.get(domain);
		if (known === undefined) return undefined;
		const { slot, facts, links, brand } = known;
		const index = shardOf(slot, head.bits);
		const isHeld = this.facts.lookUp(slot) === facts && this.links(index) === links;
		return isHeld && links.version === versionAt(head.links, index) ? brand : undefined;
	}

	keepLinked(domain: string, linked: Linked): void {
		if (linked.brand.campaigns.length <= MAX_LINKED_CAMPAIGNS) putBounded(this.#linked, domain, linked, MAX_LINKED);
	}

	/** The filter of the keys of a chunk of facts, where it is that of this head. */
	filterOf(head: Head, factsIndex: number): FuseFilter | undefined {
		const index = factsIndex >>> FILTER_SPAN_BITS;
		const filter = this.#filters[index];
		return filter !== undefined && filter.version === versionAt(head.filters, index) ? filter : undefined;
	}

	/** Holds a chunk in the place of the one before. */
	hold({ kind, bits, index }: ChunkName, chunk: Chunk[ChunkKind]): void {
		if (kind === "f" || kind === "l") this.#linked.clear();
		if (chunk instanceof FactsChunk) this.facts.keep(bits, index, chunk);
		else if (chunk instanceof LinksChunk) this.#holdLinks(index, chunk);
		else if (chunk instanceof PublishersChunk) this.#publishers[index] = chunk;
		else if (kind === "x") this.#filters[index] = chunk;
	}

	#holdLinks(index: number, chunk: LinksChunk): void {
		this.#linksBytes += chunk.size - (this.#links.get(index)?.chunk.size ?? 0);
		this.#links.set(index, { chunk, used: ++this.#linksUses });
		if (this.#linksBytes <= LINKS_BYTES) return;
		for (const [oldest, { chunk }] of [...this.#links].sort(([, one], [, other]) => one.used - other.used)) {
			if (this.#linksBytes <= LINKS_BYTES || oldest === index) return;
			this.#links.delete(oldest);
			this.#linksBytes -= chunk.size;
		}
	}

	/** To be called when a head takes over. What it changes serves as it was, until it is replaced. */
	takeOver(before: Head | null, head: Head): void {
		this.#linked.clear();
		this.facts.takeOver(head.bits, (index) => versionAt(head.facts, index) !== null);
		if (before?.bits !== head.bits) {
			this.#links.clear();
			this.#linksBytes = 0;
			this.#filters = [];
		}
		const wasInHead = before === null || holdsPublishers(before);
		if (holdsPublishers(head)) this.#publishers = [new PublishersChunk("", head.publishers)];
		else if (wasInHead || before.publisherBits !== head.publisherBits) this.#publishers = [];
	}

	/** Lets go of what a head changes: for an isolate that slept, or published it itself, whose next bid must not have old prices. */
	dropChanged(head: Head): void {
		this.#linked.clear();
		this.facts.dropChanged(head.bits, (index) => versionAt(head.facts, index));
		if (holdsPublishers(head)) return;
		for (const [index, chunk] of this.#publishers.entries()) {
			if (chunk?.version !== versionAt(head.publishers, index)) this.#publishers[index] = undefined;
		}
	}

	/** Nothing is missing any more. Returns whether that made room. */
	settle(): boolean {
		const hasMadeRoom = this.facts.releaseOlder();
		if (hasMadeRoom) this.#linked.clear();
		return hasMadeRoom;
	}

	/** The version held; null for none. */
	versionOf({ kind, index }: Pick<ChunkName, "kind" | "index">): string | null {
		if (kind === "f") return this.facts.versionOf(index);
		if (kind === "l") return this.#links.get(index)?.chunk.version ?? null;
		return (kind === "p" ? this.#publishers : this.#filters)[index]?.version ?? null;
	}

	/** What bids need that is not held, or is as it was before: publishers first, then what was asked for most. */
	wanted(head: Head): ChunkName[] {
		const fits = this.facts.mayHold(head.bytes);
		const names: ChunkName[] = [];
		const add = (kind: ChunkKind, bits: number, versions: string, indexes: Iterable<number>) => {
			for (const index of indexes) {
				const version = versionAt(versions, index);
				if (version !== null && this.versionOf({ kind, index }) !== version) names.push({ kind, bits, index, version });
			}
		};
		if (!holdsPublishers(head)) add("p", head.publisherBits, head.publishers, upTo(head.publisherBits));
		if (!fits && head.filters !== "") add("x", head.bits - FILTER_SPAN_BITS, head.filters, upTo(head.bits - FILTER_SPAN_BITS));
		add("f", head.bits, head.facts, this.facts.hottestFirst());
		return names;
	}
}

function upTo(bits: number): Iterable<number> {
	return Array.from({ length: 2 ** bits }).keys();
}
