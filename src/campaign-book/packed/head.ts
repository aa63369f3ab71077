/**
 * Format 2 of the campaign book: a small head, and immutable chunks whose versions are hashes of their content.
 *
 * KV keys, beside those of format.ts for pauses:
 * - `book:manifest`                              {@link Head} as JSON; written last
 * - `book:{kind}:{bits}:{index}:{version}`       one chunk
 *
 * Kinds: `f` facts, what the auction asks of campaigns, by the slots of keys; `l` links, what a click asks, by the same slots; `p`
 * publishers, by a hash of their names; `x` filters, each of the keys of 2^{@link FILTER_SPAN_BITS} neighbouring chunks of facts.
 */
import type { TrafficSettings } from "../../lib/traffic-rules.ts";
import { parseObject, VERSION_LENGTH } from "../format.ts";
import { SLOT_BITS } from "../slots.ts";

export const PACKED_FORMAT = 2;

export const CHUNK_KINDS = ["f", "l", "p", "x"] as const;
export type ChunkKind = (typeof CHUNK_KINDS)[number];

/** A filter is of the keys of this many chunks of facts: fewer would make it larger by the key. */
export const FILTER_SPAN_BITS = 6;

/** Names everything else. */
export type Head = {
	format: typeof PACKED_FORMAT;
	/** Grows by one with every published change. */
	version: number;
	/** When this version was published, Unix milliseconds. */
	publishedAt: number;
	/** There are 2^bits chunks of facts, and as many of links. */
	bits: number;
	/** Bytes of all facts. */
	bytes: number;
	/** The versions of all chunks in order, VERSION_LENGTH characters each, base64url; spaces for a chunk without entries. */
	facts: string;
	links: string;
	/** Empty where the book has none. */
	filters: string;
	/** There are 2^publisherBits chunks of publishers. */
	publisherBits: number;
	/** Their versions; where a few publishers fit the head, the text of the only one. */
	publishers: string;
	/** Rules on which clicks are paid; absent: the defaults. */
	traffic?: TrafficSettings;
	/** 1 where prices are learned: then `book:learned` is read with this. */
	learned?: 1;
	/**
	 * `{kind}:{index}` → version, of chunks that changed just now: the version of before, which every data centre has. For isolates that
	 * know no earlier book, where a chunk has not spread yet.
	 */
	spread?: Record<string, string>;
};

export function chunkKey(kind: ChunkKind, bits: number, index: number, version: string): string {
	return `book:${kind}:${bits}:${index}:${version}`;
}

/** The version of a chunk in a list of a head, or null where the chunk has no entries. */
export function versionAt(versions: string, index: number): string | null {
	const version = versions.slice(index * VERSION_LENGTH, (index + 1) * VERSION_LENGTH);
	return version.trim() === "" ? null : version;
}

/** Whether the head holds its publishers itself. */
export function holdsPublishers({ publishers }: Pick<Head, "publishers">): boolean {
	return publishers.startsWith(PUBLISHERS_HEADER);
}

/** The first line of a chunk of publishers. */
export const PUBLISHERS_HEADER = "publishers 2\n";

/** Reads a head, or null where it is missing, unreadable or of another format. */
export function parseHead(text: string | null): Head | null {
	const value = parseObject(text);
	return value?.format === PACKED_FORMAT && isHead(value as Record<keyof Head, unknown>) ? (value as unknown as Head) : null;
}

function isHead(value: Record<keyof Head, unknown>): boolean {
	const { bits, publisherBits, filters, publishers } = value;
	return (
		[value.version, value.publishedAt, value.bytes].every(Number.isInteger) &&
		isExponent(bits) &&
		isExponent(publisherBits) &&
		isVersions(value.facts, bits) &&
		isVersions(value.links, bits) &&
		(filters === "" || isVersions(filters, bits - FILTER_SPAN_BITS)) &&
		(isVersions(publishers, publisherBits) || (typeof publishers === "string" && holdsPublishers({ publishers })))
	);
}

function isExponent(value: unknown): value is number {
	return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= SLOT_BITS;
}

function isVersions(value: unknown, bits: number): boolean {
	return typeof value === "string" && bits >= 0 && value.length === VERSION_LENGTH << bits;
}
