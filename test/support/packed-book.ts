/** A packed campaign book in memory, in the shape that KV holds it, whose reads can be counted, delayed and made to fail. */
import { MANIFEST_KEY, VERSION_LENGTH } from "../../src/campaign-book/format.ts";
import type { ChunkStore } from "../../src/campaign-book/packed/chunk-store.ts";
import { buildFilter } from "../../src/campaign-book/packed/fuse-filter.ts";
import { type ChunkKind, chunkKey, FILTER_SPAN_BITS, type Head } from "../../src/campaign-book/packed/head.ts";
import { packLinks } from "../../src/campaign-book/packed/links.ts";
import { type Blocks, packFacts } from "../../src/campaign-book/packed/pack-facts.ts";
import { writePublishers } from "../../src/campaign-book/packed/publishers.ts";
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";
import { shardOf, slotOf } from "../../src/campaign-book/slots.ts";
import type { BrandWire, PublisherWire } from "../../src/campaign-book/wire.ts";
import { hashOf } from "../../src/lib/hash.ts";
import { ACME } from "./memory-book.ts";

export type PackedBook = {
	readonly head: Head;
	readonly store: BookStore;
	readonly chunks: ChunkStore;
	readonly texts: Map<string, string>;
	readonly bytes: Map<string, Uint8Array>;
	/** The keys of each read, in order. */
	readonly reads: string[][];
	/** Called before each read; it may wait or throw. */
	before: (keys: string[]) => Promise<void>;
};

export type PackedContents = {
	entries: ReadonlyMap<string, readonly BrandWire[]>;
	publishers?: readonly PublisherWire[];
	blocks?: Blocks;
	bits?: number;
	/** The book's version, which its chunks have too: as if all of them had changed. */
	version?: number;
};

/** Puts a packed book in the place of another, or makes one. */
export function packedBook(
	{ entries, publishers = [ACME], blocks = new Map(), bits = 2, version = 1 }: PackedContents,
	onto?: PackedBook,
): PackedBook {
	const bytes = onto?.bytes ?? new Map<string, Uint8Array>();
	const texts = onto?.texts ?? new Map<string, string>();
	const put = (kind: ChunkKind, ofBits: number, index: number, content: Uint8Array | null): string => {
		if (content === null) return " ".repeat(VERSION_LENGTH);
		const name = `${version}-${index}`.padStart(VERSION_LENGTH, "v");
		bytes.set(chunkKey(kind, ofBits, index, name), content);
		return name;
	};
	const byChunk = Array.from({ length: 2 ** bits }, () => new Map<string, readonly BrandWire[]>());
	for (const [key, brands] of entries) byChunk[shardOf(slotOf(key), bits)]?.set(key, brands);
	const facts = byChunk.map((held) => (held.size === 0 ? null : packFacts(held, blocks)));
	const filterBits = bits - FILTER_SPAN_BITS;
	const filters = Array.from({ length: filterBits < 0 ? 0 : 2 ** filterBits }, (_, index) =>
		buildFilter([...entries.keys()].filter((key) => shardOf(slotOf(key), filterBits) === index).map(hashOf)),
	);
	const held = writePublishers(publishers);
	const head: Head = {
		format: 2,
		version,
		publishedAt: version,
		bits,
		bytes: facts.reduce((sum, chunk) => sum + (chunk?.length ?? 0), 0),
		facts: facts.map((chunk, index) => put("f", bits, index, chunk)).join(""),
		links: byChunk.map((of, index) => put("l", bits, index, of.size === 0 ? null : packLinks(of))).join(""),
		filters: filters.map((filter, index) => put("x", filterBits, index, filter)).join(""),
		publisherBits: held.bits,
		publishers: held.inHead
			? (held.texts[0] ?? "")
			: held.texts.map((text, index) => put("p", held.bits, index, text === "" ? null : new TextEncoder().encode(text))).join(""),
	};
	texts.set(MANIFEST_KEY, JSON.stringify(head));
	const reads = onto?.reads ?? [];
	const book: PackedBook = {
		head,
		texts,
		bytes,
		reads,
		before: async () => {},
		store: {
			async get(keys) {
				reads.push(keys);
				await book.before(keys);
				return new Map(keys.map((key) => [key, texts.get(key) ?? null]));
			},
		},
		chunks: {
			async read(key) {
				reads.push([key]);
				await book.before([key]);
				return bytes.get(key)?.slice().buffer ?? null;
			},
		},
	};
	return book;
}
