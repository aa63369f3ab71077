/**
 * The campaign book: the contract between the publisher (D1 → KV) and the readers at the edge (KV → isolate).
 *
 * KV keys:
 * - `book:manifest`                        {@link Manifest} as JSON; written last
 * - `book:paused`                          {@link Pauses} as JSON; campaigns that are paused
 * - `book:paused:head`                     {@link PausesHead} as JSON; written after it, so that readers need not read it again
 * - `book:s:{bits}:{index}:{version}`      one shard, immutable: its version is a hash of its text
 *
 * A shard is text: a first line `book 1`, then one line an entry, `{key}\t{JSON array of BrandWire}`, sorted by key.
 * Keys are `d {host}` (a brand's domain, or an alias of it: then a copy) and `k {keyword}`. A line ends with `\n`.
 * Entries are parsed when first asked for, so that a resident shard costs little more than its text.
 *
 * A key belongs to one of 65,536 slots by its hash; a book of 2^bits shards gives each a run of slots. Doubling the number of
 * shards therefore splits every shard in two and moves nothing else.
 */
import { parseJson } from "../lib/json.ts";
import { readRelease } from "../lib/release.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { DEFAULT_POLICY, layPolicies, type TrafficPolicy, type TrafficSettings } from "../lib/traffic-rules.ts";
import {
	ALL_HOURS,
	BID_PAY_MS,
	type BookBrand,
	type BookCampaign,
	type BookPublisher,
	type CampaignPrices,
	DEFAULT_PRIVACY,
} from "./book.ts";
import { SLOT_BITS } from "./slots.ts";
import type { BrandWire, CampaignWire, PublisherWire } from "./wire.ts";

export const BOOK_FORMAT = 1;
export const SHARD_HEADER = `book ${BOOK_FORMAT}\n`;

export const MANIFEST_KEY = "book:manifest";
export const PAUSED_KEY = "book:paused";
export const PAUSED_HEAD_KEY = "book:paused:head";

/** What was written this long ago, in milliseconds, KV has spread to every data centre: it says "60 seconds or more". */
export const SPREAD_MS = 5 * MINUTE_MS;

/** Characters of a shard's version in the manifest's `shards` string. */
export const VERSION_LENGTH = 12;

/** The small key that names everything else. */
export type Manifest = {
	format: typeof BOOK_FORMAT;
	/** Grows by one with every published change. */
	version: number;
	/** When this version was published, Unix milliseconds. */
	publishedAt: number;
	/** The book has 2^bits shards. */
	bits: number;
	/** The versions of all shards in order, VERSION_LENGTH characters each, base64url; spaces for a shard without entries. */
	shards: string;
	publishers: PublisherWire[];
	/** Rules on which clicks are paid; absent: the defaults. */
	traffic?: TrafficSettings;
	/** 1 where prices are learned: then `book:learned` is read with this. */
	learned?: 1;
	/**
	 * Index → version, of shards that changed less than {@link SPREAD_MS} before: the version of that time, which every data centre has.
	 * For isolates that know no earlier book, where a shard has not spread yet.
	 */
	spread?: Record<string, string>;
};

/** Campaigns that may not bid now because a cap is met. */
export type Pauses = {
	format: typeof BOOK_FORMAT;
	/** A hash of the campaigns; absent where an earlier version of the code wrote them. */
	version?: string;
	campaigns: number[];
};

/** Names the {@link Pauses} that hold now. */
export type PausesHead = { format: typeof BOOK_FORMAT; version: string };

export function domainKey(host: string): string {
	return `d ${host}`;
}

export function keywordKey(keyword: string): string {
	return `k ${keyword}`;
}

export const SHARD_PREFIX = "book:s:";

export function shardKey(bits: number, index: number, version: string): string {
	return `${SHARD_PREFIX}${bits}:${index}:${version}`;
}

/** The version of a shard that a manifest names, or null where the shard has no entries. */
export function shardVersion(manifest: Pick<Manifest, "shards">, index: number): string | null {
	const version = manifest.shards.slice(index * VERSION_LENGTH, (index + 1) * VERSION_LENGTH);
	return version.trim() === "" ? null : version;
}

/** The text of one entry's JSON in a shard, or null. Scans: newlines are rare, so this runs at memory speed. */
export function findEntry(shard: string, key: string): string | null {
	const at = shard.indexOf(`\n${key}\t`);
	if (at === -1) return null;
	const start = at + key.length + 2;
	return shard.slice(start, shard.indexOf("\n", start));
}

