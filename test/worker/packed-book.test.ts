/** A packed campaign book end to end: import, publish, bid, click, redirect; what a publish writes, and what a cold isolate reads. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { domainKey, MANIFEST_KEY } from "../../src/campaign-book/format.ts";
import { LEARNED_KEY } from "../../src/campaign-book/learned.ts";
import { CachedChunks } from "../../src/campaign-book/packed/chunk-store.ts";
import { FuseFilter } from "../../src/campaign-book/packed/fuse-filter.ts";
import { chunkKey, FILTER_SPAN_BITS, parseHead, versionAt } from "../../src/campaign-book/packed/head.ts";
import { publishBook, sweepBook } from "../../src/campaign-book/publisher/publish.ts";
import { buildHead } from "../../src/campaign-book/publisher/publish-head.ts";
import { newBudget } from "../../src/campaign-book/publisher/publish-shards.ts";
import { shardOf, slotOf } from "../../src/campaign-book/slots.ts";
import type { Env } from "../../src/config.ts";
import { openDatabase } from "../../src/db/client.ts";
import { hashOf } from "../../src/lib/hash.ts";
import worker from "../../src/worker.ts";
import { collectNoCompany } from "../support/collect-no-company.ts";
import { ACME, brandEntry, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const GLOBEX = {
	...ACME,
	id: "globex",
	name: "Globex",
	publisher_id: "1002",
	publisher_identity: "globex_rtb",
	access_key: "access-key-globex",
	publisher_key: "publisher-key-globex",
};

const Incoming = Request<unknown, IncomingRequestCfProperties>;

/** The Worker with a memory of its own, as a new isolate has it, and a log of what it does to KV. */
function isolate(format: "1" | "2" = "2") {
	const log = { reads: [] as string[], puts: [] as string[] };
	const kv = new Proxy(env.BOOK, {
		get: (target, name) => {
			const value: unknown = Reflect.get(target, name);
			if (typeof value !== "function") return value;
			return (key: string | string[], ...rest: unknown[]) => {
				if (name === "get") log.reads.push(...[key].flat());
				if (name === "put") log.puts.push(String(key));
				return value.call(target, key, ...rest);
			};
		},
	});
	// Without the queue, for which a request would collect counts of bids for twenty seconds.
	const { CLICKS: _, ...own } = { ...env, BOOK: kv, BOOK_FORMAT: format } as Env;
	const fetch = async (request: Request<unknown, IncomingRequestCfProperties>, settle = true) => {
		const context = createExecutionContext();
		const response = await worker.fetch(request, own, context);
		const readBefore = log.reads.length;
		if (settle) await waitOnExecutionContext(context);
		return { response, readBefore };
	};
	return {
		log,
		fetch,
		async importFile(file: object) {
			log.puts.splice(0);
			const request = new Incoming("https://base.example/operator/network", {
				method: "POST",
				headers: OPERATOR_HEADERS,
				body: JSON.stringify(file),
			});
			const { response } = await fetch(request);
			expect(response.status).toBe(200);
		},
		async bid(site: object, identity = "acme_rtb") {
			const body = JSON.stringify({ id: "a", imp: [{ id: "1" }], site });
			const { response, readBefore } = await fetch(new Incoming(`https://rtb.example/openrtb/${identity}`, { method: "POST", body }));
			const answer =
				response.status === 204
					? null
					: await response.json<{ seatbid: { bid: { price: number; ext: { redirect_url?: string }; adm: string }[] }[] }>();
			const bid = answer?.seatbid[0]?.bid[0];
			return { price: bid?.price ?? null, text: JSON.stringify(answer), readBefore };
		},
	};
}

const readHead = async () => {
	const head = parseHead(await env.BOOK.get(MANIFEST_KEY));
	if (head === null) throw new Error("no packed book");
	return head;
};
const deps = (bookFormat: 1 | 2) => ({ db: openDatabase(env.DB), kv: env.BOOK, now: () => Date.now(), bookFormat });
const chunkKeys = async () =>
	(await env.BOOK.list({ prefix: "book:" })).keys.map(({ name }) => name).filter((name) => /^book:[flpxs]:/.test(name));

