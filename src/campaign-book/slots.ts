/**
 * Where entries of the campaign book stand: a key belongs to one of 65,536 slots by its hash, and a book of 2^bits shards gives
 * each shard a run of slots. Stored with the rows and used by every reader, so it never changes within a book format.
 */
import { hashOf } from "../lib/hash.ts";

export const SLOT_BITS = 16;

/**
 * The slot of an entry. A host shares its slot with its subdomains wherever that is cheap to know, so that a lookup which
 * walks up to a parent domain stays in one shard: the last two labels decide, or three where the second is as short as
 * `co` or `com` (`shop.co.uk`). This is placement only: a lookup always goes to the slot of the very host it asks for.
 */
export function slotOf(key: string): number {
	return hashOf(key.charCodeAt(0) === 100 ? affinity(key) : key) >>> (32 - SLOT_BITS);
}

function affinity(key: string): string {
	const top = key.lastIndexOf(".");
	const second = key.lastIndexOf(".", top - 1);
	if (second === -1) return key;
	if (top - second > 4) return `d ${key.slice(second + 1)}`;
	const third = key.lastIndexOf(".", second - 1);
	return third === -1 ? key : `d ${key.slice(third + 1)}`;
}

export function shardOf(slot: number, bits: number): number {
	return slot >>> (SLOT_BITS - bits);
}

/** First and last slot of a shard. */
export function slotsOfShard(index: number, bits: number): { first: number; last: number } {
	const run = 1 << (SLOT_BITS - bits);
	return { first: index * run, last: (index + 1) * run - 1 };
}
