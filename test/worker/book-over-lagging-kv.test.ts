/** The campaign book over a KV that lags: published by the real publisher from the real database, read in several data centres. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { domainKey, MANIFEST_KEY, type Manifest, SPREAD_MS, shardKey, shardVersion } from "../../src/campaign-book/format.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { publishBook } from "../../src/campaign-book/publisher/publish.ts";
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";
import { shardOf, slotOf } from "../../src/campaign-book/slots.ts";
import { openDatabase } from "../../src/db/client.ts";
import { LaggingKv, MAX_LAG_MS } from "../support/lagging-kv.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const TTL_MS = 15_000;
const START = Date.parse("2026-11-18T12:00:00Z");
const BRANDS = 24;
const FIRST_EPC = 400_000;
/** Long enough that the book is cut into several shards. */
const LONG_LINK = `https://track.example/c?sub={click_id}&x=${"x".repeat(20_000)}`;

const domainOf = (brand: number) => `lag-${brand}.example`;

let kv: LaggingKv;
let origin: KVNamespace & BookStore;

const publish = (check = false) => publishBook({ db: openDatabase(env.DB), kv: origin, now: () => kv.now }, check);

/** Sets a brand's price and publishes it. */
async function setEpc(brand: number, epcMicros: number) {
	await env.DB.batch([
		env.DB.prepare("UPDATE campaigns SET epc_micros = ? WHERE campaign_id = ?").bind(epcMicros, 20_000 + brand),
		env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1)").bind(slotOf(domainKey(domainOf(brand)))),
	]);
	return publish();
}

/** An isolate; `settle` waits for what it does in the background. */
function isolate(store: BookStore) {
	const book = new CampaignBook(store, { snapshotTtlMs: TTL_MS });
	const background: Promise<unknown>[] = [];
	const priceOf = async (brand: number) => {
		const snapshot = await book.snapshot(kv.now, (promise) => void background.push(promise));
		if (snapshot === null) throw new Error("no book");
		return (await book.entry(snapshot, domainKey(domainOf(brand))))?.[0]?.campaigns[0]?.epcMicros ?? null;
	};
	return { book, priceOf, settle: () => Promise.all(background.splice(0)) };
}

/** Lets time pass in steps, with a bid on a brand in each. Returns the prices. */
async function bidFor(milliseconds: number, { priceOf, settle }: ReturnType<typeof isolate>, brand: number, stepMs = 5_000) {
	const prices: (number | null)[] = [];
	for (const until = kv.now + milliseconds; kv.now < until; ) {
		kv.now += stepMs;
		prices.push(await priceOf(brand));
		await settle();
	}
	return prices;
}

const manifest = () => JSON.parse(kv.newest(MANIFEST_KEY) ?? "null") as Manifest;

/** The KV key of a brand's shard, as the manifest names it. */
function shardKeyOf(brand: number): string {
	const { bits, shards } = manifest();
	const index = shardOf(slotOf(domainKey(domainOf(brand))), bits);
	return shardKey(bits, index, shardVersion({ shards }, index) ?? "");
}

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: Array.from({ length: BRANDS }, (_, at) => brandEntry(domainOf(at), 20_000 + at)),
	});
	await env.DB.prepare("UPDATE campaigns SET homepage_url = ?").bind(LONG_LINK).run();
});

/** Every test has a namespace of its own, with the book published in it ten minutes before. */
beforeEach(async () => {
	kv = new LaggingKv(START);
	origin = kv.at("origin");
	await env.DB.batch([
		env.DB.prepare("DELETE FROM book_shards"),
		env.DB.prepare("DELETE FROM book_garbage"),
		env.DB.prepare("UPDATE book_state SET version = 0, published_at = 0, bits = 0, next_bits = NULL, next_done = 0, lease_until = 0"),
		env.DB.prepare("UPDATE campaigns SET epc_micros = ?").bind(FIRST_EPC),
		env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 1 FROM book_keys WHERE true ON CONFLICT DO NOTHING"),
	]);
	while (!(await publish()).complete);
	kv.now += 2 * SPREAD_MS;
	logged.splice(0);
	vi.spyOn(console, "error").mockImplementation((line) => void logged.push(String(line)));
});
afterEach(() => {
	vi.restoreAllMocks();
});