const MANY = Array.from({ length: 1_200 }, (_, at) => brandEntry(`many-${at}.example`, 20_000 + at));
const SHOES = brandEntry(
	"shoes.example",
	5_001,
	{ aliases: ["shoes-outlet.example"] },
	{ keyword_epc: { boots: "0.8000" }, deeplink_url: "https://track.example/d?sub={click_id}&url={deeplink}", deeplink_verified: true },
);

beforeAll(async () => {
	await isolate().importFile({ platforms: [NORTHWIND], publishers: [ACME, GLOBEX], brands: [SHOES, ...MANY] });
});

describe("worker: a packed book", () => {
	collectNoCompany();

	it("is published as a head and chunks, each under a key with its content's version", async () => {
		const head = await readHead();
		expect(head.bits).toBeGreaterThan(0);
		const named = Array.from({ length: 2 ** head.bits }, (_, index) => [
			chunkKey("f", head.bits, index, versionAt(head.facts, index) ?? ""),
			chunkKey("l", head.bits, index, versionAt(head.links, index) ?? ""),
		]).flat();
		expect((await chunkKeys()).toSorted()).toEqual(named.toSorted());
	});

	it.each([
		["its domain", { domain: "shoes.example" }, 0.2],
		["a host below it", { domain: "www.deep.shoes.example" }, 0.2],
		["an alias", { domain: "shoes-outlet.example" }, 0.2],
		["a keyword", { search: "Boots" }, 0.4],
		["domain and keyword", { domain: "shoes.example", search: "boots" }, 0.4],
		["an unknown host", { domain: "unknown.example" }, null],
	])("a cold isolate bids on %s after two reads of KV", async (_, site, price) => {
		const { bid, log } = isolate();
		const answer = await bid(site);
		expect(answer.price).toBe(price);
		// Manifest, pauses and learned factors are one read, and the chunk of facts the other: few publishers stand in the head.
		const before = log.reads.slice(0, answer.readBefore).filter((key) => !key.startsWith("book:paused") && key !== LEARNED_KEY);
		expect(before.length).toBeLessThanOrEqual(2);
	});

	it("has all in memory after the first answer: nothing waits any more", async () => {
		const { bid, log } = isolate();
		await bid({ domain: "shoes.example" });
		log.reads.splice(0);
		for (let at = 0; at < 1_200; at += 40) expect((await bid({ domain: `many-${at}.example` })).price).toBe(0.2);
		expect((await bid({ domain: "unknown.example" })).price).toBeNull();
		expect(log.reads).toEqual([]);
	});

	it("a click on its bid leads to the platform's link", async () => {
		const { bid } = isolate();
		const { text } = await bid({ domain: "shoes-outlet.example" });
		const url = /https?:[^"\\]*\/click\?[^"\\]*/.exec(text)?.[0] ?? "";
		const cold = isolate();
		// Side by side: without the queue each waits until its click is kept.
		const followed = (more: string) => cold.fetch(new Incoming(`${url}${more}`, { headers: { "user-agent": BROWSER } }));
		const [{ response }, deeplink] = await Promise.all([followed(""), followed(`&dl=${encodeURIComponent("https://shoes.example/p")}`)]);
		expect(response.status).toBe(302);
		expect(response.headers.get("location")).toMatch(/^https:\/\/track\.example\/c\?sub=[0-9a-f]{32}$/);
		expect(deeplink.response.headers.get("location")).toMatch(
			/^https:\/\/track\.example\/d\?sub=[0-9a-f]{32}&url=https%3A%2F%2Fshoes\.example%2Fp$/,
		);
	});

	it("a changed campaign is three keys at most: its facts, its links where they changed, and the head", async () => {
		const { importFile, log } = isolate();
		await importFile({ brands: [brandEntry("many-1.example", 20_001, {}, { epc: "0.6000" })] });
		expect(log.puts.map((key) => key.split(":")[1]).toSorted()).toEqual(["f", "manifest"]);
		await importFile({ brands: [brandEntry("many-1.example", 20_001, {}, { homepage_url: "https://track.example/n?sub={click_id}" })] });
		expect(log.puts.map((key) => key.split(":")[1]).toSorted()).toEqual(["f", "l", "manifest"]);
		await importFile({ brands: [brandEntry("many-1.example", 20_001, {}, { homepage_url: "https://track.example/o?sub={click_id}" })] });
		expect(log.puts.map((key) => key.split(":")[1]).toSorted()).toEqual(["l", "manifest"]);
	});

	it("a publisher's blocks stand with the brand, and changing them touches that brand's chunk alone", async () => {
		const { importFile, bid, log } = isolate();
		await importFile({
			publishers: [{ ...GLOBEX, blocked_brands: [{ domain: "many-2.example" }, { domain: "many-3.example", country: "DE" }] }],
		});
		expect(log.puts.filter((key) => key.startsWith("book:f:")).length).toBeGreaterThan(0);
		expect(log.puts.filter((key) => key.startsWith("book:l:"))).toEqual([]);
		expect((await bid({ domain: "many-2.example" }, "globex_rtb")).price).toBeNull();
		expect((await bid({ domain: "many-2.example" })).price).toBe(0.2);
		expect((await bid({ domain: "many-3.example" }, "globex_rtb")).price).toBe(0.2);
		await importFile({ publishers: [{ ...GLOBEX, blocked_brands: [{ domain: "many-3.example" }] }] });
		expect((await bid({ domain: "many-2.example" }, "globex_rtb")).price).toBe(0.2);
		expect((await bid({ domain: "many-3.example" }, "globex_rtb")).price).toBeNull();
		await importFile({ publishers: [{ ...GLOBEX, blocked_brands: [] }] });
		expect((await bid({ domain: "many-3.example" }, "globex_rtb")).price).toBe(0.2);
	});

	it("publishers that do not fit the head have chunks of their own; a change of one rewrites the chunks of its names", async () => {
		const { importFile, bid, log } = isolate();
		const publishers = Array.from({ length: 400 }, (_, at) => ({
			...ACME,
			id: `p${at}`,
			publisher_id: `2${at}`,
			publisher_identity: `p${at}_rtb`,
			access_key: `access-key-p${at}-0000`,
			publisher_key: `publisher-key-p${at}-0000`,
		}));
		await importFile({ publishers });
		const head = await readHead();
		expect(head.publishers.length).toBe(12 * 2 ** head.publisherBits);
		const cold = isolate();
		expect((await cold.bid({ domain: "shoes.example" }, "p17_rtb")).price).toBe(0.2);
		expect((await cold.bid({ domain: "shoes.example" }, "nobody")).price).toBeNull();
		await importFile({ publishers: [{ ...publishers[17], revenue_share: 0.25 }] });
		expect(log.puts.length).toBeLessThanOrEqual(3);
		expect((await bid({ domain: "shoes.example" }, "p17_rtb")).price).toBe(0.1);
	});

	it("goes back to the first format and forth again when told to, without a bid lost", async () => {
		const { importFile } = isolate("1");
		await importFile({ brands: [brandEntry("many-4.example", 20_004, {}, { epc: "0.5000" })] });
		expect(parseHead(await env.BOOK.get(MANIFEST_KEY))).toBeNull();
		const old = isolate();
		expect((await old.bid({ domain: "many-4.example" })).price).toBe(0.25);
		await sweepBook({ ...deps(1), now: () => Date.now() + 49 * 3_600_000 });
		expect((await chunkKeys()).every((key) => key.startsWith("book:s:"))).toBe(true);
		while (!(await publishBook(deps(2))).complete);
		expect((await readHead()).bits).toBeGreaterThan(0);
		expect((await isolate().bid({ domain: "many-4.example" })).price).toBe(0.25);
		await sweepBook({ ...deps(2), now: () => Date.now() + 49 * 3_600_000 });
		expect((await chunkKeys()).some((key) => key.startsWith("book:s:"))).toBe(false);
		expect(await publishBook(deps(2))).toMatchObject({ manifest: null, complete: true });
	});

	it("an isolate follows from one format to the other in the background", async () => {
		const { bid } = isolate();
		expect((await bid({ domain: "many-5.example" })).price).toBe(0.2);
		const head = await readHead();
		const index = shardOf(slotOf(domainKey("many-5.example")), head.bits);
		expect(versionAt(head.facts, index)).not.toBeNull();
		await publishBook(deps(1));
		expect((await bid({ domain: "many-5.example" })).price).toBe(0.2);
	});
});

