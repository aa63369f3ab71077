/** A packed book over a KV that lags and loses chunks: published by the real publisher from the real database, read in other data centres. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { domainKey, MANIFEST_KEY, SPREAD_MS } from "../../src/campaign-book/format.ts";
import { type CampaignBook, findByIdentity } from "../../src/campaign-book/load.ts";
import { chunkKey, type Head, holdsPublishers, parseHead, versionAt } from "../../src/campaign-book/packed/head.ts";
import { publisherChunkOf } from "../../src/campaign-book/packed/publishers.ts";
import { publishBook } from "../../src/campaign-book/publisher/publish.ts";
import { shardOf, slotOf } from "../../src/campaign-book/slots.ts";
import { openDatabase } from "../../src/db/client.ts";
import type { WaitUntil } from "../../src/lib/async.ts";
import { LaggingKv, MAX_LAG_MS } from "../support/lagging-kv.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { openStoredBook } from "../support/stored-book.ts";

const START = Date.parse("2026-11-18T12:00:00Z");
/** This many that there are several chunks of facts. */
const BRANDS = 1_200;
/** This many that the head does not hold them. */
const PUBLISHERS = 200;
const FIRST_EPC = 400_000;
const LINK = "https://track.example/c?sub={click_id}";

const domainOf = (brand: number) => `lag-${brand}.example`;

let kv: LaggingKv;
let origin: ReturnType<LaggingKv["at"]>;

const publish = (check = false) => publishBook({ db: openDatabase(env.DB), kv: origin, now: () => kv.now, bookFormat: 2 }, check);

function readHead(): Head {
	const head = parseHead(kv.newest(MANIFEST_KEY));
	if (head === null) throw new Error("no packed book");
	return head;
}

/** The KV key of what a brand or a publisher stands in, as the head names it. */
function keyOf(kind: "f" | "l" | "p", name: string): string {
	const { bits, publisherBits, facts, links, publishers } = readHead();
	const [ofBits, versions] = { f: [bits, facts] as const, l: [bits, links] as const, p: [publisherBits, publishers] as const }[kind];
	const index = kind === "p" ? publisherChunkOf("identity", name, ofBits) : shardOf(slotOf(domainKey(name)), ofBits);
	return chunkKey(kind, ofBits, index, versionAt(versions, index) ?? "");
}

async function setEpc(brand: number, epcMicros: number) {
	await env.DB.batch([
		env.DB.prepare("UPDATE campaigns SET epc_micros = ? WHERE campaign_id = ?").bind(epcMicros, 20_000 + brand),
		env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1)").bind(slotOf(domainKey(domainOf(brand)))),
	]);
	return publish();
}

/** An isolate that reads only what is asked for, but a warm one. */
function isolate(place: string) {
	const book: CampaignBook = openStoredBook({ kv: kv.at(place) });
	const background: Promise<unknown>[] = [];
	const waitUntil: WaitUntil = (promise) => void background.push(promise);
	const snapshotNow = async () => {
		const snapshot = await book.snapshot(kv.now, waitUntil);
		if (snapshot === null) throw new Error("no book");
		return snapshot;
	};
	return {
		settle: async () => {
			while (background.length > 0) await Promise.all(background.splice(0));
		},
		priceOf: async (brand: number) => (await book.brandOf(await snapshotNow(), domainOf(brand)))?.campaigns[0]?.epcMicros ?? null,
		linkOf: async (brand: number) => (await book.linkedBrandOf(await snapshotNow(), domainOf(brand)))?.campaigns[0]?.homepageUrl,
		publisher: async (identity: string) => (await findByIdentity(await snapshotNow(), identity, kv.now))?.id,
	};
}

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: Array.from({ length: PUBLISHERS }, (_, at) => ({
			...ACME,
			id: `p${at}`,
			publisher_id: `2${at}`,
			publisher_identity: `p${at}_rtb`,
			access_key: `access-key-p${at}-0000`,
			publisher_key: `publisher-key-p${at}-0000`,
		})),
		brands: Array.from({ length: BRANDS }, (_, at) => brandEntry(domainOf(at), 20_000 + at, {}, { homepage_url: LINK })),
	});
});

