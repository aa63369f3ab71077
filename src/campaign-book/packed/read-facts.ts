/** Reads chunks of facts: finds a key's record by its hash and unpacks that one record, on demand and without keeping it. */
import { keepShape } from "../../lib/kept-shapes.ts";
import { HELD_SCALE } from "../../lib/money.ts";
import { type Release, readRelease } from "../../lib/release.ts";
import { ALL_HOURS, type BookBrand, type BookCampaign, type CampaignPrices, type HeldBack, type KeywordPrices } from "../book.ts";
import { readPrices } from "../format.ts";
import { PackedBlocks } from "./blocks.ts";
import { ByteReader, isTextAt } from "./bytes.ts";
import * as layout from "./facts-layout.ts";
import { KeyedChunk } from "./keyed-chunk.ts";

const NONE: readonly string[] = [];

/** A chunk of facts in memory: its bytes, and the few values that its records share. */
export class FactsChunk {
	readonly version: string;
	readonly #chunk: KeyedChunk<layout.FactsTables>;

	/** @throws BookUnavailableError where the bytes are missing, cut short, or of a format this code does not know */
	constructor(version: string, buffer: ArrayBuffer | null) {
		this.version = version;
		this.#chunk = new KeyedChunk(layout.FACTS_MAGIC, buffer);
	}

	/** Bytes of the chunk in memory. */
	get size(): number {
		return this.#chunk.bytes.length + CHUNK_OVERHEAD;
	}

