/** How an isolate reads a packed book: what it waits for, what it gets in the background, and what it does where KV has not all of it. */
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { BookBrand } from "../../../src/campaign-book/book.ts";
import { domainKey, MANIFEST_KEY } from "../../../src/campaign-book/format.ts";
import { CampaignBook, findByOpenRtbIdentity } from "../../../src/campaign-book/load.ts";
import { CachedChunks } from "../../../src/campaign-book/packed/chunk-store.ts";
import { buildFilter, FuseFilter } from "../../../src/campaign-book/packed/fuse-filter.ts";
import { BookUnavailableError } from "../../../src/campaign-book/resident-shards.ts";
import { shardOf, slotOf } from "../../../src/campaign-book/slots.ts";
import type { BrandWire } from "../../../src/campaign-book/wire.ts";
import { within } from "../../../src/lib/async.ts";
import { hashOf } from "../../../src/lib/hash.ts";
import { DEFAULT_POLICY } from "../../../src/lib/traffic-rules.ts";
import { ACME } from "../../support/memory-book.ts";
import { type PackedBook, type PackedContents, packedBook } from "../../support/packed-book.ts";

const TTL_MS = 15_000;
const BRANDS = 400;
const domainOf = (at: number) => `brand-${at}.example`;

/** This many that the head does not hold them. */
const MANY_PUBLISHERS = Array.from({ length: 600 }, (_, at) => ({
	...ACME,
	id: `p${at}`,
	pubi: `${at}`,
	rtb: `p${at}`,
	identity: `p${at}`,
}));

/** Brands whose campaigns all cost the same. */
function entriesOf(epcMicros: number, brands = BRANDS): Map<string, BrandWire[]> {
	return new Map(
		Array.from({ length: brands }, (_, at): [string, BrandWire[]] => [
			domainKey(domainOf(at)),
			[{ i: at + 1, d: domainOf(at), c: [{ i: at + 1, o: "US", h: "https://t.example/{click_id}", e: epcMicros }] }],
		]),
	);
}

function open(packed: PackedBook, options: { cacheBytes?: number; fill?: boolean } = {}) {
	const book = new CampaignBook(packed.store, { snapshotTtlMs: TTL_MS, chunks: packed.chunks, ...options });
	const background: Promise<unknown>[] = [];
	const snapshotAt = (now: number) => book.snapshot(now, (promise) => void background.push(promise));
	const lookUp = async (now: number, find: (snapshot: NonNullable<Awaited<ReturnType<typeof snapshotAt>>>) => unknown) => {
		const snapshot = await snapshotAt(now);
		if (snapshot === null) throw new Error("no book");
		return find(snapshot);
	};
	return {
		book,
		async settle() {
			while (background.length > 0) await Promise.all(background.splice(0));
		},
		async priceOf(host: string, now: number) {
			const brand = (await lookUp(now, (snapshot) => book.brandOf(snapshot, host))) as BookBrand | null;
			return brand?.campaigns[0]?.epcMicros ?? null;
		},
		/** Whether a lookup has to wait. */
		async waitsFor(host: string, now: number) {
			const snapshot = await snapshotAt(now);
			if (snapshot === null) throw new Error("no book");
			const found = book.brandOf(snapshot, host);
			if (found instanceof Promise) await found;
			return found instanceof Promise;
		},
		linked: (domain: string, now: number) => lookUp(now, (snapshot) => book.linkedBrandOf(snapshot, domain)),
		publisher: (identity: string, now: number) => lookUp(now, (snapshot) => findByOpenRtbIdentity(snapshot, identity, now)),
	};
}

const kindsOf = (reads: readonly string[][]) => reads.flat().map((key) => key.split(":")[1]);
let contents: PackedContents;

beforeEach(() => {
	contents = { entries: entriesOf(400_000), bits: 4 };
	vi.spyOn(console, "error").mockImplementation(() => {});
});

