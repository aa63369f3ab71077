/** What `book:learned` costs in reads of KV: nothing where nothing is learned, and no wait more where prices are. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type BrandWire, domainKey, MANIFEST_KEY } from "../../../src/campaign-book/format.ts";
import type { Reckoning } from "../../../src/campaign-book/learned.ts";
import { LEARNED_KEY } from "../../../src/campaign-book/learned.ts";
import { CampaignBook } from "../../../src/campaign-book/load.ts";
import { memoryBook } from "../../support/memory-book.ts";
import { packedBook } from "../../support/packed-book.ts";

const TTL_MS = 15_000;
const DOMAIN = "brand-1.example";
const BRAND: BrandWire = { i: 1, d: DOMAIN, c: [{ i: 1, o: "US", h: "https://t.example/{click_id}", e: 400_000 }] };
const OTHER: BrandWire = { ...BRAND, i: 2, d: "brand-2.example" };
const ENTRIES = { [domainKey(DOMAIN)]: [BRAND], [domainKey("brand-2.example")]: [OTHER] };
const LEARNED = JSON.stringify({ format: 1, links: { homepage: 0.5 } });

const FORMATS = ["shards", "packed"] as const;

/** An isolate over a book in memory; `learns` sets what its manifest says. */
function isolate(format: (typeof FORMATS)[number], learns: boolean) {
	const packed = packedBook({ entries: new Map(Object.entries(ENTRIES)), bits: 4 });
	const memory = memoryBook(ENTRIES, undefined, 4);
	const { values, reads, store } =
		format === "packed"
			? { values: packed.texts, reads: packed.reads, store: packed.store }
			: { values: memory.values, reads: memory.reads, store: memory };
	const setLearns = (version: number, isLearned: boolean) => {
		const { learned: _, ...manifest } = JSON.parse(values.get(MANIFEST_KEY) ?? "{}");
		values.set(MANIFEST_KEY, JSON.stringify({ ...manifest, version, ...(isLearned && { learned: 1 }) }));
	};
	setLearns(1, learns);
	values.set(LEARNED_KEY, LEARNED);
	const book = new CampaignBook(store, { snapshotTtlMs: TTL_MS, chunks: packed.chunks });
	const background: Promise<unknown>[] = [];
	return {
		book,
		reads,
		values,
		setLearns,
		/** Holds back or fails reads. */
		onRead: (hook: (keys: string[]) => Promise<void>) => void Object.assign(format === "packed" ? packed : memory, { before: hook }),
		async settle() {
			while (background.length > 0) await Promise.all(background.splice(0));
		},
		/** What a kind of link is reckoned at for a brand; null where nothing is learned. */
		async reckon(domain: string, now: number): Promise<Reckoning["traffic"] | null> {
			const snapshot = await book.snapshot(now, (promise) => void background.push(promise));
			if (snapshot === null || (await book.brandOf(snapshot, domain)) === null) throw new Error("no brand");
			return book.learned?.reckon({ id: "acme", pricingModel: null, released: null }, null, "homepage", now).traffic ?? null;
		},
	};
}

const asked = (reads: readonly string[][]) => reads.filter((keys) => keys.includes(LEARNED_KEY)).length;

beforeEach(() => {
	vi.spyOn(console, "error").mockImplementation(() => {});
});

describe.each(FORMATS)("unit: learned factors beside a book in %s", (format) => {
	test("are never read where nothing is learned", async () => {
		const { reckon, reads, settle } = isolate(format, false);
		for (const now of [0, TTL_MS + 1, 20 * TTL_MS, 60 * TTL_MS]) {
			expect(await reckon(DOMAIN, now)).toBeNull();
			await settle();
		}
		expect(reads.flat()).not.toContain(LEARNED_KEY);
	});

	test("come with the part of the book that a cold bid waits for: it waits twice, and none after it", async () => {
		const { book, reckon, reads, onRead } = isolate(format, true);
		// Reads that are asked for together are let go together: each turn is one wait.
		let waits = 0;
		let turn: Promise<void> | null = null;
		onRead(() => {
			turn ??= new Promise((resolve) => {
				waits++;
				setTimeout(() => {
					turn = null;
					resolve();
				}, 5);
			});
			return turn;
		});
		const [first, second] = await Promise.all([reckon(DOMAIN, 0), reckon(DOMAIN, 0)]);
		expect([first, second]).toEqual([0.5, 0.5]);
		expect(waits).toBe(2);
		if (format === "shards") expect(reads).toHaveLength(4);
		onRead(async () => {});
		reads.splice(0);
		expect(await reckon(DOMAIN, 1)).toBe(0.5);
		expect(asked(reads)).toBe(0);
		expect(book.learned).not.toBeNull();
	});

	test("are asked for once: a cold bid costs two reads of shards, and beside its chunk no other", async () => {
		const { reckon, reads } = isolate(format, true);
		expect(await reckon(DOMAIN, 0)).toBe(0.5);
		const isBackground = (keys: string[]) => keys.every((key) => key.startsWith("book:f:"));
		expect(reads.filter((keys) => !isBackground(keys))).toHaveLength(2);
		expect(asked(reads)).toBe(1);
	});

	test("are read with the manifest once it is known that prices are learned, and no more once they are not", async () => {
		const { reckon, reads, settle, setLearns } = isolate(format, false);
		await reckon(DOMAIN, 0);
		await settle();
		setLearns(2, true);
		await reckon(DOMAIN, TTL_MS + 1);
		await settle();
		expect(await reckon(DOMAIN, TTL_MS + 2)).toBe(0.5);
		reads.splice(0);
		await reckon(DOMAIN, 2 * TTL_MS + 2);
		await settle();
		expect(reads.find((keys) => keys.includes(MANIFEST_KEY))).toContain(LEARNED_KEY);
		// One that slept long waits for both before it bids.
		setLearns(3, false);
		expect(await reckon(DOMAIN, 60 * TTL_MS)).toBeNull();
		setLearns(4, true);
		expect(await reckon(DOMAIN, 120 * TTL_MS)).toBe(0.5);
		setLearns(5, false);
		expect(await reckon(DOMAIN, 180 * TTL_MS)).toBeNull();
		await settle();
		reads.splice(0);
		expect(await reckon(DOMAIN, 240 * TTL_MS)).toBeNull();
		expect(asked(reads)).toBe(0);
	});

	test("that cannot be read take no guard away, and are asked for again", async () => {
		const { book, reckon, onRead } = isolate(format, true);
		onRead(async (keys) => {
			if (keys.includes(LEARNED_KEY)) throw new Error("KV is down");
		});
		if (format === "packed") expect(await reckon(DOMAIN, 0)).toBe(1);
		else await expect(reckon(DOMAIN, 0)).rejects.toThrow();
		expect(book.learned?.reckon({ id: "acme", pricingModel: "CPC", released: null }, null, "homepage", 0).byClick).toBe(true);
		onRead(async () => {});
		expect(await reckon(DOMAIN, 1)).toBe(0.5);
	});
});