/** Parses an entry. @throws SyntaxError where the text is not what {@link encodeEntry} writes */
export function decodeEntry(json: string): BookBrand[] {
	return (JSON.parse(json) as BrandWire[]).map(decodeBrand);
}

const NONE: readonly string[] = [];

function decodeBrand(wire: BrandWire): BookBrand {
	return {
		brandId: wire.i,
		domain: wire.d,
		aliases: wire.a ?? NONE,
		active: wire.x !== 1,
		blockedCountries: wire.b ?? NONE,
		categories: wire.g ?? NONE,
		blocks: null,
		campaigns: wire.c.map(decodeCampaign),
	};
}

function decodeCampaign(wire: CampaignWire): BookCampaign {
	return {
		campaignId: wire.i,
		active: wire.x !== 1,
		country: wire.o,
		platformId: wire.p ?? null,
		hasHomepage: wire.h !== undefined,
		hasDeeplink: wire.l !== undefined && wire.v === 1,
		homepageUrl: typeof wire.h === "string" ? wire.h : null,
		deeplinkUrl: typeof wire.l === "string" ? wire.l : null,
		epcMicros: wire.e ?? null,
		defaultKeywordEpcMicros: wire.f ?? null,
		keywordEpcMicros: wire.k === undefined ? null : new Map(Object.entries(wire.k)),
		capped: wire.z === 1,
		timeZone: wire.t ?? null,
		allowedHours: wire.m ?? ALL_HOURS,
		traffic: wire.r ?? null,
		heldBack: wire.w === undefined ? null : { byClick: wire.w[0], all: wire.w[1] },
		operatorPrices: wire.n === undefined ? null : readPrices(wire.n),
		released: wire.q === undefined ? null : readRelease(wire.q),
	};
}

export function readPrices([epcMicros, defaultKeywordEpcMicros, keywords]: NonNullable<CampaignWire["n"]>): CampaignPrices {
	return { epcMicros, defaultKeywordEpcMicros, keywordEpcMicros: keywords === null ? null : new Map(Object.entries(keywords)) };
}

/** @param network the network's own policy */
export function decodePublisher(wire: PublisherWire, network: TrafficPolicy = DEFAULT_POLICY): BookPublisher {
	return {
		id: wire.id,
		number: wire.n ?? null,
		identity: wire.identity,
		seat: wire.seat ?? null,
		sharePpm: wire.share,
		pricingModel: wire.model ?? null,
		blockedBrands: new Map(Object.entries(wire.blocked ?? {})),
		suspended: wire.x === 1,
		privacy: wire.v ?? DEFAULT_PRIVACY,
		bidPayMs: wire.m === undefined ? BID_PAY_MS : wire.m * MINUTE_MS,
		traffic: layPolicies(network, wire.traffic ?? null),
		openRtb: wire.o ?? null,
		fullAnswers: wire.f === 1,
		accessKeys: wire.k ?? [],
		restrained: wire.l === 1,
		released: wire.q === undefined ? null : readRelease(wire.q),
	};
}

export function encodeEntry(key: string, brands: readonly BrandWire[]): string {
	return `${key}\t${JSON.stringify(brands)}\n`;
}

/** Reads a manifest, or null where it is missing, unreadable or of a format this code does not know. */
export function parseManifest(text: string | null): Manifest | null {
	const value = parseObject(text);
	if (value?.format !== BOOK_FORMAT) return null;
	const { version, publishedAt, bits, shards, publishers } = value;
	const sound =
		Number.isInteger(version) &&
		Number.isInteger(publishedAt) &&
		Number.isInteger(bits) &&
		(bits as number) >= 0 &&
		(bits as number) <= SLOT_BITS &&
		typeof shards === "string" &&
		shards.length === VERSION_LENGTH << (bits as number) &&
		Array.isArray(publishers);
	return sound ? (value as unknown as Manifest) : null;
}

/** The version that a head names; null where there is none that this code can read: then the pauses themselves tell. */
export function readPausesVersion(head: string | null): string | null {
	const value = parseObject(head);
	return value?.format === BOOK_FORMAT && typeof value.version === "string" ? value.version : null;
}

/** Reads the pauses, or null where they are unreadable or of a format this code does not know. */
export function parsePauses(text: string): Pauses | null {
	const value = parseObject(text);
	return value?.format === BOOK_FORMAT && Array.isArray(value.campaigns) ? (value as unknown as Pauses) : null;
}

export function parseObject(text: string | null): Record<string, unknown> | null {
	const value = text === null ? null : parseJson(text);
	return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
}
