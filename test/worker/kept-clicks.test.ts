/** What KV keeps while the queue refuses clicks: taken over within what an invocation may do, and nothing lost or counted twice. */
import { createExecutionContext, createScheduledController, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type KeptShare, LARGE_SHARE, SMALL_SHARE, sweepKeptClicks } from "../../src/clicks/consumer/kept-clicks.ts";
import { openDatabase } from "../../src/db/client.ts";
import { CLICK_BATCH_PREFIX, KEPT_CLICK_PREFIX, KEPT_CLICKS_PREFIX } from "../../src/lib/kept-keys.ts";
import worker from "../../src/worker.ts";
import { CLICKED_AT, checkCounters, clickMessage, rowsOf } from "../support/click-messages.ts";
import { BROWSER, clickUrlFor } from "../support/clicks.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { wrapD1 } from "../support/wrapped-d1.ts";

/** What an invocation may do to KV, and ask of D1: each statement of a batch counts. */
const MAX_OPERATIONS = 1_000;
const MAX_STATEMENTS = 1_000;

const CAMPAIGNS = 50;

beforeAll(async () => {
	const brands = Array.from({ length: CAMPAIGNS }, (_, at) =>
		brandEntry(`brand-${at}.example`, 5001 + at, {}, { daily_click_cap: 1_000_000 }),
	);
	await importFile({ platforms: [NORTHWIND], publishers: [{ ...ACME, pricing_model: "CPC" }], brands });
});

beforeEach(async () => {
	const tables = ["clicks", "paid_visits", "unpaid_hours", "daily_publishers", "daily_sources", "daily_campaigns"];
	await env.DB.batch([...tables, "campaign_days", "campaign_totals"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
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

/** Sweeps with everything counted that an invocation may do. */
async function sweep(share: KeptShare): Promise<{ taken: KeptShare; operations: number; statements: number }> {
	let operations = 0;
	let statements = 0;
	const counted = wrapD1(env.DB, (texts) => {
		statements += texts.length;
	});
	const kv = new Proxy(env.BOOK, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name);
			if (typeof value !== "function") return value;
			return (...given: unknown[]) => {
				operations++;
				return value.apply(target, given);
			};
		},
	});
	const taken = await sweepKeptClicks({ db: openDatabase(counted), kv, now: () => CLICKED_AT }, share);
	return { taken, operations, statements };
}

const keys = async () => (await env.BOOK.list({ prefix: KEPT_CLICKS_PREFIX })).keys.length;

async function keepBatch(clicks: readonly unknown[], name = crypto.randomUUID()): Promise<void> {
	await env.BOOK.put(CLICK_BATCH_PREFIX + name, JSON.stringify(clicks), { metadata: { count: clicks.length } });
}

describe("worker: clicks that KV keeps", () => {
	it("a minute of 500 clicks a second is taken over by one run, within an invocation's operations and statements", async () => {
		const perKey = Math.ceil(30_000 / LARGE_SHARE.keys);
		for (let key = 0; key < LARGE_SHARE.keys; key++)
			await keepBatch(Array.from({ length: perKey }, (_, at) => anyClick(key * perKey + at)));
		const { taken, operations, statements } = await sweep(LARGE_SHARE);

		expect(taken.clicks).toBeGreaterThanOrEqual(30_000);
		// The small jobs of the same minute need some, too.
		expect(operations).toBeLessThan(MAX_OPERATIONS - 100);
		expect(statements).toBeLessThan(MAX_STATEMENTS - 200);
		expect(await keys()).toBe(0);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: taken.clicks }]);
		expect(await checkCounters()).toBeGreaterThan(10_000);
	}, 300_000);

	it("beside a publish, a run takes less", async () => {
		for (let key = 0; key < 20; key++) await keepBatch(Array.from({ length: 400 }, (_, at) => anyClick(key * 400 + at)));
		const { taken, operations, statements } = await sweep(SMALL_SHARE);
		expect(taken.clicks).toBeGreaterThanOrEqual(SMALL_SHARE.clicks);
		expect(taken.clicks).toBeLessThan(6_000);
		await sweep(LARGE_SHARE);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: 8_000 }]);
		expect(operations).toBeLessThan(150);
		expect(statements).toBeLessThan(MAX_STATEMENTS - 130 * 6);
	});

	it("batches, single ones of earlier versions and what is no click, once each, however often they come", async () => {
		const [first, second, third] = [anyClick(1), anyClick(2), anyClick(3)];
		for (let time = 0; time < 2; time++) {
			await keepBatch([first, second, { format: 1, id: "broken" }], "batch");
			await keepBatch([second, third], "again");
			await env.BOOK.put(`${KEPT_CLICK_PREFIX}${third.id}`, JSON.stringify(third));
			await env.BOOK.put(`${CLICK_BATCH_PREFIX}unreadable`, "[ unreadable");
			await sweep(LARGE_SHARE);
			expect(await keys()).toBe(0);
			expect(await checkCounters()).toBe(3);
			expect(await rowsOf("SELECT body FROM dead_letters ORDER BY body")).toEqual([
				{ body: '"[ unreadable"' },
				{ body: '{"format":1,"id":"broken"}' },
			]);
		}
	});

	it("a run that fails half way leaves what it has not written", async () => {
		for (let key = 0; key < 40; key++) await keepBatch([{ ...anyClick(key), keyword: "k".repeat(20_000) }]);
		let batches = 0;
		const away = wrapD1(env.DB, (statements) => {
			if (statements.some((text) => text.startsWith("UPDATE click_sequence")) && ++batches === 2) throw new Error("D1_ERROR: away");
		});
		const deps = { db: openDatabase(away), kv: env.BOOK, now: () => CLICKED_AT };
		await expect(sweepKeptClicks(deps, LARGE_SHARE)).rejects.toThrow("away");
		const left = await keys();
		expect(left).toBeGreaterThan(0);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: 40 - left }]);
		await sweep(LARGE_SHARE);
		expect(await keys()).toBe(0);
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual([{ count: 40 }]);
	});

	it("redirects of one isolate share a key, and each ends only once KV has its click", async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
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