const logged: string[] = [];
const unavailableLines = () => logged.filter((line) => line.includes("book.shard_unavailable"));

describe("worker: a manifest that comes before its shards", () => {
	it("a warm isolate serves the version before, waits for nothing, and has the new one soon after KV has it", async () => {
		expect(manifest().bits).toBeGreaterThan(1);
		kv.lagOf = (key) => (key === MANIFEST_KEY ? 0 : MAX_LAG_MS);
		const warm = isolate(kv.at("far"));
		expect(await warm.priceOf(1)).toBe(FIRST_EPC);
		kv.now += 31_000;
		await setEpc(1, 700_000);
		const { waits } = warm.book.stats;
		const prices = await bidFor(2 * MAX_LAG_MS, warm, 1);
		expect((await warm.book.snapshot(kv.now, () => {}))?.manifest.version).toBe(manifest().version);
		expect(prices.slice(0, 11)).toEqual(Array(11).fill(FIRST_EPC));
		// KV's lag, its shortest cache life, and a refresh.
		expect(prices.slice(21)).toEqual(Array(3).fill(700_000));
		expect(warm.book.stats.waits).toBe(waits);
	});

	it("a cold isolate bids by the version that was there five minutes before, and has the new one soon after KV has it", async () => {
		kv.lagOf = (key) => (key === MANIFEST_KEY ? 0 : MAX_LAG_MS);
		const cold = isolate(kv.at("far"));
		// A second change finds the first not spread either.
		await setEpc(1, 600_000);
		kv.now += 30_000;
		await setEpc(1, 700_000);
		expect(await cold.priceOf(1)).toBe(FIRST_EPC);
		expect(await isolate(kv.at("elsewhere")).priceOf(1)).toBe(FIRST_EPC);
		const prices = await bidFor(2 * MAX_LAG_MS, cold, 1);
		expect(prices.slice(21)).toEqual(Array(3).fill(700_000));
	});

	it("is not missed for an hour, also where nothing stands in for the shard", async () => {
		kv.lagOf = (key) => (key === MANIFEST_KEY ? 0 : MAX_LAG_MS);
		await setEpc(1, 700_000);
		const key = shardKeyOf(1);
		await env.DB.prepare("DELETE FROM book_garbage").run();
		await env.DB.prepare("UPDATE book_state SET manifest_dirty = 1").run();
		await publish();
		const cold = isolate(kv.at("far"));
		await expect(cold.priceOf(1)).rejects.toThrow("cannot be read");
		expect(shardKeyOf(1)).toBe(key);
		kv.now += MAX_LAG_MS + 30_000;
		expect(await cold.priceOf(1)).toBe(700_000);
	});

	it("one error line a minute and shard, not one a bid", async () => {
		await setEpc(1, 700_000);
		kv.now += 2 * SPREAD_MS;
		kv.lose(shardKeyOf(1));
		const cold = isolate(kv.at("far"));
		for (let bid = 0; bid < 20; bid++) await cold.priceOf(1).catch(() => {});
		expect(unavailableLines()).toHaveLength(1);
		for (let second = 0; second < 70; second++) {
			kv.now += 1_000;
			await cold.priceOf(1).catch(() => {});
		}
		expect(unavailableLines()).toHaveLength(2);
	});

	it("whatever lags, an isolate that bid goes on bidding, at a price that held lately, and in the end at the newest", async () => {
		const step = fc.record({ brand: fc.nat(3), afterMs: fc.integer({ min: 0, max: 90_000 }), cold: fc.boolean() });
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), fc.integer(), async (steps, seed) => {
				kv.lagOf = (key, place) => Math.abs(hash(`${key} ${place} ${seed}`)) % (MAX_LAG_MS + 1);
				const since = new Map<number, [at: number, epcMicros: number][]>();
				for (let brand = 0; brand <= 3; brand++) since.set(brand, [[kv.now, (await isolate(kv.at("near")).priceOf(brand)) ?? 0]]);
				const warm = isolate(kv.at("far"));
				for (let brand = 0; brand <= 3; brand++) await warm.priceOf(brand);
				let epcMicros = 500_000 + Math.abs(seed % 1_000) * 100;
				for (const { brand, afterMs, cold } of steps) {
					epcMicros += 100;
					since.get(brand)?.push([kv.now, epcMicros]);
					await setEpc(brand, epcMicros);
					for (const until = kv.now + afterMs; kv.now < until; kv.now += 7_000) {
						for (const one of cold ? [warm, isolate(kv.at("far"))] : [warm]) {
							const price = await one.priceOf(brand);
							expect(pricesOf(since.get(brand) ?? [], kv.now - SPREAD_MS - 2 * MAX_LAG_MS)).toContain(price);
							await one.settle();
						}
					}
				}
				await bidFor(3 * MAX_LAG_MS, warm, 0);
				for (let brand = 0; brand <= 3; brand++) expect(await warm.priceOf(brand)).toBe(since.get(brand)?.at(-1)?.[1]);
				kv.now += 2 * SPREAD_MS;
			}),
			{ numRuns: Number(env.PROPERTY_RUNS || 5) },
		);
	});
});

