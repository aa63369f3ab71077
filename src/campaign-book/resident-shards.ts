/** The shards an isolate holds: their texts, with the entries that were asked for parsed, within a bound of bytes. */
import type { BookBrand } from "./book.ts";
import { decodeEntry, SHARD_HEADER } from "./format.ts";
import { findInLines, indexLines } from "./shard-lines.ts";

/** Memory of one parsed entry, estimated from its JSON (the catalogue benchmark compares it with the real heap). */
const PARSED_FACTOR = 6;
const ENTRY_OVERHEAD = 400;

/** Thrown where a shard that the manifest names cannot be read: no bid is made from half a book. */
export class BookUnavailableError extends Error {
	override readonly name = "BookUnavailableError";
}

export type Shard = {
	index: number;
	bits: number;
	version: string;
	text: string;
	/** Where its lines begin; null until an entry is looked for. */
	lines: Uint32Array | null;
	parsed: Map<string, readonly BookBrand[]>;
	/** Estimated memory. */
	bytes: number;
	/** When it was last asked for: more is later. */
	used: number;
};

/** Opens a shard's text. @throws BookUnavailableError where it is missing, cut short, or of a format this code does not know */
export function openShard(bits: number, index: number, version: string, text: string | null): Shard {
	if (text === null) throw new BookUnavailableError(`shard ${index} is not in KV`);
	if (!text.startsWith(SHARD_HEADER) || !text.endsWith("\n")) throw new BookUnavailableError(`shard ${index} has an unknown format`);
	// V8 keeps Latin-1 text in one byte a character, any other in two.
	const width = /[\u0100-\uffff]/.test(text) ? 2 : 1;
	return { index, bits, version, text, lines: null, parsed: new Map(), bytes: text.length * width + ENTRY_OVERHEAD, used: 0 };
}

/** Shards by index, the least recently used dropped first once they pass a bound. */
export class ResidentShards {
	readonly #limit: number;
	readonly #shards = new Map<number, Shard>();
	#bytes = 0;
	#uses = 0;

	/** @param limit bytes to hold at most; one shard is always held */
	constructor(limit: number) {
		this.#limit = limit;
	}

	get bytes(): number {
		return this.#bytes;
	}

	get size(): number {
		return this.#shards.size;
	}

	/** The shard of this very version, which counts as used now; undefined where it is not resident. */
	get(bits: number, index: number, version: string): Shard | undefined {
		const shard = this.#shards.get(index);
		if (shard === undefined || shard.version !== version || shard.bits !== bits) return undefined;
		// Not by its place in the map: moving it at every bid is expensive.
		shard.used = ++this.#uses;
		return shard;
	}

	/** All shards, most recently used first. */
	newestFirst(): Shard[] {
		return [...this.#shards.values()].sort((a, b) => b.used - a.used);
	}

	/** Holds a shard in place of any other of its index. */
	keep(shard: Shard): void {
		const replaced = this.#shards.get(shard.index);
		if (replaced !== undefined) this.#bytes -= replaced.bytes;
		shard.used = ++this.#uses;
		this.#shards.set(shard.index, shard);
		this.#grow(shard.bytes);
	}

	/** An entry of a shard, or null where it has none. @throws BookUnavailableError where the entry cannot be parsed */
	read(shard: Shard, key: string): readonly BookBrand[] | null {
		const known = shard.parsed.get(key);
		if (known !== undefined) return known;
		shard.lines ??= this.#index(shard);
		const json = findInLines(shard.text, shard.lines, key);
		if (json === null) return null;
		const brands = parse(json);
		shard.parsed.set(key, brands);
		this.#add(shard, json.length * PARSED_FACTOR + ENTRY_OVERHEAD);
		return brands;
	}

	#index(shard: Shard): Uint32Array {
		const lines = indexLines(shard.text);
		this.#add(shard, lines.byteLength);
		return lines;
	}

	#add(shard: Shard, bytes: number): void {
		shard.bytes += bytes;
		// A dropped or replaced shard may still be read by the request that holds it; it no longer counts.
		if (this.#shards.get(shard.index) === shard) this.#grow(bytes);
	}

	#grow(bytes: number): void {
		this.#bytes += bytes;
		while (this.#bytes > this.#limit && this.#shards.size > 1) this.#drop();
	}

	#drop(): void {
		let oldest: Shard | undefined;
		for (const shard of this.#shards.values()) if (oldest === undefined || shard.used < oldest.used) oldest = shard;
		if (oldest === undefined) return;
		this.#shards.delete(oldest.index);
		this.#bytes -= oldest.bytes;
	}
}

function parse(json: string): readonly BookBrand[] {
	try {
		return decodeEntry(json);
	} catch (error) {
		throw new BookUnavailableError("an entry of the campaign book cannot be parsed", { cause: error });
	}
}