	/** The brand that a host names, or null. @param hash `hashOf(key)` @param key `d {host}` */
	host(key: string, hash: number): BookBrand | null {
		const reader = this.#chunk.find(key, hash);
		return reader === null ? null : readBrand(reader, this.#chunk.tail, key.slice(2), null);
	}

	/** The candidates of a keyword in their order, each unpacked when its turn comes; null where there are none. @param key `k {keyword}` */
	keyword(key: string, hash: number): Iterable<BookBrand> | null {
		const reader = this.#chunk.find(key, hash);
		if (reader === null) return null;
		const { bytes, at } = reader;
		// From the first again for whoever asks again: an auction does for a homepage, where no campaign takes the deeplink.
		return { [Symbol.iterator]: () => readCandidates(new ByteReader(bytes, at), this.#chunk.tail, key.slice(2)) };
	}
}

/** Memory of a chunk beside its bytes: its views and tables. */
const CHUNK_OVERHEAD = 1_500;

function* readCandidates(reader: ByteReader, tables: layout.FactsTables, keyword: string): Generator<BookBrand> {
	for (let left = reader.number(); left > 0; left--) yield readBrand(reader, tables, "", keyword);
}

function readBrand(reader: ByteReader, tables: layout.FactsTables, host: string, keyword: string | null): BookBrand {
	const brandId = reader.number();
	const flags = reader.byte();
	const domain = (flags & layout.BRAND_DOMAIN) === 0 ? host : reader.text();
	const aliases = (flags & layout.BRAND_ALIASES) === 0 ? NONE : readList(reader, () => reader.text());
	const blockedCountries = (flags & layout.BRAND_COUNTRIES) === 0 ? NONE : readList(reader, () => tables.countries[reader.number()] ?? "");
	const blocks = (flags & layout.BRAND_BLOCKS) === 0 ? null : new PackedBlocks(reader.bytes, reader.skip(), tables.countries);
	const count = reader.number();
	const campaigns: BookCampaign[] = [];
	let before = 0;
	for (let at = 0; at < count; at++) {
		const campaign = readCampaign(reader, tables, before, keyword);
		before = campaign.campaignId;
		campaigns.push(campaign);
	}
	const categories = tables.categories?.[brandId] ?? NONE;
	return { brandId, domain, aliases, active: (flags & layout.BRAND_INACTIVE) === 0, blockedCountries, categories, blocks, campaigns };
}

function readList(reader: ByteReader, read: () => string): string[] {
	const list: string[] = [];
	for (let left = reader.number(); left > 0; left--) list.push(read());
	return list;
}

/** @param before the id of the campaign before */
function readCampaign(reader: ByteReader, tables: layout.FactsTables, before: number, keyword: string | null): BookCampaign {
	const campaignId = before + reader.number();
	const flags = reader.byte();
	const more = reader.byte();
	return {
		campaignId,
		active: (flags & layout.CAMPAIGN_INACTIVE) === 0,
		country: tables.countries[reader.number()] ?? "",
		platformId: (flags & layout.CAMPAIGN_PLATFORM) === 0 ? null : reader.number(),
		hasHomepage: (flags & layout.CAMPAIGN_HOMEPAGE) !== 0,
		hasDeeplink: (flags & DEEPLINK_VERIFIED) === DEEPLINK_VERIFIED,
		homepageUrl: null,
		deeplinkUrl: null,
		epcMicros: (flags & layout.CAMPAIGN_EPC) === 0 ? null : reader.number(),
		defaultKeywordEpcMicros: (flags & layout.CAMPAIGN_DEFAULT_EPC) === 0 ? null : reader.number(),
		capped: (flags & layout.CAMPAIGN_CAPPED) !== 0,
		timeZone: (more & layout.CAMPAIGN_ZONE) === 0 ? null : (tables.zones[reader.number()] ?? null),
		allowedHours: (more & layout.CAMPAIGN_HOURS) === 0 ? ALL_HOURS : reader.threeBytes(),
		traffic: (more & layout.CAMPAIGN_TRAFFIC) === 0 ? null : (tables.traffic[reader.number()] ?? null),
		heldBack: tables.heldBack === undefined ? null : findHeldBack(tables.heldBack, campaignId),
		operatorPrices: tables.operatorPrices === undefined ? null : findPrices(tables.operatorPrices, campaignId, keyword),
		released: tables.released === undefined ? null : findRelease(tables.released, campaignId),
		keywordEpcMicros: (more & layout.CAMPAIGN_KEYWORDS) === 0 ? null : readKeywords(reader, keyword),
	};
}

/** Of a keyword's candidate that of the keyword alone, as its own price: the table has what stands under all keys of the chunk. */
function findPrices(
	tables: NonNullable<layout.FactsTables["operatorPrices"]>,
	campaignId: number,
	keyword: string | null,
): CampaignPrices | null {
	const wire = tables[campaignId];
	if (wire === undefined) return null;
	if (keyword === null) return readPrices(wire);
	return { epcMicros: null, defaultKeywordEpcMicros: null, keywordEpcMicros: new OnePrice(keyword, wire[2]?.[keyword] ?? 0) };
}

function findRelease(tables: NonNullable<layout.FactsTables["released"]>, campaignId: number): Release | null {
	const wire = tables[campaignId];
	return wire === undefined ? null : readRelease(wire);
}

/** Three numbers a campaign, in the order of ids. */
function findHeldBack(list: readonly number[], campaignId: number): HeldBack | null {
	let from = 0;
	let to = list.length / 3;
	while (from < to) {
		const middle = (from + to) >>> 1;
		const id = list[middle * 3] ?? 0;
		if (id === campaignId) return { byClick: list[middle * 3 + 1] ?? HELD_SCALE, all: list[middle * 3 + 2] ?? HELD_SCALE };
		if (id < campaignId) from = middle + 1;
		else to = middle;
	}
	return null;
}

const DEEPLINK_VERIFIED = layout.CAMPAIGN_DEEPLINK | layout.CAMPAIGN_VERIFIED;

function readKeywords(reader: ByteReader, keyword: string | null): KeywordPrices {
	if (keyword !== null) return new OnePrice(keyword, reader.number());
	const from = reader.skip();
	return new PackedPrices(reader.bytes, from, reader.at);
}

/** The one price that a keyword's entry has of a campaign. */
class OnePrice implements KeywordPrices {
	readonly #keyword: string;
	readonly #epcMicros: number;

	constructor(keyword: string, epcMicros: number) {
		this.#keyword = keyword;
		this.#epcMicros = epcMicros;
	}

	get(keyword: string): number | undefined {
		return keyword === this.#keyword ? this.#epcMicros : undefined;
	}

	has(keyword: string): boolean {
		return keyword === this.#keyword;
	}

	entries(): Iterable<readonly [keyword: string, epcMicros: number]> {
		return [[this.#keyword, this.#epcMicros]];
	}
}

/** A campaign's keyword prices, looked for in its packed bytes: there may be thousands, and a bid asks for one. */
class PackedPrices implements KeywordPrices {
	readonly #bytes: Uint8Array;
	readonly #from: number;
	readonly #to: number;

	constructor(bytes: Uint8Array, from: number, to: number) {
		this.#bytes = bytes;
		this.#from = from;
		this.#to = to;
	}

	get(keyword: string): number | undefined {
		const reader = new ByteReader(this.#bytes, this.#from);
		while (reader.at < this.#to) {
			const length = reader.number();
			const from = reader.at;
			reader.at = from + length;
			const epcMicros = reader.number();
			if (isTextAt(this.#bytes, from, length, keyword)) return epcMicros;
		}
		return undefined;
	}

	has(keyword: string): boolean {
		return this.get(keyword) !== undefined;
	}

	*entries(): Iterable<readonly [keyword: string, epcMicros: number]> {
		const reader = new ByteReader(this.#bytes, this.#from);
		while (reader.at < this.#to) yield [reader.text(), reader.number()];
	}
}

keepShape(new OnePrice("", 0));
keepShape(new PackedPrices(new Uint8Array(), 0, 0));