describe("worker: the data centre's cache of chunks", () => {
	it.each([false, true])(
		"has what was read from KV, behind the answer of a request that waits for it (in the background: %s)",
		async (isBackground) => {
			const key = `book:f:0:0:cache-${isBackground}`;
			const background: Promise<unknown>[] = [];
			const chunks = new CachedChunks(env.BOOK, caches.default, "https://rtb.example", (promise) => void background.push(promise));
			expect(await chunks.read(key, 30, isBackground)).toBeNull();
			await env.BOOK.put(key, new Uint8Array([1, 2, 3]));
			const read = async () => new Uint8Array((await chunks.read(key, 30, isBackground)) ?? new ArrayBuffer(0));
			expect(await read()).toEqual(new Uint8Array([1, 2, 3]));
			expect(background).toHaveLength(isBackground ? 0 : 1);
			await Promise.all(background);
			await env.BOOK.delete(key);
			expect(await read()).toEqual(new Uint8Array([1, 2, 3]));
		},
	);
});

describe("worker: filters of a book that is large", () => {
	it("know every key, follow what was touched, and take a statement each and few more", async () => {
		let statements = 0;
		const counted = new Proxy(env.DB, {
			get: (target, name) => {
				const value: unknown = Reflect.get(target, name);
				if (name === "prepare") statements++;
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
		const own = { db: openDatabase(counted), kv: env.BOOK, now: () => Date.now() };
		const bits = 12;
		const build = (touched: ReadonlySet<number> | null) =>
			buildHead(own, { version: 1, bits, publishers: [], parts: {}, touched }, newBudget());
		const { filters } = await build(null);
		const keys = (await env.DB.prepare("SELECT key FROM book_keys").all<{ key: string }>()).results.map(({ key }) => key);
		expect(statements).toBeLessThan(64 + 20);
		const held = new Map<number, FuseFilter>();
		for (let index = 0; index < 64; index++) {
			const version = versionAt(filters, index);
			if (version === null) continue;
			const bytes = await env.BOOK.get(chunkKey("x", bits - FILTER_SPAN_BITS, index, version), "arrayBuffer");
			held.set(index, new FuseFilter(version, bytes));
		}
		expect(keys.length).toBeGreaterThan(0);
		for (const key of keys) expect(held.get(shardOf(slotOf(key), bits - FILTER_SPAN_BITS))?.has(hashOf(key))).toBe(true);
		statements = 0;
		expect((await build(new Set([0, 1, 64]))).filters).toBe(filters);
		expect(statements).toBeLessThan(2 + 20);
	});

	it("are all there after a publish that broke off before it had written them", async () => {
		const putsRefused = new Proxy(env.BOOK, {
			get: (target, name) => {
				const value: unknown = Reflect.get(target, name);
				if (name === "put") return () => Promise.reject(new Error("KV PUT failed: 429 Too Many Requests"));
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
		const build = (touched: ReadonlySet<number> | null, kv = env.BOOK) =>
			buildHead(
				{ db: openDatabase(env.DB), kv, now: () => Date.now() },
				{ version: 1, bits: 11, publishers: [], parts: {}, touched },
				newBudget(),
			);
		await expect(build(null, putsRefused)).rejects.toThrow("429");
		// The book has its new number of chunks by then: the next publish knows of those alone that changed.
		const { filters } = await build(new Set([0]));
		expect((await build(null)).filters).toBe(filters);
	});
});
