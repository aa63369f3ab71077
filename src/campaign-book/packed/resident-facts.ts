/** The chunks of facts that an isolate holds: all of them where they fit, else those that were asked for most. */
import { shardOf } from "../slots.ts";
import type { FactsChunk } from "./read-facts.ts";

/** After this many lookups what was asked for before counts half. */
const LOOKUPS_PER_HALVING = 1 << 20;

type Generation = { bits: number; chunks: (FactsChunk | undefined)[] };

export class ResidentFacts {
	readonly #limit: number;
	#bits = 0;
	#chunks: (FactsChunk | undefined)[] = [];
	/** Lookups by chunk, whether it was there or not. */
	#heat = new Uint32Array(0);
	#lookups = 0;
	#bytes = 0;
	/** Those of a book with another number of chunks: each serves until those in its place have come. */
	#older: Generation | null = null;

	/** @param limit bytes to hold at most */
	constructor(limit: number) {
		this.#limit = limit;
	}

	get bytes(): number {
		return this.#bytes;
	}

	get size(): number {
		return this.#chunks.reduce((count, chunk) => count + (chunk === undefined ? 0 : 1), 0);
	}

	/** Another book takes over: `isNamed` tells which of its chunks have entries. What changed serves on until it is replaced. */
	takeOver(bits: number, isNamed: (index: number) => boolean): void {
		if (bits !== this.#bits || this.#heat.length === 0) {
			this.#release(this.#older?.chunks ?? []);
			this.#older = this.#bytes === 0 ? null : { bits: this.#bits, chunks: this.#chunks };
			this.#bits = bits;
			this.#chunks = new Array<FactsChunk | undefined>(2 ** bits);
			this.#heat = new Uint32Array(2 ** bits);
		}
		for (const [index, chunk] of this.#chunks.entries()) {
			if (chunk === undefined || isNamed(index)) continue;
			this.#bytes -= chunk.size;
			this.#chunks[index] = undefined;
		}
	}

	/** Lets go of all that is not of these versions, those of another number among them: nothing old may serve. */
	dropChanged(bits: number, versionOf: (index: number) => string | null): void {
		this.releaseOlder();
		if (bits !== this.#bits) return;
		for (const [index, chunk] of this.#chunks.entries()) {
			if (chunk === undefined || chunk.version === versionOf(index)) continue;
			this.#bytes -= chunk.size;
			this.#chunks[index] = undefined;
		}
	}

	/** The chunk for a lookup, which counts as asked for: as it should be, or as it was before while that has not come. */
	lookUp(slot: number): FactsChunk | undefined {
		const index = shardOf(slot, this.#bits);
		this.#heat[index] = (this.#heat[index] ?? 0) + 1;
		if (++this.#lookups % LOOKUPS_PER_HALVING === 0) this.#heat = this.#heat.map((count) => count >>> 1);
		return this.#chunks[index] ?? (this.#older === null ? undefined : this.#older.chunks[shardOf(slot, this.#older.bits)]);
	}

	/** The version held of a chunk; null for none. */
	versionOf(index: number): string | null {
		return this.#chunks[index]?.version ?? null;
	}

	/** The indexes that are held and those that are not, each asked for most first. */
	hottestFirst(): number[] {
		const heat = this.#heat;
		return Array.from(heat.keys()).sort((a, b) => (heat[b] ?? 0) - (heat[a] ?? 0) || a - b);
	}

	/** Whether a book of this many bytes fits as a whole. */
	mayHold(bytes: number): boolean {
		return bytes <= this.#limit;
	}

	/** Whether one more chunk of this size may stay beside all that are here. */
	hasRoomFor(bytes: number): boolean {
		return this.#bytes + bytes <= this.#limit;
	}

	/** Holds a chunk in place of any other of its index. Past the limit it stays only where it is asked for more than another, which goes. */
	keep(bits: number, index: number, chunk: FactsChunk): void {
		if (bits !== this.#bits) return;
		const replaced = this.#chunks[index];
		if (replaced === undefined && !this.hasRoomFor(chunk.size) && !this.#yieldTo(index)) return;
		this.#bytes += chunk.size - (replaced?.size ?? 0);
		this.#chunks[index] = chunk;
		this.#releaseCovered(index);
		while (this.#bytes > this.#limit && this.#yieldTo(index));
	}

	/** Lets go of the chunk that is asked for least, if that is less than `index` is. */
	#yieldTo(index: number): boolean {
		const heat = this.#heat;
		let coldest = -1;
		for (const [at, chunk] of this.#chunks.entries()) {
			if (chunk !== undefined && at !== index && (coldest === -1 || (heat[at] ?? 0) < (heat[coldest] ?? 0))) coldest = at;
		}
		if (coldest === -1 || (heat[coldest] ?? 0) >= (heat[index] ?? 0)) return false;
		this.#release([this.#chunks[coldest]]);
		this.#chunks[coldest] = undefined;
		return true;
	}

	/** Lets go of the older chunks in whose place all that there is has come. */
	#releaseCovered(index: number): void {
		const older = this.#older;
		if (older === null) return;
		const [first, last] = rangeOf(index, this.#bits, older.bits);
		for (let at = first; at <= last; at++) {
			const [from, to] = rangeOf(at, older.bits, this.#bits);
			if (this.#chunks.slice(from, to + 1).includes(undefined)) continue;
			this.#release([older.chunks[at]]);
			older.chunks[at] = undefined;
		}
	}

	/** Nothing is missing any more: chunks of another number are of no use. Returns whether there were any. */
	releaseOlder(): boolean {
		const before = this.#bytes;
		this.#release(this.#older?.chunks ?? []);
		this.#older = null;
		return this.#bytes < before;
	}

	#release(chunks: readonly (FactsChunk | undefined)[]): void {
		for (const chunk of chunks) this.#bytes -= chunk?.size ?? 0;
	}
}

/** First and last chunk of 2^otherBits that hold what a chunk of 2^bits does. */
function rangeOf(index: number, bits: number, otherBits: number): [first: number, last: number] {
	if (otherBits <= bits) return [index >>> (bits - otherBits), index >>> (bits - otherBits)];
	const run = 1 << (otherBits - bits);
	return [index * run, (index + 1) * run - 1];
}
