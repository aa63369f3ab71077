/** A campaign book in memory, in the shape that KV holds it, whose reads can be counted, delayed and made to fail. */
import {
	encodeEntry,
	MANIFEST_KEY,
	type Manifest,
	PAUSED_KEY,
	SHARD_HEADER,
	shardKey,
	VERSION_LENGTH,
} from "../../src/campaign-book/format.ts";
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";
import { shardOf, slotOf } from "../../src/campaign-book/slots.ts";
import type { BrandWire, PublisherWire } from "../../src/campaign-book/wire.ts";

export type MemoryBook = BookStore & {
	readonly values: Map<string, string>;
	/** The keys of each read, in order. */
	readonly reads: string[][];
	/** Called before each read; it may wait or throw. */
	before: (keys: string[]) => Promise<void>;
};

export const ACME: PublisherWire = { id: "acme", pubi: "1001", rtb: "acme_rtb", identity: "acme_rtb", seat: "acme-seat", share: 500_000 };

/** @param entries text key (`d host`, `k keyword`) → brands */
export function memoryBook(entries: Record<string, BrandWire[]>, publishers: PublisherWire[] = [ACME], bits = 2): MemoryBook {
	const lines = Array.from({ length: 1 << bits }, () => [] as string[]);
	for (const [key, brands] of Object.entries(entries)) lines[shardOf(slotOf(key), bits)]?.push(encodeEntry(key, brands));
	const values = new Map<string, string>();
	const versions = lines.map((of, index) => {
		if (of.length === 0) return " ".repeat(VERSION_LENGTH);
		const version = String(index).padStart(VERSION_LENGTH, "v");
		values.set(shardKey(bits, index, version), SHARD_HEADER + of.sort().join(""));
		return version;
	});
	const manifest: Manifest = { format: 1, version: 1, publishedAt: 0, bits, shards: versions.join(""), publishers };
	values.set(MANIFEST_KEY, JSON.stringify(manifest));
	values.set(PAUSED_KEY, JSON.stringify({ format: 1, campaigns: [] }));
	const book: MemoryBook = {
		values,
		reads: [],
		before: async () => {},
		async get(keys) {
			book.reads.push(keys);
			await book.before(keys);
			return new Map(keys.map((key) => [key, values.get(key) ?? null]));
		},
	};
	return book;
}
