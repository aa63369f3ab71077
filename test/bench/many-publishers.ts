/** Many publishers that each block many brands: what the packed book makes of them, written by its own encoders and read by its own reader. */
import { domainOf } from "../../scripts/bench/catalogue/generate.ts";
import { Random } from "../../scripts/demo/random.ts";
import { domainKey } from "../../src/campaign-book/format.ts";
import { CampaignBook, findByOpenRtbIdentity } from "../../src/campaign-book/load.ts";
import type { BlockInput } from "../../src/campaign-book/packed/blocks.ts";
import { openManifest } from "../../src/campaign-book/snapshot.ts";
import type { BrandWire, PublisherWire } from "../../src/campaign-book/wire.ts";
import { type PackedBook, packedBook } from "../support/packed-book.ts";

const SEED = 79;
const TIMED_LOOKUPS = 200_000;
/** Facts of so many brands are a chunk of about 64 KiB without blocks. */
const BRANDS_A_CHUNK = 512;

export type ManyPublishers = {
	headBytes: number;
	publisherChunks: number;
	publisherBytes: number;
	/** The largest value that KV holds. */
	largestBytes: number;
	factsBytes: number;
	/** The same of brands that nobody blocks. */
	unblockedFactsBytes: number;
	/** To take the head and find a publisher in its chunk, as a cold isolate does: without the time of KV. */
	openMs: number;
	/** To get all publishers and facts. */
	fillMs: number;
	/** V8's heap and buffers of an isolate that has all of it, and has been asked for every publisher. */
	heldBytes: number;
	/** To find the brand that is blocked most, and ask whether a publisher blocks it. */
	blockedLookupMicros: number;
	/** The manifest of format 1 with the same publishers, without shards. */
	manifestBytes: number;
	manifestOpenMs: number;
	manifestHeldBytes: number;
};

/**
 * @param pickBrands draws so many different brands that a publisher blocks
 * @param heldBytes what is in memory after a full collection
 */
export async function measureManyPublishers(
	scale: { publishers: number; blocksEach: number; brands: number },
	pickBrands: (count: number) => readonly number[],
	heldBytes: () => number,
): Promise<ManyPublishers> {
	const entries = new Map(Array.from({ length: scale.brands }, (_, at) => [domainKey(domainOf(at)), [brandOf(at)]] as const));
	const blocked = Array.from({ length: scale.publishers }, () => pickBrands(scale.blocksEach));
	const publishers = blocked.map((_, at) => publisherOf(at));
	const blocks = byBrand(blocked);
	const bits = Math.max(0, Math.ceil(Math.log2(scale.brands / BRANDS_A_CHUNK)));
	const { bytes: factsOf } = packedBook({ entries, publishers, bits }).head;
	const packed = packedBook({ entries, publishers, blocks, bits });
	const ofPublishers = [...packed.bytes].filter(([key]) => key.startsWith("book:p:")).map(([, bytes]) => bytes.length);
	const mostBlocked = [...blocks].reduce((most, next) => (next[1].length > most[1].length ? next : most));
	return {
		headBytes: JSON.stringify(packed.head).length,
		publisherChunks: ofPublishers.length,
		publisherBytes: ofPublishers.reduce((sum, bytes) => sum + bytes, 0),
		largestBytes: Math.max(...[...packed.bytes.values()].map(({ length }) => length)),
		factsBytes: packed.head.bytes,
		unblockedFactsBytes: factsOf,
		...(await openPacked(packed, publishers, mostBlocked[0], heldBytes)),
		...openLines(publishers, blocked, heldBytes),
	};
}

async function openPacked(packed: PackedBook, publishers: readonly PublisherWire[], domain: string, heldBytes: () => number) {
	const { store, chunks } = packed;
	const before = heldBytes();
	const book = new CampaignBook(store, { snapshotTtlMs: 3_600_000, cacheBytes: 256 * 1024 * 1024, chunks });
	const background: Promise<unknown>[] = [];
	const waitUntil = (promise: Promise<unknown>) => void background.push(promise);
	const startedAt = performance.now();
	const snapshot = await book.snapshot(0, waitUntil);
	if (snapshot === null) throw new Error("the packed book cannot be read");
	const find = async ({ rtb = "" }: PublisherWire) => findByOpenRtbIdentity(snapshot, rtb, 0);
	const [first] = publishers;
	if (first === undefined || (await find(first))?.id !== first.id) throw new Error("a publisher is not found");
	const openMs = performance.now() - startedAt;
	const fillFrom = performance.now();
	await Promise.all(background);
	const fillMs = performance.now() - fillFrom;
	for (const publisher of publishers) if ((await find(publisher))?.id !== publisher.id) throw new Error(`${publisher.id} is not found`);
	const held = heldBytes() - before;
	let isBlocked = 0;
	const lookUpFrom = performance.now();
	for (let at = 0; at < TIMED_LOOKUPS; at++) {
		const brand = book.brandOf(snapshot, domain);
		if (brand === null || brand instanceof Promise) throw new Error("the facts are not in memory");
		if (brand.blocks?.isBlocked((at % publishers.length) + 1, "US")) isBlocked++;
	}
	if (isBlocked === 0) throw new Error("nobody blocks the brand");
	return { openMs, fillMs, heldBytes: held, blockedLookupMicros: ((performance.now() - lookUpFrom) * 1_000) / TIMED_LOOKUPS };
}

function openLines(publishers: readonly PublisherWire[], blocked: readonly (readonly number[])[], heldBytes: () => number) {
	const listed = publishers.map((publisher, at) => ({
		...publisher,
		blocked: Object.fromEntries((blocked[at] ?? []).map((brand) => [domainOf(brand), []])),
	}));
	const text = JSON.stringify({ format: 1, version: 1, publishedAt: 0, bits: 0, shards: "", publishers: listed });
	const before = heldBytes();
	const startedAt = performance.now();
	const opened = openManifest(JSON.parse(text));
	const manifestOpenMs = performance.now() - startedAt;
	const manifestHeldBytes = heldBytes() - before;
	if (opened.publishers.find("rtb", "p0_rtb", 0) === undefined) throw new Error("a publisher is not found");
	return { manifestBytes: text.length, manifestOpenMs, manifestHeldBytes };
}

function publisherOf(at: number): PublisherWire {
	const name = `p${at}`;
	return {
		id: name,
		pubi: `1${at}`,
		rtb: `${name}_rtb`,
		identity: `${name}_rtb`,
		seat: `${name}-seat`,
		share: 500_000,
		model: "CPC",
		n: at + 1,
	};
}

function brandOf(at: number): BrandWire {
	const random = new Random(SEED + at);
	const campaigns = Array.from({ length: 4 }, (_, place) => ({
		i: 10 * at + place,
		o: place === 0 ? "US" : "CA",
		p: 1,
		h: "https://track.example/c?sub={click_id}",
		e: random.integer(50_000, 900_000),
	}));
	return { i: at + 1, d: domainOf(at), c: campaigns };
}

/** Every tenth block holds in one country alone. */
function byBrand(blocked: readonly (readonly number[])[]): Map<string, BlockInput[]> {
	const blocks = new Map<string, BlockInput[]>();
	for (const [publisher, brands] of blocked.entries()) {
		for (const [at, brand] of brands.entries()) {
			const ofBrand = blocks.get(domainOf(brand)) ?? [];
			blocks.set(domainOf(brand), ofBrand);
			ofBrand.push({ publisher: publisher + 1, countries: at % 10 === 9 ? ["US"] : [] });
		}
	}
	return blocks;
}
