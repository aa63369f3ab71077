/** What earlier versions left in queues, KV and among the dead letters is read as they meant it, and what they write beside this one holds. */
import {
	createExecutionContext,
	createMessageBatch,
	createScheduledController,
	getQueueResult,
	waitOnExecutionContext,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { PAUSED_HEAD_KEY, PAUSED_KEY } from "../../src/campaign-book/format.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { sweepKeptClicks } from "../../src/clicks/consumer/kept-clicks.ts";
import { openDatabase } from "../../src/db/client.ts";
import { sweepDeadLetters } from "../../src/dead-letters/dead-letters-in-kv.ts";
import { KEPT_CLICK_PREFIX, KEPT_DEAD_LETTERS_PREFIX } from "../../src/lib/kept-keys.ts";
import { Operations } from "../../src/lib/operations.ts";
import { replayDeadLetters } from "../../src/operator/dead-letters/replay-dead-letters.ts";
import worker from "../../src/worker.ts";
import { rowsOf } from "../support/click-messages.ts";
import { importConversionNetwork, QUIET_ENV } from "../support/conversions.ts";
import {
	EARLIER_BOOK,
	EARLIER_CLICKS,
	EARLIER_PAUSES,
	EARLIER_POSTBACKS,
	earlierCallback,
	earlierCounts,
} from "../support/earlier-messages.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { PLAIN_IMPORT } from "../support/network-import.ts";

beforeAll(importConversionNetwork);
beforeEach(() => forgetTraffic("bid_hours", "bid_messages"));

/** @returns how many come again */
async function bring(queue: string, bodies: readonly unknown[]): Promise<number> {
	const messages = bodies.map((body, at) => ({ id: `${queue}-${at}`, timestamp: new Date(), attempts: 1, body }));
	const batch = createMessageBatch(`clickbourse-${queue}`, messages);
	const context = createExecutionContext();
	await worker.queue(batch, QUIET_ENV, context);
	const { retryBatch, retryMessages } = await getQueueResult(batch, context);
	await waitOnExecutionContext(context);
	return retryBatch.retry ? bodies.length : retryMessages.length;
}

const clickBodies = EARLIER_CLICKS.map(({ body }) => body);

async function checkClicks(): Promise<void> {
	for (const { of, body, stored } of EARLIER_CLICKS) {
		const [row] = await rowsOf("SELECT * FROM clicks WHERE id = ?", body.id);
		expect({ of, ...row }).toMatchObject({ of, ...stored, click_hash: body.hash });
	}
	expect(await rowsOf("SELECT id FROM dead_letters")).toEqual([]);
}

describe("worker: what earlier versions wrote", () => {
	it("clicks in the queue are stored", async () => {
		expect(await bring("clicks", clickBodies)).toBe(0);
		await checkClicks();
	});

	it("clicks that KV keeps, under a key each and without a count, are stored", async () => {
		for (const body of clickBodies) await env.BOOK.put(KEPT_CLICK_PREFIX + body.id, JSON.stringify(body));
		await sweepKeptClicks({ db: openDatabase(env.DB), kv: env.BOOK, now: Date.now, operations: new Operations() });
		await checkClicks();
	});

	it("counts of bids are counted", async () => {
		expect(await bring("clicks", earlierCounts(Date.now()))).toBe(0);
		expect(await rowsOf("SELECT endpoint, outcome, requests AS n FROM bid_hours ORDER BY endpoint")).toEqual([
			{ endpoint: "notice", outcome: "won", n: 1 },
			{ endpoint: "openrtb", outcome: "bid", n: 3 },
			{ endpoint: "serving-engine", outcome: "no_campaign", n: 2 },
		]);
		expect(await rowsOf("SELECT id FROM dead_letters")).toEqual([]);
	});

	async function checkPostbacks(): Promise<void> {
		const settled = [...new Set(EARLIER_POSTBACKS.flatMap(({ settles }) => settles))].sort();
		expect(await rowsOf("SELECT txnid, stage, status, revenue_micros, s2 FROM conversions ORDER BY txnid")).toEqual(
			settled.map((txnid) => ({ txnid, stage: "settled", status: "approved", revenue_micros: 8_000_000, s2: "x" })),
		);
		expect(await rowsOf("SELECT outcome, count(*) AS n FROM postback_intake GROUP BY 1 ORDER BY 1")).toEqual([
			{ outcome: "accepted", n: settled.length },
			...["failed", "rejected", "unknown_key"].map((outcome) => ({ outcome, n: 1 })),
		]);
	}

	it("postbacks of every kind are settled, and their callbacks are called for", async () => {
		await bring("clicks", clickBodies);
		expect(
			await bring(
				"postbacks",
				EARLIER_POSTBACKS.map(({ body }) => body),
			),
		).toBe(0);
		await checkPostbacks();
		const [owed] = await rowsOf<{ id: string }>("SELECT id FROM callbacks WHERE txnid = 'one'");
		const call = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("ok"));
		await bring("callbacks", [earlierCallback(owed?.id ?? "")]);
		expect(call).toHaveBeenCalledOnce();
		call.mockRestore();
		expect(await rowsOf("SELECT state FROM callbacks WHERE txnid = 'one'")).toEqual([{ state: "delivered" }]);
	});

	it("dead letters, in the database or in KV, are sent again as they were", async () => {
		const db = openDatabase(env.DB);
		const postbacks = EARLIER_POSTBACKS.map(({ body }, at) => ({ id: `dead-${at}`, body }));
		await env.BOOK.put(`${KEPT_DEAD_LETTERS_PREFIX}postbacks:dead-0`, JSON.stringify(postbacks), { metadata: { count: postbacks.length } });
		await sweepDeadLetters({ db, kv: env.BOOK, now: Date.now });
		for (const body of clickBodies) {
			// As 0.1.0 has it.
			await env.DB.prepare("INSERT INTO dead_letters (id, queue, body, received_at) VALUES (?, 'clicks', ?, ?)")
				.bind(`dead-${body.id}`, JSON.stringify(body), 1_763_474_900_000)
				.run();
		}
		const sent: Record<string, unknown[]> = { clicks: [], postbacks: [] };
		const queue = (name: string) => ({
			sendBatch: async (messages: Iterable<{ body: unknown }>) => {
				for (const { body } of messages) sent[name]?.push(body);
			},
		});
		const queues = { clicks: queue("clicks"), postbacks: queue("postbacks"), callbacks: queue("callbacks") } as never;
		await replayDeadLetters({ db, queues, now: Date.now }, { queue: null, until: Date.now() + 1, actor: PLAIN_IMPORT.actor });
		expect(sent.clicks).toEqual(clickBodies);
		await bring("clicks", sent.clicks ?? []);
		await bring("postbacks", sent.postbacks ?? []);
		await checkPostbacks();
	});

	it("a campaign book is bid from, with its keywords, deeplinks, hours and blocks", async () => {
		for (const [key, value] of Object.entries(EARLIER_BOOK)) await env.BOOK.put(key, value);
		// An isolate of its own: it has read no book yet.
		const cold = { ...QUIET_ENV };
		const priceOf = async (fields: object): Promise<number | null> => {
			const body = JSON.stringify({ id: "a", imp: [{ id: "1" }], ...fields });
			const response = await worker.fetch(
				new Request("https://rtb.example/openrtb/acme_rtb", { method: "POST", body }),
				cold,
				createExecutionContext(),
			);
			if (response.status === 204) return null;
			const { seatbid } = await response.json<{ seatbid: { bid: { price: number }[] }[] }>();
			return seatbid[0]?.bid[0]?.price ?? null;
		};
		expect(await priceOf({ site: { domain: "shoes.example" } })).toBe(0.2);
		expect(await priceOf({ site: {}, user: { keywords: "running shoes" } })).toBe(0.25);
		expect(await priceOf({ site: { domain: "shoes.example" }, ext: { deeplink: "https://shoes.example/a" } })).toBe(0.2);
		for (const domain of ["hats.test", "blocked.example"]) expect(await priceOf({ site: { domain } })).toBeNull();
	});

	it("pauses without a version are obeyed, and get one", async () => {
		await env.BOOK.put(PAUSED_KEY, EARLIER_PAUSES);
		await env.BOOK.delete(PAUSED_HEAD_KEY);
		const book = new CampaignBook(env.BOOK, { snapshotTtlMs: 15_000 });
		await book.snapshot(Date.now(), () => {});
		expect(book.isPaused(11)).toBe(true);
		await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), QUIET_ENV);
		expect(await env.BOOK.get(PAUSED_HEAD_KEY)).toContain("version");
	});
});
