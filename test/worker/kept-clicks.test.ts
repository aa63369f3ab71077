/** What KV keeps while the queue refuses clicks: taken over within what an invocation may do, and nothing lost or counted twice. */
import { createExecutionContext, createScheduledController, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { MAX_CLICKS_A_RUN, type Swept, sweepKeptClicks } from "../../src/clicks/consumer/kept-clicks.ts";
import { KeptFacts } from "../../src/clicks/consumer/kept-facts.ts";
import { openDatabase } from "../../src/db/client.ts";
import { type BeforeStatements, wrapD1 } from "../../src/db/wrap-d1.ts";
import { markWritten } from "../../src/db/written-keys.ts";
import { MINUTES_A_TURN } from "../../src/lib/jobs.ts";
import { CLICK_BATCH_PREFIX, KEPT_CLICK_PREFIX, KEPT_CLICKS_PREFIX } from "../../src/lib/kept-keys.ts";
import { Operations } from "../../src/lib/operations.ts";
import { readKept } from "../../src/operator/status/read-kept.ts";
import worker from "../../src/worker.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf, takesTurn } from "../support/click-messages.ts";
import { BROWSER, clickUrlFor } from "../support/clicks.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

/** Seconds of an outage's clicks that a minute must take over, and clicks a second. */
const MINUTE_SECONDS = 60;
const RATE = 500;

/** A test has such a part of it, with such a part of what an invocation may do. */
const PART = 4;

const CAMPAIGNS = 50;

beforeAll(async () => {
	const brands = Array.from({ length: CAMPAIGNS }, (_, at) =>
		brandEntry(`brand-${at}.example`, 5001 + at, {}, { daily_click_cap: 1_000_000 }),
	);
	await importFile({ platforms: [NORTHWIND], publishers: [{ ...ACME, pricing_model: "CPC" }], brands });
});

beforeEach(async () => {
	for (let page = await env.BOOK.list({ prefix: KEPT_CLICKS_PREFIX }); page.keys.length > 0; ) {
		await Promise.all(page.keys.map(({ name }) => env.BOOK.delete(name)));
		page = await env.BOOK.list({ prefix: KEPT_CLICKS_PREFIX });
	}
	await forgetTraffic();
});

/** One of visitors of all kinds, on all campaigns and sources, as the redirect sends it. */
function anyClick(at: number) {
	return clickMessage({
		at: CLICKED_AT + at,
		brandId: 1 + (at % CAMPAIGNS),
		campaignId: 5001 + (at % CAMPAIGNS),
		grossMicros: 250_000,
		pricingModel: "CPC",
		sharePpm: 800_000,
		texts: { clickid: `publisher-click-${at}`, subi: `site-${at % 20}`, uid: `buyer-${at % 5_000}` },
		ipPrefix: "203.0.113.0/24",
		userAgentHash: (at % 1_000).toString(16).padStart(16, "0"),
		connection: (at % 20_000).toString(16).padStart(16, "0"),
		...(at % 40 === 0 && { reason: "bot" }),
	});
}

/** Sweeps within an invocation; tells what it has used of its 1,000 operations on KV and 1,000 statements. */
async function sweep(
	before: BeforeStatements = () => {},
	most = MAX_CLICKS_A_RUN,
): Promise<Swept & { operations: number; statements: number }> {
	const operations = new Operations();
	const facts = new KeptFacts();
	const db = openDatabase(
		wrapD1(env.DB, async (texts) => {
			operations.countStatements(texts.length);
			await before(texts);
		}),
	);
	const swept = await sweepKeptClicks({ db, kv: operations.countKeys(env.BOOK), now: () => CLICKED_AT, operations, facts }, most);
	return { ...swept, operations: 1_000 - operations.left.keys, statements: 1_000 - operations.left.statements };
}

/** As something does that changes what any batch may rest on. */
const overtake = () => env.DB.prepare("UPDATE click_sequence SET version = version + 1").run();

const bound = ({ get, put, delete: remove }: KVNamespace) => ({
	get: get.bind(env.BOOK),
	put: put.bind(env.BOOK),
	delete: remove.bind(env.BOOK),
});

const keys = async () => (await env.BOOK.list({ prefix: KEPT_CLICKS_PREFIX })).keys.length;

async function keepBatch(clicks: readonly unknown[], name = crypto.randomUUID()): Promise<void> {
	await env.BOOK.put(CLICK_BATCH_PREFIX + name, JSON.stringify(clicks), { metadata: { count: clicks.length } });
}

/** Keeps this many clicks of all kinds, so many under a key. */
async function keepMany(clicks: number, perKey: number): Promise<void> {
	for (let from = 0; from < clicks; from += 100 * perKey) {
		const batches = Array.from({ length: Math.min(100, Math.ceil((clicks - from) / perKey)) }, (_, key) =>
			Array.from({ length: perKey }, (_, at) => anyClick(from + key * perKey + at)),
		);
		await Promise.all(batches.map((batch) => keepBatch(batch)));
	}
}

describe("worker: clicks that KV keeps", () => {
	it("ten minutes of an outage at 500 clicks a second are taken over in ten minutes, within what an invocation may do", async () => {
		// What four minutes of five take; in the fifth the other jobs come first.
		expect(MAX_CLICKS_A_RUN * (MINUTES_A_TURN - 1)).toBeGreaterThanOrEqual(RATE * MINUTE_SECONDS * MINUTES_A_TURN);
		const most = MAX_CLICKS_A_RUN / PART;
		await keepMany(1.5 * most, 50);
		const { clicks, statements } = await sweep(undefined, most);

		expect(clicks).toBeGreaterThanOrEqual(most);
		// It ends with the group that passes the bound.
		expect(clicks).toBeLessThan(most + 2_500);
		// The small jobs of the same minute need some, too, and a minute's batches of the queue may each make a group be decided anew.
		expect(statements).toBeLessThan((500 * clicks) / MAX_CLICKS_A_RUN);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: clicks }]);
		expect(await checkCounters()).toBeGreaterThan(2_500);
		await sweep();
		expect(await keys()).toBe(0);
	}, 300_000);

	it("also where hundreds of isolates kept them, a few under a key: more keys are written than can be deleted, and none is written twice", async () => {
		const perKey = 3;
		const clicks = 1_350 * perKey;
		await keepMany(clicks, perKey);
		const first = await sweep();
		expect(first).toMatchObject({ clicks, written: clicks / perKey });
		expect(first.operations).toBeLessThanOrEqual(700);
		// As many as a minute's would take, half of whose keys are written by another run.
		expect(first.statements).toBeLessThan((2 * 500 * clicks) / (RATE * MINUTE_SECONDS));
		expect(first.deleted).toBeGreaterThan(500);
		expect(await readKept(openDatabase(env.DB), env.BOOK)).toEqual({ clicks: 0, dead_letters: 0 });
		const next = await sweep();
		expect(next).toMatchObject({ clicks: 0, written: 0 });
		expect(next.statements).toBeLessThan(10);
		expect(next.deleted).toBeGreaterThan(600);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: clicks }]);
	}, 300_000);

	it("where listing what is written would take all that an invocation may do, some of it goes all the same", async () => {
		const written = Array.from({ length: 250 }, (_, at) => `${CLICK_BATCH_PREFIX}${String(at).padStart(3, "0")}`);
		await Promise.all(written.map((name) => env.BOOK.put(name, "[]")));
		await markWritten(openDatabase(env.DB), written, CLICKED_AT);
		await keepBatch([anyClick(1)], "behind");
		const operations = new Operations({ statements: 1_000, keys: 500 });
		// Pages so small that there are as many as of hundreds of thousands of keys.
		const list = (options: KVNamespaceListOptions) => env.BOOK.list({ ...options, limit: 2 });
		const kv = operations.countKeys({ ...bound(env.BOOK), list } as KVNamespace);
		const run = () => sweepKeptClicks({ ...capDeps(), kv, operations });
		expect((await run()).deleted).toBeGreaterThanOrEqual(90);
	});

	it("while the queue brings as many: also where every other group is overtaken by one of its batches", async () => {
		const share = (RATE * MINUTE_SECONDS * MINUTES_A_TURN) / (MINUTES_A_TURN - 1);
		const clicksHere = 6_000;
		await keepMany(clicksHere, 50);
		let groups = 0;
		let live = 0;
		const { clicks, statements } = await sweep(async (texts) => {
			// Between what the sweep has read and what it writes.
			if (!takesTurn(texts) || ++groups % 2 === 0) return;
			await consumeClicks(capDeps(), letters(...Array.from({ length: 100 }, (_, at) => anyClick(100_000 + live + at))));
			await overtake();
			live += 100;
		});
		expect(clicks).toBe(clicksHere);
		expect(live).toBeGreaterThan(150);
		// The other 150 are for the small jobs.
		expect(statements).toBeLessThan((850 * clicksHere) / share);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: clicks + live }]);
		await checkCounters();
	});

	it("groups that the queue's batches always overtake become smaller, until they are not overtaken", async () => {
		await keepMany(2_000, 20);
		let overtakes = 0;
		const { clicks, statements } = await sweep(async (texts) => {
			if (!takesTurn(texts) || ++overtakes > 8) return;
			await overtake();
		});
		expect(overtakes).toBeGreaterThan(8);
		expect(clicks).toBe(2_000);
		expect(statements).toBeLessThan(400);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: 2_000 }]);
	});

	it("what was written and could not be marked is written again, and counts once", async () => {
		await keepBatch([anyClick(1), anyClick(2)]);
		const away = sweep(([first]) => {
			if (first?.startsWith("INSERT INTO written_keys")) throw new Error("D1_ERROR: away");
		});
		await expect(away).rejects.toThrow();
		expect(await keys()).toBe(1);
		expect(await sweep()).toMatchObject({ clicks: 2, written: 1, deleted: 1 });
		expect(await checkCounters()).toBe(2);
		expect(await keys()).toBe(0);
	});

	it("batches, single ones of earlier versions and what is no click, once each, however often they come", async () => {
		const [first, second, third] = [anyClick(1), anyClick(2), anyClick(3)];
		for (let time = 0; time < 2; time++) {
			await keepBatch([first, second, { format: 1, id: "broken" }], "batch");
			await keepBatch([second, third], "again");
			await env.BOOK.put(`${KEPT_CLICK_PREFIX}${third.id}`, JSON.stringify(third));
			await env.BOOK.put(`${CLICK_BATCH_PREFIX}unreadable`, "[ unreadable");
			await sweep();
			expect(await keys()).toBe(0);
			expect(await checkCounters()).toBe(3);
			expect(await rowsOf("SELECT body FROM dead_letters ORDER BY body")).toEqual([
				{ body: '"[ unreadable"' },
				{ body: '{"format":1,"id":"broken"}' },
			]);
		}
	});

	it("a run that fails half way leaves what it has not written, and nothing else", async () => {
		for (let key = 0; key < 50; key++) await keepBatch([{ ...anyClick(key), keyword: "k".repeat(20_000) }]);
		let batches = 0;
		const away = sweep((statements) => {
			if (takesTurn(statements) && ++batches === 2) throw new Error("D1_ERROR: away");
		});
		await expect(away).rejects.toThrow("away");
		const [{ count: written } = { count: 0 }] = await rowsOf<{ count: number }>("SELECT count(*) AS count FROM written_keys");
		expect(written).toBeGreaterThan(0);
		expect(written).toBeLessThan(50);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: written }]);
		expect(await keys()).toBe(50 - written);
		await sweep();
		expect(await keys()).toBe(0);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: 50 }]);
	});

	it("redirects of one isolate share a key, and each ends only once KV has its click", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		// What lies between two tries is over at once.
		const wait = scheduler.wait.bind(scheduler);
		vi.spyOn(scheduler, "wait").mockImplementation(() => wait(1));
		const own = { ...env, CLICKS: { send: () => Promise.reject(new Error("the queue is down")) } as unknown as Queue };
		const urls = await Promise.all(Array.from({ length: 5 }, () => clickUrlFor("brand-1.example")));
		await Promise.all(
			urls.map(async (url) => {
				const ctx = createExecutionContext();
				const request = new Request(url, { redirect: "manual", headers: { "user-agent": BROWSER } });
				const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], own, ctx);
				expect(response.status).toBe(302);
				await waitOnExecutionContext(ctx);
				const kept = await env.BOOK.list<{ count: number }>({ prefix: KEPT_CLICKS_PREFIX });
				expect(kept.keys.map(({ metadata }) => metadata?.count)).toEqual([5]);
			}),
		);
		await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), env);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: 5 }]);
		vi.restoreAllMocks();
	});
});
