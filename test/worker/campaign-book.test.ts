/** The campaign book on real D1 and KV: what a publish writes, and what readers see of it, also when KV fails. */
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
	domainKey,
	keywordKey,
	MANIFEST_KEY,
	type Manifest,
	PAUSED_HEAD_KEY,
	PAUSED_KEY,
	SPREAD_MS,
	shardKey,
	shardVersion,
} from "../../src/campaign-book/format.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { PublishBusyError, publishBook, sweepBook } from "../../src/campaign-book/publisher/publish.ts";
import { BookUnavailableError } from "../../src/campaign-book/resident-shards.ts";
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";
import { shardOf, slotOf } from "../../src/campaign-book/slots.ts";
import { writePauses } from "../../src/clicks/consumer/publish-pauses.ts";
import { openDatabase } from "../../src/db/client.ts";
import worker from "../../src/worker.ts";
import { MOST_D1_TAKES, measureValues } from "../support/longest-value.ts";
import { ACME, brandEntry, importFile, NORTHWIND, priceFor } from "../support/network-import.ts";

const TTL_MS = 15_000;
const deps = () => ({ db: openDatabase(env.DB), kv: env.BOOK, now: () => Date.now() });

/** The real KV with faults and a log of reads. */
function observedStore() {
	const store = {
		reads: [] as string[][],
		fail: (_key: string): boolean => false,
		hide: (_key: string): boolean => false,
		async get(keys: string[], options: { type: "text"; cacheTtl: number }) {
			store.reads.push(keys);
			if (keys.some((key) => store.fail(key))) throw new Error("KV is down");
			const values = await env.BOOK.get(keys, options);
			for (const key of keys) if (store.hide(key)) values.set(key, null);
			return values;
		},
	};
	return store satisfies BookStore;
}

/** A reader with a clock of its own; `settle` waits for what it does in the background. */
function reader(store: BookStore, cacheBytes?: number) {
	const book = new CampaignBook(store, { snapshotTtlMs: TTL_MS, ...(cacheBytes !== undefined && { cacheBytes }) });
	const background: Promise<unknown>[] = [];
	const waitUntil = (promise: Promise<unknown>) => void background.push(promise);
	return {
		book,
		settle: () => Promise.all(background.splice(0)),
		async snapshot(now: number) {
			return book.snapshot(now, waitUntil);
		},
		async priceOf(domain: string, now: number) {
			const snapshot = await book.snapshot(now, waitUntil);
			if (snapshot === null) return "no book";
			return (await book.entry(snapshot, domainKey(domain)))?.[0]?.campaigns[0]?.epcMicros ?? null;
		},
	};
}

const manifest = async () => JSON.parse((await env.BOOK.get(MANIFEST_KEY)) ?? "null") as Manifest;
const shardKeys = async () => (await env.BOOK.list({ prefix: "book:s:" })).keys.map(({ name }) => name);
const epc = (domain: string, campaignId: number, amount: string) =>
	importFile({ brands: [brandEntry(domain, campaignId, {}, { epc: amount })] });

const cron = () => worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), env);

function namedShards({ bits, shards }: Manifest): string[] {
	const versions = shards.match(/.{12}/g) ?? [];
	return versions.flatMap((version, index) => (version.trim() === "" ? [] : [shardKey(bits, index, version)]));
}

/** Shards that the manifest names and KV has not. */
async function missingShards(): Promise<string[]> {
	const keys = await shardKeys();
	return namedShards(await manifest()).filter((key) => !keys.includes(key));
}

/** As if the last publish were long ago: what KV has not then, it has lost. */
async function age(): Promise<void> {
	await env.DB.batch([
		env.DB.prepare("UPDATE book_state SET published_at = published_at - ?").bind(SPREAD_MS),
		env.DB.prepare("UPDATE book_shards SET written_at = written_at - ?").bind(SPREAD_MS),
	]);
}