/** Every test has a namespace of its own, with the book published in it ten minutes before. */
beforeEach(async () => {
	kv = new LaggingKv(START);
	origin = kv.at("origin");
	await env.DB.batch([
		...["book_shards", "book_chunks", "book_garbage"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
		env.DB.prepare("UPDATE book_state SET version = 0, published_at = 0, bits = 0, next_bits = NULL, next_done = 0, lease_until = 0"),
		env.DB.prepare("UPDATE campaigns SET epc_micros = ?").bind(FIRST_EPC),
		env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 1 FROM book_keys WHERE true ON CONFLICT DO NOTHING"),
	]);
	while (!(await publish()).complete);
	kv.now += 2 * SPREAD_MS;
	vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
	vi.restoreAllMocks();
});

describe("worker: chunks that KV lost", () => {
	it("are written again under their old names by the hourly check, and everything is found again", async () => {
		const lost = [keyOf("f", domainOf(1)), keyOf("l", domainOf(1)), keyOf("p", "p7_rtb")];
		const before = readHead();
		expect(before.bits).toBeGreaterThan(0);
		expect(holdsPublishers(before)).toBe(false);
		for (const key of lost) kv.lose(key);
		const cold = isolate("far");
		await expect(cold.publisher("p7_rtb")).rejects.toThrow("cannot be read");
		await expect(cold.priceOf(1)).rejects.toThrow("cannot be read");
		kv.puts.splice(0);
		// Nothing is known to be lost before the check has looked.
		expect(await publish()).toMatchObject({ manifest: null });
		expect(await publish(true)).toMatchObject({ complete: true, shardsWritten: lost.length });
		expect(kv.puts.toSorted()).toEqual([...lost, MANIFEST_KEY].toSorted());
		const { facts, links, publishers } = before;
		expect(readHead()).toMatchObject({ facts, links, publishers });
		// The data centre remembers what was missing, and the head is not young any more.
		kv.now += SPREAD_MS;
		for (const one of [isolate("far"), cold]) {
			expect([await one.priceOf(1), await one.linkOf(1), await one.publisher("p7_rtb")]).toEqual([FIRST_EPC, LINK, "p7"]);
			await one.settle();
		}
		expect(await publish(true)).toMatchObject({ manifest: null });
	});

	it("are written again by the next publish where the whole namespace is lost", async () => {
		const { facts, links, publishers } = readHead();
		kv = new LaggingKv(kv.now);
		origin = kv.at("origin");
		await expect(isolate("far").priceOf(1)).rejects.toThrow("no book");
		for (let runs = 0; !(await publish()).complete; runs++) expect(runs).toBeLessThan(5);
		expect(readHead()).toMatchObject({ facts, links, publishers });
		kv.now += MAX_LAG_MS;
		const cold = isolate("elsewhere");
		expect([await cold.priceOf(1), await cold.linkOf(2), await cold.publisher("p7_rtb")]).toEqual([FIRST_EPC, LINK, "p7"]);
	});

	it("were not lost: what a late listing has not, or was written just now", async () => {
		await setEpc(1, 700_000);
		kv.puts.splice(0);
		for (const [afterMs, listLagMs] of [[20_000, MAX_LAG_MS] as const, [2 * SPREAD_MS, 4 * SPREAD_MS] as const]) {
			kv.now += afterMs;
			kv.listLagMs = listLagMs;
			expect(await publish(true)).toMatchObject({ manifest: null, shardsWritten: 0 });
		}
		expect(kv.puts).toEqual([]);
	});
});

describe("worker: a head that comes before its chunks", () => {
	it("warm and cold isolates bid by the version before, and by the new one soon after KV has it", async () => {
		kv.lagOf = (key) => (key === MANIFEST_KEY ? 0 : MAX_LAG_MS);
		const warm = isolate("far");
		expect(await warm.priceOf(1)).toBe(FIRST_EPC);
		await warm.settle();
		kv.now += 31_000;
		await setEpc(1, 700_000);
		const cold = isolate("elsewhere");
		const prices: (number | null)[][] = [[], []];
		for (const until = kv.now + 3 * MAX_LAG_MS; kv.now < until; kv.now += 5_000) {
			for (const [at, one] of [warm, cold].entries()) {
				prices[at]?.push(await one.priceOf(1));
				await one.settle();
			}
		}
		for (const of of prices) {
			expect(new Set(of)).toEqual(new Set([FIRST_EPC, 700_000]));
			expect(of.slice(0, 11)).toEqual(Array(11).fill(FIRST_EPC));
			expect(of.slice(-6)).toEqual(Array(6).fill(700_000));
		}
	});
});