/** What held at `from` or came later. */
function pricesOf(since: readonly [at: number, epcMicros: number][], from: number): number[] {
	const first = since.findLastIndex(([at]) => at <= from);
	return since.slice(Math.max(0, first)).map(([, epcMicros]) => epcMicros);
}

function hash(text: string): number {
	let h = 0;
	for (let at = 0; at < text.length; at++) h = Math.imul(h ^ text.charCodeAt(at), 0x01000193) ^ (h >>> 13);
	return h;
}

describe("worker: the hourly check over a listing that is late", () => {
	it("takes nothing for lost that was written just now", async () => {
		await setEpc(1, 700_000);
		kv.puts.splice(0);
		const before = manifest();
		for (let second = 0; second < 120; second += 20) {
			kv.now += 20_000;
			expect(await publish(true)).toMatchObject({ manifest: null, shardsWritten: 0 });
		}
		expect(kv.puts).toEqual([]);
		expect(manifest()).toEqual(before);
	});

	it("nor a whole book, right after the first one was published where there had been none", async () => {
		kv = new LaggingKv(START);
		origin = kv.at("origin");
		// KV caches that there is no manifest.
		expect(await origin.get(MANIFEST_KEY)).toBeNull();
		await env.DB.batch([env.DB.prepare("DELETE FROM book_shards"), env.DB.prepare("UPDATE book_state SET version = 0, published_at = 0")]);
		await env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 1 FROM book_keys WHERE true").run();
		while (!(await publish()).complete);
		kv.puts.splice(0);
		for (const check of [false, true]) expect(await publish(check)).toMatchObject({ manifest: null });
		expect(kv.puts).toEqual([]);
	});

	it("nor what a late listing has not and a read finds", async () => {
		await setEpc(1, 700_000);
		kv.now += 2 * SPREAD_MS;
		kv.listLagMs = 3 * SPREAD_MS;
		kv.puts.splice(0);
		expect(await publish(true)).toMatchObject({ manifest: null, shardsWritten: 0 });
		expect(kv.puts).toEqual([]);
	});

	it("what is lost is written again under its old name, which the manifest never ceases to have", async () => {
		const lost = shardKeyOf(1);
		const before = manifest();
		kv.lose(lost);
		kv.puts.splice(0);
		// With nothing left for shards: only what names them is written.
		const short = await publishBook({ db: openDatabase(env.DB), kv: origin, now: () => kv.now }, true, { statements: 0, keys: 0 });
		expect(short.complete).toBe(false);
		expect(manifest().shards).toBe(before.shards);
		expect(kv.puts).toEqual([MANIFEST_KEY]);
		expect(await publish()).toMatchObject({ complete: true, shardsWritten: 1 });
		expect(kv.puts).toContain(lost);
		expect(manifest().shards).toBe(before.shards);
		kv.now += MAX_LAG_MS;
		expect(await isolate(kv.at("far")).priceOf(1)).toBe(FIRST_EPC);
		kv.now += 2 * SPREAD_MS;
		expect(await publish(true)).toMatchObject({ manifest: null });
	});
});