describe("unit: a packed book in an isolate", () => {
	test("the first bid waits for two reads, the second of them one chunk of facts; in the background all the rest comes, once", async () => {
		const packed = packedBook(contents);
		const { book, priceOf, settle, waitsFor } = open(packed);
		expect(await priceOf(domainOf(7), 0)).toBe(400_000);
		expect(kindsOf(packed.reads)).toEqual(["manifest", "paused", "paused", "learned", "f"]);
		await settle();
		expect(kindsOf(packed.reads).filter((kind) => kind === "f")).toHaveLength(16);
		expect(kindsOf(packed.reads)).not.toContain("l");
		packed.reads.splice(0);
		for (let at = 0; at < BRANDS; at++) expect(await waitsFor(domainOf(at), 1)).toBe(false);
		expect(await waitsFor("unknown.example", 1)).toBe(false);
		expect(packed.reads).toEqual([]);
		expect(book.stats).toMatchObject({ shards: 16, waits: 1 });
	});

	test("what was asked for most comes first", async () => {
		const packed = packedBook(contents);
		const { priceOf, settle } = open(packed);
		packed.before = async (keys) => {
			if (keys.some((key) => key.startsWith("book:f:"))) throw new Error("KV is slow");
		};
		const placeOf = (host: string) => shardOf(slotOf(domainKey(host)), 4);
		for (const [times, at] of [1, 40, 200].entries()) {
			for (let asked = 0; asked <= times; asked++) await expect(priceOf(domainOf(at), 0)).rejects.toThrow(BookUnavailableError);
		}
		packed.before = async () => {};
		packed.reads.splice(0);
		await settle();
		const expected = [...new Set([200, 40, 1].map((at) => placeOf(domainOf(at))))];
		expect(
			packed.reads
				.flat()
				.map((key) => Number(key.split(":")[3]))
				.slice(0, expected.length),
		).toEqual(expected);
	});

	test("publisher and facts are read in one round, and publishers that many are parsed when asked for", async () => {
		const packed = packedBook({ ...contents, publishers: MANY_PUBLISHERS });
		expect(packed.head.publisherBits).toBeGreaterThan(0);
		const { publisher, settle } = open(packed);
		expect(await publisher("p77", 0)).toMatchObject({ id: "p77" });
		expect(await publisher("nobody", 0)).toBeUndefined();
		await settle();
		packed.reads.splice(0);
		for (let at = 0; at < 600; at++) expect(await publisher(`p${at}`, 1)).toMatchObject({ id: `p${at}` });
		expect(packed.reads).toEqual([]);
	});

	test("publishers whose chunk stays follow the network's own rules", async () => {
		const packed = packedBook({ ...contents, publishers: MANY_PUBLISHERS });
		const { publisher, settle } = open(packed);
		expect(await publisher("p7", 0)).toMatchObject({ traffic: { visitorPerHour: DEFAULT_POLICY.visitorPerHour } });
		await settle();
		packed.texts.set("book:manifest", JSON.stringify({ ...packed.head, version: 2, traffic: { visitorPerHour: 3 } }));
		await publisher("p7", 2 * TTL_MS);
		await settle();
		expect(await publisher("p7", 2 * TTL_MS + 1)).toMatchObject({ traffic: { visitorPerHour: 3 } });
	});

	test("an unchanged head is told by how it begins; a new one takes over with what it changed, and nothing waits", async () => {
		const packed = packedBook(contents);
		const { book, priceOf, settle, waitsFor } = open(packed);
		await priceOf(domainOf(1), 0);
		await settle();
		const parse = vi.spyOn(JSON, "parse");
		await priceOf(domainOf(1), TTL_MS + 1);
		await settle();
		expect(parse.mock.calls.filter(([text]) => text.length > 500)).toEqual([]);
		packedBook({ ...contents, entries: entriesOf(500_000), version: 2 }, packed);
		expect(await priceOf(domainOf(1), 3 * TTL_MS)).toBe(400_000);
		await settle();
		for (let at = 0; at < BRANDS; at += 9) {
			expect(await waitsFor(domainOf(at), 3 * TTL_MS + 1)).toBe(false);
			expect(await priceOf(domainOf(at), 3 * TTL_MS + 1)).toBe(500_000);
		}
		expect(book.stats.waits).toBe(1);
		expect(book.stats.bytes).toBeLessThan(2 * packed.head.bytes + 100_000);
	});

	test("a book of another number of chunks takes over chunk by chunk: the older ones serve until then, and go", async () => {
		const packed = packedBook(contents);
		const { book, priceOf, settle, waitsFor } = open(packed);
		await priceOf(domainOf(1), 0);
		await settle();
		const { bytes } = book.stats;
		for (const [at, bits] of [6, 3].entries()) {
			const now = (at + 1) * 2 * TTL_MS;
			packedBook({ ...contents, bits, entries: entriesOf(500_000 + bits), version: at + 2 }, packed);
			await priceOf(domainOf(1), now);
			await settle();
			expect(await waitsFor(domainOf(1), now + 1)).toBe(false);
			await settle();
			for (let brand = 0; brand < BRANDS; brand += 9) expect(await priceOf(domainOf(brand), now + 2)).toBe(500_000 + bits);
		}
		expect(book.stats).toMatchObject({ shards: 8, waits: 1 });
		expect(book.stats.bytes).toBeLessThan(bytes * 1.2);
	});

	test.each([4, 6, 3])(
		"an isolate that slept long, and one that published it itself, bid by the new head at once (2^%d chunks)",
		async (bits) => {
			const packed = packedBook({ ...contents, publishers: MANY_PUBLISHERS });
			const [slept, publishing] = [open(packed), open(packed)];
			for (const { priceOf, publisher, settle } of [slept, publishing]) {
				await priceOf(domainOf(1), 0);
				await publisher("p7", 0);
				await settle();
			}
			const publishers = MANY_PUBLISHERS.map((publisher) => ({ ...publisher, share: 250_000 }));
			const { texts } = packedBook({ entries: entriesOf(500_000, BRANDS + 1), publishers, bits, version: 2 }, packed);
			await publishing.book.adopt(texts.get("book:manifest") ?? "", 1);
			for (const [isolate, now] of [[slept, 100 * TTL_MS] as const, [publishing, 2] as const]) {
				for (const at of [1, BRANDS - 1, BRANDS]) expect(await isolate.priceOf(domainOf(at), now)).toBe(500_000);
				expect(await isolate.publisher("p7", now)).toMatchObject({ sharePpm: 250_000 });
			}
		},
	);

	test("a changed chunk that has not spread serves as it was, and comes later; a cold isolate takes the version before", async () => {
		const packed = packedBook(contents);
		const { priceOf, settle } = open(packed);
		await priceOf(domainOf(1), 0);
		await settle();
		const next = packedBook({ ...contents, entries: entriesOf(500_000), version: 2 }, packed);
		const index = shardOf(slotOf(domainKey(domainOf(1))), 4);
		const key = `book:f:4:${index}:${next.head.facts.slice(index * 12, index * 12 + 12)}`;
		const late = packed.bytes.get(key);
		packed.bytes.delete(key);
		await priceOf(domainOf(1), 2 * TTL_MS);
		await settle();
		expect(await priceOf(domainOf(1), 2 * TTL_MS + 1)).toBe(400_000);
		await settle();
		await expect(open(packed).priceOf(domainOf(1), 0)).rejects.toThrow(BookUnavailableError);
		const before = `1-${index}`.padStart(12, "v");
		packed.texts.set("book:manifest", JSON.stringify({ ...next.head, spread: { [`f:${index}`]: before } }));
		expect(await open(packed, { fill: false }).priceOf(domainOf(1), 0)).toBe(400_000);
		if (late !== undefined) packed.bytes.set(key, late);
		await priceOf(domainOf(1), 2 * TTL_MS + 11_000);
		await settle();
		expect(await priceOf(domainOf(1), 2 * TTL_MS + 11_001)).toBe(500_000);
	});

	test("a chunk that is lost is a line in the log a minute, however often it is looked for in the background", async () => {
		const packed = packedBook(contents);
		packed.bytes.delete([...packed.bytes.keys()].find((key) => key.startsWith("book:f:")) ?? "");
		const { publisher, settle } = open(packed);
		for (const [minute, lines] of [1, 2].entries()) {
			for (let second = 0; second < 60; second += 11) {
				await publisher("acme_rtb", (minute * 60 + second) * 1_000);
				await settle();
			}
			expect(vi.mocked(console.error).mock.calls.filter(([line]) => String(line).includes("chunk_unavailable"))).toHaveLength(lines);
		}
	});

	test("a data centre's cache that fails holds nothing up, and is a line in the log", async () => {
		const fail = () => Promise.reject(new Error("no cache here"));
		const kv = { get: (key: string) => Promise.resolve(Uint8Array.of(key.length).buffer) };
		const chunks = new CachedChunks(kv, { match: fail, put: fail }, "https://rtb.example", () => {});
		for (let at = 0; at < 20; at++) expect((await chunks.read(`chunk-${at}`, 30, true))?.byteLength).toBeGreaterThan(0);
		expect(vi.mocked(console.error).mock.calls).toHaveLength(1);
	});

	test("what comes late takes the place of nothing newer: by an earlier head, and in place of what has come meanwhile", async () => {
		const packed = packedBook(contents);
		const { book, priceOf } = open(packed, { fill: false });
		await book.snapshot(0, () => {});
		const index = shardOf(slotOf(domainKey(domainOf(1))), 4);
		const before = `1-${index}`.padStart(12, "v");
		const ask = async (now: number) => {
			const slow = Promise.withResolvers<void>();
			packed.before = ([key]) => (key?.endsWith(before) === true ? slow.promise : Promise.resolve());
			packed.reads.splice(0);
			const asked = priceOf(domainOf(1), now);
			await vi.waitFor(() => expect(packed.reads.flat().some((key) => key.endsWith(before))).toBe(true));
			return { asked, slow };
		};
		const byEarlierHead = await ask(0);
		const next = packedBook({ ...contents, entries: entriesOf(500_000), version: 2 }, packed);
		await book.adopt(JSON.stringify(next.head), 1);
		expect(await priceOf(domainOf(1), 2)).toBe(500_000);
		byEarlierHead.slow.resolve();
		expect(await byEarlierHead.asked).toBe(400_000);
		expect(await priceOf(domainOf(1), 3)).toBe(500_000);

		const third = packedBook({ ...contents, entries: entriesOf(600_000), version: 3 }, packed);
		const key = `book:f:4:${index}:${third.head.facts.slice(index * 12, index * 12 + 12)}`;
		const late = packed.bytes.get(key) ?? new Uint8Array();
		packed.bytes.delete(key);
		await book.adopt(JSON.stringify({ ...third.head, spread: { [`f:${index}`]: before } }), 4);
		const standIn = await ask(5);
		packed.bytes.set(key, late);
		expect(await priceOf(domainOf(1), 6)).toBe(600_000);
		standIn.slow.resolve();
		expect(await standIn.asked).toBe(400_000);
		expect(await priceOf(domainOf(1), 7)).toBe(600_000);
	});

	test("the candidates of a keyword can be gone through again", async () => {
		const campaign = { i: 1, o: "US", h: 1 as const, k: { boots: 400_000 } };
		const packed = packedBook({ entries: new Map([["k boots", [{ i: 1, d: domainOf(1), c: [campaign] }]]]) });
		const { book } = open(packed, { fill: false });
		const snapshot = await book.snapshot(0, () => {});
		const found = (snapshot && (await book.candidatesOf(snapshot, "boots"))) ?? [];
		const ids = () => Array.from(found, ({ brandId }) => brandId);
		expect([ids(), ids()]).toEqual([[1], [1]]);
	});

	test("a click reads its brand once, and again whatever of it changes", async () => {
		const packed = packedBook(contents);
		const { book, linked, settle } = open(packed);
		const first = await linked(domainOf(2), 0);
		expect(first).toMatchObject({ campaigns: [{ epcMicros: 400_000, homepageUrl: "https://t.example/{click_id}" }] });
		await settle();
		const known = await linked(domainOf(2), 1);
		expect(known).toEqual(first);
		expect(await linked(domainOf(2), 2)).toBe(known);
		let now = 2;
		const publish = async (change: Partial<PackedContents>) => {
			packedBook({ ...contents, ...change }, packed);
			now += TTL_MS + 1;
			// The first finds the head, the second what it names.
			for (let at = 0; at < 2; at++) {
				await linked(domainOf(2), ++now);
				await settle();
			}
			return linked(domainOf(2), ++now);
		};
		expect(await publish({ entries: entriesOf(500_000), version: 2 })).toMatchObject({ campaigns: [{ epcMicros: 500_000 }] });
		// Links alone: the versions of facts stay.
		const facts = packed.head.facts;
		const elsewhere = [...entriesOf(500_000)].map(([key, brands]): [string, BrandWire[]] => [
			key,
			brands.map((brand) => ({ ...brand, c: brand.c.map((campaign) => ({ ...campaign, h: "https://u.example/{click_id}" })) })),
		]);
		const { head } = packedBook({ ...contents, entries: new Map(elsewhere), version: 3 }, packed);
		packed.texts.set(MANIFEST_KEY, JSON.stringify({ ...head, facts: facts.replaceAll("1-", "2-") }));
		now += TTL_MS + 1;
		await linked(domainOf(2), now);
		await settle();
		expect(await linked(domainOf(2), ++now)).toMatchObject({
			campaigns: [{ epcMicros: 500_000, homepageUrl: "https://u.example/{click_id}" }],
		});
		// Another number of chunks, and none of the brand's any more.
		expect(await publish({ entries: entriesOf(600_000), bits: 2, version: 4 })).toMatchObject({ campaigns: [{ epcMicros: 600_000 }] });
		const without = entriesOf(600_000);
		without.delete(domainKey(domainOf(2)));
		expect(await publish({ entries: without, bits: 2, version: 5 })).toBeNull();
		expect(book.stats.bytes).toBeLessThan(2 * packed.head.bytes + 100_000);
	});

	test("a changed chunk that KV keeps to itself keeps no new book out: it serves as it was", async () => {
		const packed = packedBook(contents);
		const { priceOf, settle } = open(packed);
		await priceOf(domainOf(1), 0);
		await settle();
		const next = packedBook({ ...contents, entries: entriesOf(500_000), version: 2 }, packed);
		const index = (at: number) => shardOf(slotOf(domainKey(domainOf(at))), 4);
		const silent = `book:f:4:${index(1)}:${next.head.facts.slice(index(1) * 12, index(1) * 12 + 12)}`;
		packed.before = (keys) => (keys.includes(silent) ? new Promise(() => {}) : Promise.resolve());
		const other = Array.from({ length: BRANDS }, (_, at) => at).find((at) => index(at) !== index(1)) ?? 0;
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		onTestFinished(() => void vi.useRealTimers());
		for (let now = TTL_MS + 1; now < 3 * TTL_MS; now += 5_000) {
			expect(await priceOf(domainOf(1), now)).toBe(400_000);
			await priceOf(domainOf(other), now);
			await vi.advanceTimersByTimeAsync(5_000);
		}
		expect(await priceOf(domainOf(other), 3 * TTL_MS)).toBe(500_000);
	});

	test("an isolate that slept, and whose new book comes when no bid waits for it any more, keeps what it has until the rest is there", async () => {
		const packed = packedBook(contents);
		const { priceOf, settle } = open(packed);
		await priceOf(domainOf(1), 0);
		await settle();
		packedBook({ ...contents, entries: entriesOf(500_000), version: 2 }, packed);
		const [head, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
		packed.before = (keys) => (keys.includes(MANIFEST_KEY) ? head : rest).promise;
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		onTestFinished(() => void vi.useRealTimers());
		const waited = priceOf(domainOf(1), 20 * TTL_MS);
		await vi.advanceTimersByTimeAsync(500);
		expect(await waited).toBe(400_000);
		head.resolve();
		await vi.advanceTimersByTimeAsync(100);
		const asked = within(priceOf(domainOf(200), 20 * TTL_MS + 600), 10, "waits");
		await vi.advanceTimersByTimeAsync(10);
		expect(await asked).toBe(400_000);
		rest.resolve();
		await settle();
		expect(await priceOf(domainOf(1), 20 * TTL_MS + 601)).toBe(500_000);
	});

	test("changed links that KV keeps to itself hold no click up: those before serve", async () => {
		const packed = packedBook(contents);
		const { linked, settle } = open(packed);
		await linked(domainOf(2), 0);
		await settle();
		const next = packedBook({ ...contents, entries: entriesOf(500_000), version: 2 }, packed);
		for (const key of packed.bytes.keys())
			if (key.startsWith("book:l:") && next.head.links.includes(key.split(":").at(-1) ?? "")) packed.bytes.delete(key);
		await linked(domainOf(2), 2 * TTL_MS);
		await settle();
		packed.before = (keys) => (keys.some((key) => key.startsWith("book:l:")) ? new Promise(() => {}) : Promise.resolve());
		expect(await linked(domainOf(2), 2 * TTL_MS + 1)).toMatchObject({
			campaigns: [{ epcMicros: 500_000, homepageUrl: "https://t.example/{click_id}" }],
		});
	});

	test("a brand of many campaigns is read for each click: what is kept has a bound", async () => {
		const campaigns = (count: number) => Array.from({ length: count }, (_, at) => ({ i: at + 1, o: "US", h: "https://t.example/", e: 1 }));
		const brandOf = (domain: string, count: number): [string, BrandWire[]] => [
			domainKey(domain),
			[{ i: count, d: domain, c: campaigns(count) }],
		];
		const packed = packedBook({ ...contents, entries: new Map([brandOf("few.example", 16), brandOf("many.example", 17)]) });
		const { linked, settle } = open(packed);
		for (const domain of ["few.example", "many.example"]) await linked(domain, 0);
		await settle();
		expect(await linked("few.example", 1)).toBe(await linked("few.example", 2));
		const many = await linked("many.example", 1);
		expect(await linked("many.example", 2)).toEqual(many);
		expect(await linked("many.example", 2)).not.toBe(many);
	});

	test("links that are of another version than the facts lead nowhere wrong", async () => {
		const packed = packedBook(contents);
		const { linked } = open(packed, { fill: false });
		expect(await linked(domainOf(2), 0)).toMatchObject({ campaigns: [{ homepageUrl: "https://t.example/{click_id}" }] });
		expect(await linked("unknown.example", 0)).toBeNull();
		const other = packedBook({ ...contents, entries: new Map([[domainKey(domainOf(2)), [{ i: 3, d: domainOf(2), c: [] }]]]), version: 2 });
		const mixed = packedBook(contents);
		for (const [key, bytes] of other.bytes) if (key.startsWith("book:l:")) mixed.bytes.set(key.replace("2-", "1-"), bytes);
		await expect(open(mixed, { fill: false }).linked(domainOf(2), 0)).rejects.toThrow(BookUnavailableError);
	});

	test("chunks that are cut short, or of a format to come, are not read", async () => {
		const packed = packedBook(contents);
		for (const [key, bytes] of packed.bytes) packed.bytes.set(key, bytes.slice(0, key.endsWith("0") ? 10 : -1));
		await expect(open(packed, { fill: false }).priceOf(domainOf(1), 0)).rejects.toThrow(BookUnavailableError);
		packed.texts.set("book:manifest", JSON.stringify({ ...packed.head, format: 3 }));
		await expect(open(packed).priceOf(domainOf(1), 0)).rejects.toThrow("no book");
	});
});

describe("unit: a packed book that does not fit", () => {
	const large = { entries: entriesOf(400_000, 4_000), bits: 7 };

	test("what is asked for most stays, an unknown host is known for one without a read, and memory keeps its bound", async () => {
		const packed = packedBook(large);
		const cacheBytes = packed.head.bytes / 3;
		const { book, settle, waitsFor, priceOf } = open(packed, { cacheBytes });
		await priceOf(domainOf(0), 0);
		await settle();
		expect(book.stats.bytes).toBeLessThanOrEqual(cacheBytes + 20_000);
		const hot = Array.from({ length: 20 }, (_, at) => domainOf(at));
		for (let round = 0; round < 20; round++) for (const host of hot) await priceOf(host, 1);
		const before = book.stats.waits;
		for (let at = 0; at < 400; at++) await priceOf(domainOf(100 + at), 1);
		expect(book.stats.waits).toBeGreaterThan(before);
		const { waits } = book.stats;
		for (const host of hot) expect(await waitsFor(host, 1)).toBe(false);
		expect(book.stats.waits).toBe(waits);
		let waited = 0;
		for (let at = 0; at < 2_000; at++) if (await waitsFor(`unknown-${at}.example`, 1)) waited++;
		expect(waited).toBeLessThan(40);
		expect(book.stats.bytes).toBeLessThanOrEqual(cacheBytes + 20_000);
	});

	test("a chunk of before, in the place of one that had not come, is replaced once that has", async () => {
		const packed = packedBook(large);
		const { priceOf, settle } = open(packed, { cacheBytes: packed.head.bytes / 3 });
		const next = packedBook({ ...large, entries: entriesOf(500_000, 4_000), version: 2 }, packed);
		// None that there is room for: they come in order.
		const index = 126;
		const host = [...large.entries.keys()].find((key) => shardOf(slotOf(key), 7) === index)?.slice(2) ?? "";
		const key = `book:f:7:${index}:${next.head.facts.slice(index * 12, index * 12 + 12)}`;
		const late = packed.bytes.get(key) ?? new Uint8Array();
		packed.bytes.delete(key);
		const spread = { [`f:${index}`]: `1-${index}`.padStart(12, "v") };
		packed.texts.set("book:manifest", JSON.stringify({ ...next.head, spread }));
		await priceOf("unknown.example", 0);
		await settle();
		expect(packed.reads.flat()).not.toContain(key);
		expect(await priceOf(host, 1)).toBe(400_000);
		await settle();
		packed.bytes.set(key, late);
		await priceOf(host, 11_000);
		await settle();
		expect(await priceOf(host, 11_001)).toBe(500_000);
	});

	test("a book that just fits is there as a whole after its chunks became others, in whatever order they came", async () => {
		const cacheBytes = packedBook({ ...large, bits: 6 }).head.bytes + 64 * 2_000;
		const packed = packedBook({ ...large, bits: 5 });
		const { priceOf, settle, waitsFor, book } = open(packed, { cacheBytes });
		await priceOf(domainOf(1), 0);
		await settle();
		packedBook({ ...large, bits: 6, version: 2 }, packed);
		await priceOf(domainOf(1), 2 * TTL_MS);
		await vi.waitFor(() => expect(packed.reads.flat().filter((key) => key === "book:manifest")).toHaveLength(2));
		// Of two in the place of one, first one comes and later the other.
		for (const key of large.entries.keys()) {
			if (shardOf(slotOf(key), 6) % 2 === 1) await priceOf(key.slice(2), 2 * TTL_MS + 1);
		}
		await settle();
		await priceOf(domainOf(1), 2 * TTL_MS + 2);
		await settle();
		for (let at = 0; at < 4_000; at += 7) expect(await waitsFor(domainOf(at), 2 * TTL_MS + 3)).toBe(false);
		expect(book.stats).toMatchObject({ shards: 64 });
	});

	test("what nothing replaces in the background does not outlast the head that named it", async () => {
		const packed = packedBook(large);
		const { priceOf, settle } = open(packed, { fill: false });
		for (let at = 0; at < 1_000; at++) await priceOf(domainOf(at), 0);
		packedBook({ ...large, entries: entriesOf(500_000, 4_000), version: 2 }, packed);
		await priceOf(domainOf(0), 2 * TTL_MS);
		await settle();
		for (let at = 0; at < 1_000; at += 9) expect(await priceOf(domainOf(at), 2 * TTL_MS + 1)).toBe(500_000);
	});

	test.each([0, 1, 2, 7, 100, 5_000])("a filter of %d keys never denies one of them, and takes few others for one", (count) => {
		const keys = Array.from({ length: count }, (_, at) => hashOf(domainKey(domainOf(at))));
		const bytes = buildFilter([...keys, ...keys]);
		const filter = new FuseFilter("v", bytes.slice().buffer);
		expect(keys.every((key) => filter.has(key))).toBe(true);
		const others = Array.from({ length: 20_000 }, (_, at) => hashOf(`d other-${at}.example`)).filter((hash) => filter.has(hash));
		expect(others.length).toBeLessThan(200);
		if (count > 1_000) expect((bytes.length * 8) / count).toBeLessThan(11);
		expect(() => new FuseFilter("v", bytes.slice(0, -1).buffer)).toThrow();
		expect(() => new FuseFilter("v", null)).toThrow();
	});
});