function insertRow(table: string, row: Record<string, unknown>): D1PreparedStatement {
	const names = Object.keys(row);
	return env.DB.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => "?")})`).bind(...Object.values(row));
}

const MANY = Array.from({ length: 1_500 }, (_, at) =>
	brandEntry(`many-${at}.example`, 10_000 + at, { aliases: at % 10 === 0 ? [`also-${at}.example`] : [] }),
);

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: MANY });
});

describe("worker: publishing", () => {
	it("cuts the book into shards of about 64 KB, each under a key with its content's version", async () => {
		const { bits, shards } = await manifest();
		expect(bits).toBeGreaterThan(2);
		for (const name of await shardKeys()) {
			const [, , ofBits, index, version] = name.split(":");
			expect(Number(ofBits)).toBe(bits);
			expect(shardVersion({ shards }, Number(index))).toBe(version);
			expect((await env.BOOK.get(name))?.length).toBeLessThan(128 * 1024);
		}
	});

	it("one changed campaign rewrites its shard and the manifest, nothing else", async () => {
		const before = await shardKeys();
		const { book } = await epc("many-1.example", 10_001, "0.7000");
		expect(book.shards_written).toBe(1);
		const added = (await shardKeys()).filter((name) => !before.includes(name));
		const { bits } = await manifest();
		expect(added).toHaveLength(1);
		expect(added[0]).toContain(`book:s:${bits}:${shardOf(slotOf(domainKey("many-1.example")), bits)}:`);
	});

	it("an alias is a copy: a change of its brand rewrites at most two shards", async () => {
		const { book } = await importFile({
			brands: [brandEntry("many-10.example", 10_010, { aliases: ["also-10.example"] }, { epc: "0.9000" })],
		});
		expect(book.shards_written).toBeLessThanOrEqual(2);
		expect(await priceFor("also-10.example")).toBe(0.45);
	});

	it("a removed alias is gone from the book", async () => {
		await importFile({ brands: [brandEntry("many-20.example", 10_020, { aliases: [] })] });
		expect(await priceFor("also-20.example")).toBeNull();
		expect(await priceFor("many-20.example")).toBe(0.2);
	});

	it("a keyword's candidates stand highest EPC first, then lowest campaign id: the auction ends early by that", async () => {
		const epcs = [9_101, 9_102, 9_103, 9_104].map((campaignId, at) => ({ campaignId, epc: ["0.2000", "0.4000", "0.3000", "0.4000"][at] }));
		await importFile({
			brands: epcs.map(({ campaignId, epc }) =>
				brandEntry(`keyword-${campaignId}.example`, campaignId, {}, { keyword_epc: { kites: epc } }),
			),
		});
		const { book, snapshot } = reader(observedStore());
		const taken = await snapshot(0);
		if (taken === null) throw new Error("there is no book");
		const candidates = (await book.entry(taken, keywordKey("kites"))) ?? [];
		expect(candidates.map(({ campaigns }) => campaigns[0]?.campaignId)).toEqual([9_102, 9_104, 9_103, 9_101]);
	});

	it("does nothing where nothing has changed", async () => {
		const before = await manifest();
		expect(await publishBook(deps())).toMatchObject({ version: before.version, manifest: null, shardsWritten: 0 });
	});

	it("a publish that broke off before the manifest is caught by the cron", async () => {
		const failing = {
			...deps(),
			kv: new Proxy(env.BOOK, { get: (kv, name) => (name === "put" ? putFails : Reflect.get(kv, name).bind(kv)) }),
		};
		const before = await manifest();
		await env.DB.prepare("UPDATE campaigns SET epc_micros = 123400 WHERE campaign_id = 10002").run();
		await env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1)")
			.bind(slotOf(domainKey("many-2.example")))
			.run();
		await expect(publishBook(failing)).rejects.toThrow("KV is down");
		expect(await manifest()).toEqual(before);
		await cron();
		expect((await manifest()).version).toBeGreaterThan(before.version);
		expect(await reader(observedStore()).priceOf("many-2.example", 0)).toBe(123_400);
	});

	it("a change that comes while a publish is under way is not lost", async () => {
		const slot = slotOf(domainKey("many-3.example"));
		await env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1)").bind(slot).run();
		const late = {
			...deps(),
			kv: new Proxy(env.BOOK, { get: (kv, name) => (name === "put" ? putLate(slot) : Reflect.get(kv, name).bind(kv)) }),
		};
		await publishBook(late);
		expect(await env.DB.prepare("SELECT mark FROM book_dirty_slots WHERE slot = ?").bind(slot).first("mark")).toBe(2);
		await publishBook(deps());
		expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM book_dirty_slots").first("n")).toBe(0);
	});

	it("nor is one of a publisher, which comes once the manifest is made: it is published by whoever made it", async () => {
		await env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1)")
			.bind(slotOf(domainKey("many-3.example")))
			.run();
		const suspends: Promise<unknown>[] = [];
		const isSuspended = () =>
			env.DB.prepare("SELECT 1 AS yes FROM publishers WHERE id = 'acme' AND status = 'suspended'").first<number>("yes");
		const putAfterwards = async (key: string, value: string) => {
			if (key === MANIFEST_KEY) {
				suspends.push(importFile({ publishers: [{ ...ACME, status: "suspended" }] }, "?yes=1"));
				await vi.waitUntil(isSuspended, { timeout: 60_000 });
			}
			await env.BOOK.put(key, value);
		};
		const kv = new Proxy(env.BOOK, { get: (real, name) => (name === "put" ? putAfterwards : Reflect.get(real, name).bind(real)) });
		await publishBook({ ...deps(), kv });
		expect((await manifest()).publishers).toMatchObject([{ id: "acme", rtb: "acme_rtb" }]);
		await Promise.all(suspends);
		expect((await manifest()).publishers).not.toMatchObject([{ rtb: "acme_rtb" }]);
		await importFile({ publishers: [{ ...ACME, status: "active" }] });
		expect((await manifest()).publishers).toMatchObject([{ id: "acme", rtb: "acme_rtb" }]);
	});

	it("two publishers do not work at once, and a lease that was left behind ends", async () => {
		await env.DB.prepare("UPDATE book_state SET lease_token = 'other', lease_until = ?")
			.bind(Date.now() + 60_000)
			.run();
		await expect(publishBook(deps())).rejects.toThrow(PublishBusyError);
		await env.DB.prepare("UPDATE book_state SET lease_until = ?")
			.bind(Date.now() - 1)
			.run();
		await expect(publishBook(deps())).resolves.toBeDefined();
	});

	it("replaced shards stay for two days, and shards in use for ever", async () => {
		await sweepBook(deps());
		const before = await shardKeys();
		await sweepBook({ ...deps(), now: () => Date.now() + 47 * 3_600_000 });
		expect(await shardKeys()).toEqual(before);
		await sweepBook({ ...deps(), now: () => Date.now() + 49 * 3_600_000 });
		const after = await shardKeys();
		expect(after.length).toBeLessThan(before.length);
		expect(after.toSorted()).toEqual(namedShards(await manifest()).toSorted());
	});

	it("a shard that comes back to what it held two days ago is not removed as it comes", async () => {
		const setPrice = (micros: number) =>
			env.DB.batch([
				env.DB.prepare("UPDATE campaigns SET epc_micros = ? WHERE campaign_id = 10005").bind(micros),
				env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1)").bind(slotOf(domainKey("many-5.example"))),
			]);
		await setPrice(111_100);
		await publishBook(deps());
		await setPrice(400_000);
		const publishAndDelete = async (key: string) => {
			await publishBook(deps()).catch((error: unknown) => expect(error).toBeInstanceOf(PublishBusyError));
			await env.BOOK.delete(key);
		};
		const kv = new Proxy(env.BOOK, { get: (real, name) => (name === "delete" ? publishAndDelete : Reflect.get(real, name).bind(real)) });
		expect(await sweepBook({ ...deps(), kv, now: () => Date.now() + 49 * 3_600_000 })).toBe(1);
		await publishBook(deps());
		expect(await missingShards()).toEqual([]);
		expect(await reader(observedStore()).priceOf("many-5.example", 0)).toBe(400_000);
	});

	it("a database that was set back, to shards that KV has no more, is published anew by the next cron", async () => {
		const tables = ["book_state", "book_shards", "book_garbage", "book_dirty_slots"];
		const stored = await Promise.all(tables.map(async (table) => (await env.DB.prepare(`SELECT * FROM ${table}`).all()).results));
		const price = await reader(observedStore()).priceOf("many-5.example", 0);
		await epc("many-5.example", 10_005, "0.9100");
		await sweepBook({ ...deps(), now: () => Date.now() + 49 * 3_600_000 });
		const { version } = await manifest();
		await env.DB.batch([
			...tables.map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
			...tables.flatMap((table, at) => (stored[at] ?? []).map((row) => insertRow(table, row))),
			env.DB.prepare("UPDATE campaigns SET epc_micros = ? WHERE campaign_id = 10005").bind(price),
		]);
		await age();
		await cron();
		expect(await reader(observedStore()).priceOf("many-5.example", 0)).toBe(price);
		expect((await manifest()).version).toBe(version + 1);
		expect(await missingShards()).toEqual([]);
		// What only the newer book held goes like any replaced shard.
		await sweepBook({ ...deps(), now: () => Date.now() + 49 * 3_600_000 });
		expect(await shardKeys()).toHaveLength(namedShards(await manifest()).length);
		await cron();
		expect((await manifest()).version).toBe(version + 1);
	});

	it("a KV namespace that was lost is filled anew by the next cron", async () => {
		for (const key of [...(await shardKeys()), MANIFEST_KEY]) await env.BOOK.delete(key);
		await age();
		await cron();
		expect(await missingShards()).toEqual([]);
		expect(await reader(observedStore()).priceOf("many-7.example", 0)).toBe(400_000);
	});

	it("the hourly check finds a single shard that is gone, and a manifest that is older than the last one", async () => {
		const [gone = ""] = namedShards(await manifest());
		await env.BOOK.delete(gone);
		await publishBook(deps());
		await publishBook(deps(), true);
		expect(await missingShards()).toEqual([gone]);
		await age();
		await publishBook(deps(), true);
		expect(await missingShards()).toEqual([]);
		const newest = await manifest();
		await env.BOOK.put(MANIFEST_KEY, JSON.stringify({ ...newest, version: newest.version - 1 }));
		await publishBook(deps(), true);
		expect((await manifest()).version).toBe(newest.version - 1);
		await age();
		await publishBook(deps());
		expect((await manifest()).version).toBe(newest.version - 1);
		await publishBook(deps(), true);
		expect((await manifest()).version).toBe(newest.version + 1);
		// One that cannot be read is a newer code's.
		const readable = (await env.BOOK.get(MANIFEST_KEY)) ?? "";
		await env.BOOK.put(MANIFEST_KEY, JSON.stringify({ format: 99 }));
		expect(await publishBook(deps(), true)).toMatchObject({ manifest: null });
		await env.BOOK.put(MANIFEST_KEY, readable);
		// Where all is in order it writes nothing.
		expect(await publishBook(deps(), true)).toMatchObject({ manifest: null, shardsWritten: 0 });
	});

	it("clears the marks of all slots there are by no more than D1 takes in one value", async () => {
		await env.DB.prepare(
			`INSERT INTO book_dirty_slots (slot, mark)
				WITH RECURSIVE slots (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM slots WHERE slot < 65535)
				SELECT slot, 4294967295 FROM slots WHERE true ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`,
		).run();
		const { client, longest } = measureValues(env.DB);
		expect((await publishBook({ ...deps(), db: openDatabase(client) })).complete).toBe(true);
		expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM book_dirty_slots").first("n")).toBe(0);
		expect(longest()).toBeGreaterThan(100_000);
		expect(longest()).toBeLessThan(MOST_D1_TAKES);
	});

	it("an unknown cron is an error, not something else's turn", async () => {
		await expect(worker.scheduled(createScheduledController({ cron: "0 0 1 1 *", scheduledTime: new Date() }), env)).rejects.toThrow(
			"unknown cron",
		);
	});
});

const putFails = async () => {
	throw new Error("KV is down");
};

function putLate(slot: number) {
	return async (key: string, value: string) => {
		await env.DB.prepare("UPDATE book_dirty_slots SET mark = 2 WHERE slot = ?").bind(slot).run();
		await env.BOOK.put(key, value);
	};
}

describe("worker: reading", () => {
	it("the first bid of a cold isolate costs two reads of KV, the next ones none", async () => {
		const store = observedStore();
		const { priceOf } = reader(store);
		expect(await priceOf("many-5.example", 0)).toBe(400_000);
		expect(store.reads).toHaveLength(2);
		await priceOf("many-5.example", 1);
		await priceOf("shop.many-5.example", 1);
		expect(store.reads).toHaveLength(2);
	});

	it("a new book is taken in the background: the old one serves meanwhile, and afterwards no bid waits", async () => {
		const store = observedStore();
		const { priceOf, settle } = reader(store);
		await priceOf("many-6.example", 0);
		await epc("many-6.example", 10_006, "0.5500");
		expect(await priceOf("many-6.example", TTL_MS - 1)).toBe(400_000);
		expect(await priceOf("many-6.example", TTL_MS + 1)).toBe(400_000);
		await settle();
		const { length } = store.reads;
		expect(await priceOf("many-6.example", TTL_MS + 2)).toBe(550_000);
		expect(store.reads).toHaveLength(length);
	});

	it("an isolate that slept through many TTLs looks before it bids", async () => {
		const { priceOf } = reader(observedStore());
		await priceOf("many-7.example", 0);
		await epc("many-7.example", 10_007, "0.5600");
		expect(await priceOf("many-7.example", TTL_MS * 20)).toBe(560_000);
	});

	it("keeps the last good book while KV is down, and catches up afterwards", async () => {
		const store = observedStore();
		const { priceOf, settle } = reader(store);
		await priceOf("many-8.example", 0);
		await epc("many-8.example", 10_008, "0.5700");
		store.fail = () => true;
		for (let at = TTL_MS + 1; at < TTL_MS * 30; at += TTL_MS * 5) {
			expect(await priceOf("many-8.example", at)).toBe(400_000);
			await settle();
		}
		store.fail = () => false;
		await priceOf("many-8.example", TTL_MS * 40);
		await settle();
		expect(await priceOf("many-8.example", TTL_MS * 40 + 1)).toBe(570_000);
	});

	it("keeps the last good book when the manifest is unreadable, of a format to come, or older", async () => {
		const good = await env.BOOK.get(MANIFEST_KEY);
		const { priceOf, settle } = reader(observedStore());
		await priceOf("many-9.example", 0);
		const broken = [
			"",
			"{",
			"[]",
			"null",
			JSON.stringify({ ...(await manifest()), format: 2 }),
			JSON.stringify({ ...(await manifest()), version: 1, shards: " ".repeat((await manifest()).shards.length) }),
		];
		for (const [at, text] of broken.entries()) {
			await env.BOOK.put(MANIFEST_KEY, text);
			expect(await priceOf("many-9.example", TTL_MS * 2 * (at + 1))).toBe(400_000);
			await settle();
		}
		await env.BOOK.put(MANIFEST_KEY, good ?? "");
	});

	it("without any book there is none to bid from", async () => {
		const store = observedStore();
		store.fail = () => true;
		expect(await reader(store).snapshot(0)).toBeNull();
		store.fail = () => false;
		store.hide = (key) => key === MANIFEST_KEY;
		expect(await reader(store).snapshot(0)).toBeNull();
	});

	it("a shard that has not arrived yet: its last good version, never half a book", async () => {
		const store = observedStore();
		const { priceOf, book, settle, snapshot } = reader(store, 1);
		await priceOf("many-11.example", 0);
		const before = new Set(await shardKeys());
		await epc("many-11.example", 10_011, "0.5800");
		const [late] = (await shardKeys()).filter((name) => !before.has(name));
		// The shard is resident: the reader looks for it before it takes the new manifest, and serves its old content until it is there.
		store.hide = (key) => key === late;
		await priceOf("many-11.example", TTL_MS + 1);
		await settle();
		expect(await priceOf("many-11.example", TTL_MS + 2)).toBe(400_000);
		// A cold reader knows no older book: the manifest tells it what was there before.
		const fresh = reader(store);
		expect(await fresh.priceOf("many-11.example", 0)).toBe(400_000);
		await env.BOOK.put(MANIFEST_KEY, JSON.stringify({ ...(await manifest()), spread: undefined }));
		const knowing = reader(store);
		await expect(knowing.priceOf("many-11.example", 0)).rejects.toThrow(BookUnavailableError);
		store.hide = () => false;
		expect(await knowing.priceOf("many-11.example", 1)).toBe(580_000);
		expect(book.stats.shards).toBeGreaterThan(0);
		expect(await snapshot(TTL_MS + 3)).not.toBeNull();
	});

	it("a changed shard that is gone does not hold up the changes of the others", async () => {
		const store = observedStore();
		const { priceOf, snapshot, settle } = reader(store);
		await priceOf("many-40.example", 0);
		await priceOf("many-41.example", 0);
		await epc("many-40.example", 10_040, "0.8100");
		await epc("many-41.example", 10_041, "0.8200");
		const { bits, shards } = await manifest();
		const index = shardOf(slotOf(domainKey("many-40.example")), bits);
		const hidden = shardKey(bits, index, shardVersion({ shards }, index) ?? "");
		store.hide = (key) => key === hidden;
		await snapshot(TTL_MS + 1);
		await settle();
		const now = TTL_MS + 2;
		expect(shardOf(slotOf(domainKey("many-41.example")), bits)).not.toBe(index);
		expect(await priceOf("many-41.example", now)).toBe(820_000);
	});

	it("a shard of a format to come, or one cut short, is not read", async () => {
		const { bits, shards } = await manifest();
		const index = shardOf(slotOf(domainKey("many-12.example")), bits);
		const name = `book:s:${bits}:${index}:${shardVersion({ shards }, index)}`;
		const good = (await env.BOOK.get(name)) ?? "";
		for (const text of [good.replace("book 1", "book 2"), good.slice(0, -1), ""]) {
			await env.BOOK.put(name, text);
			await expect(reader(observedStore()).priceOf("many-12.example", 0)).rejects.toThrow(BookUnavailableError);
		}
		await env.BOOK.put(name, good);
	});

	it("keeps parsed shards within its bytes, dropping the least recently used", async () => {
		const store = observedStore();
		const limit = 200 * 1024;
		const { priceOf, book } = reader(store, limit);
		for (let at = 100; at < 400; at++) await priceOf(`many-${at}.example`, 0);
		expect(book.stats.bytes).toBeLessThanOrEqual(limit);
		expect(book.stats.shards).toBeGreaterThan(1);
	});

	it("pauses are not read again while their head stays: 50,000 of them cost a small read", async () => {
		const store = observedStore();
		const { book, snapshot, settle } = reader(store);
		const publish = async (campaigns: number[]) => {
			const { pauses, head } = await writePauses(campaigns);
			await env.BOOK.put(PAUSED_KEY, pauses);
			await env.BOOK.put(PAUSED_HEAD_KEY, head);
		};
		await publish(Array.from({ length: 50_000 }, (_, at) => at + 1));
		await snapshot(0);
		expect(book.isPaused(50_000)).toBe(true);
		store.reads.splice(0);
		for (let now = 11_000; now < 60_000; now += 11_000) {
			await snapshot(now);
			await settle();
		}
		expect(store.reads.length).toBeGreaterThan(2);
		expect(store.reads.flat()).not.toContain(PAUSED_KEY);
		await publish([7]);
		await snapshot(71_000);
		await settle();
		expect([book.isPaused(7), book.isPaused(50_000)]).toEqual([true, false]);
		expect(store.reads.flat().filter((key) => key === PAUSED_KEY)).toHaveLength(1);

		// The head comes before what it names: what is there holds, until the rest comes.
		await env.BOOK.put(PAUSED_HEAD_KEY, (await writePauses([8])).head);
		await snapshot(82_000);
		await settle();
		expect(book.isPaused(7)).toBe(true);
		await env.BOOK.put(PAUSED_KEY, (await writePauses([8])).pauses);
		await snapshot(93_000);
		await settle();
		expect([book.isPaused(7), book.isPaused(8)]).toEqual([false, true]);
		await env.BOOK.delete(PAUSED_KEY);
		await env.BOOK.delete(PAUSED_HEAD_KEY);
	});

	it("a pause holds without a new book, and ends when it is lifted", async () => {
		const { book, snapshot, settle } = reader(observedStore());
		const version = (await snapshot(0))?.manifest.version;
		await env.BOOK.put(PAUSED_KEY, JSON.stringify({ format: 1, campaigns: [10_013] }));
		await snapshot(11_000);
		await settle();
		expect(book.isPaused(10_013)).toBe(true);
		await env.BOOK.put(PAUSED_KEY, "{ unreadable");
		await snapshot(22_000);
		await settle();
		expect(book.isPaused(10_013)).toBe(true);
		await env.BOOK.delete(PAUSED_KEY);
		await snapshot(44_000);
		await settle();
		expect(book.isPaused(10_013)).toBe(false);
		expect((await snapshot(44_001))?.manifest.version).toBe(version);
	});
});

describe("worker: a book of another size", () => {
	it("is rebuilt with more shards, over several runs where it is large, and never a bid is lost", async () => {
		const { bits } = await manifest();
		// A quarter of what an import may do, for a quarter of the shards that would take it two runs.
		const publish = () => publishBook(deps(), false, { statements: 175, keys: 200 });
		await env.DB.prepare("UPDATE book_state SET next_bits = ?, next_done = 0")
			.bind(bits + 5)
			.run();
		const first = await publish();
		expect(first.complete).toBe(false);
		expect((await manifest()).bits).toBeLessThanOrEqual(bits);
		// A change to the part that is already rebuilt must not be missed by it.
		await env.DB.prepare("UPDATE campaigns SET epc_micros = 777700 WHERE campaign_id BETWEEN 10030 AND 10130").run();
		const changed = Array.from({ length: 101 }, (_, at) => `many-${30 + at}.example`);
		const mark = env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1) ON CONFLICT DO NOTHING");
		await env.DB.batch(changed.map((domain) => mark.bind(slotOf(domainKey(domain)))));
		for (let runs = 0; (await manifest()).bits === bits; runs++) {
			expect(runs).toBeLessThan(20);
			await publish();
			expect(await reader(observedStore()).priceOf("many-14.example", 0)).toBe(400_000);
		}
		expect((await manifest()).bits).toBe(bits + 5);
		const { priceOf } = reader(observedStore());
		for (const domain of changed) expect(await priceOf(domain, 0)).toBe(777_700);
		// Far more shards than the book needs: it shrinks again by itself.
		while (!(await publishBook(deps())).complete);
		expect((await manifest()).bits).toBeLessThanOrEqual(bits);
		expect(await reader(observedStore()).priceOf("many-30.example", 0)).toBe(777_700);
		expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM book_shards WHERE bits = ?").bind(bits).first("n")).toBe(0);
	}, 120_000);

	it("is rebuilt over several runs, too, where only statements are too few, and no change waits for the last one", async () => {
		const { bits } = await manifest();
		await env.DB.prepare("UPDATE book_state SET next_bits = ?, next_done = 0")
			.bind(bits + 3)
			.run();
		await env.DB.prepare("UPDATE campaigns SET epc_micros = 666600 WHERE campaign_id = 10020").run();
		await env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (?, 1) ON CONFLICT DO NOTHING")
			.bind(slotOf(domainKey("many-20.example")))
			.run();
		const { complete } = await publishBook(deps(), false, { statements: 65, keys: 200 });
		expect([complete, (await manifest()).bits]).toEqual([false, bits]);
		expect(await reader(observedStore()).priceOf("many-20.example", 0)).toBe(666_600);
		while (!(await publishBook(deps())).complete);
		expect(await reader(observedStore()).priceOf("many-20.example", 0)).toBe(666_600);
	}, 120_000);

	it.each([2, 6])(
		"takes over changes made while it is rebuilt with %d doublings, run after run",
		async (doublings) => {
			const { bits } = await manifest();
			await env.DB.prepare("UPDATE book_state SET next_bits = ?, next_done = 2")
				.bind(bits + doublings)
				.run();
			// The two shards that count as written are not: their slots are marked as changed, like all others.
			await env.DB.prepare(
				"UPDATE campaigns SET epc_micros = ? WHERE campaign_id BETWEEN 10000 AND 11499 AND (campaign_id - 10000) % 3 = 0",
			)
				.bind(600_000 + doublings)
				.run();
			await env.DB.prepare(
				"INSERT INTO book_dirty_slots (slot, mark) SELECT DISTINCT slot, 9 FROM book_keys WHERE true ON CONFLICT (slot) DO UPDATE SET mark = 9",
			).run();
			while (!(await publishBook(deps())).complete);
			expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM book_dirty_slots").first("n")).toBe(0);
			const { priceOf } = reader(observedStore());
			for (let at = 0; at < 1_500; at += 3) expect(await priceOf(`many-${at}.example`, 0)).toBe(600_000 + doublings);
		},
		120_000,
	);

	it("that outgrows its shards while it is being rebuilt goes on to the next size by itself", async () => {
		await env.DB.prepare("UPDATE book_state SET next_bits = 1, next_done = 0").run();
		let runs = 0;
		while (!(await publishBook(deps())).complete) expect(++runs).toBeLessThan(10);
		const { bits } = await manifest();
		expect(bits).toBeGreaterThan(1);
		expect(await reader(observedStore()).priceOf("many-14.example", 0)).toBe(400_000);
	}, 120_000);
});
