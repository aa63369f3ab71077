/** Bids and no-bids are counted in the isolate, sent once a minute, added once however often a message comes, and shown by groups. */
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { runQueue } from "../../src/background.ts";
import { type BidsPage, bidsPageSchema } from "../../src/bid-counts/bids-answer.ts";
import { consumeBidCounts, splitBidCounts } from "../../src/bid-counts/consume-bid-counts.ts";
import { BID_COUNTS_DAYS } from "../../src/bid-counts/kept-for.ts";
import { COLLECT_MS, DecisionCounts, MAX_COUNTS, MAX_REQUESTERS, MAX_STRANGERS } from "../../src/bidding/count-decisions.ts";
import {
	BID_OUTCOMES,
	type BidCount,
	type BidCountsMessage,
	MAX_REQUESTER_LENGTH,
	readBidCounts,
} from "../../src/bidding/counts-message.ts";
import { routeBid } from "../../src/bidding/routes.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { openDatabase } from "../../src/db/client.ts";
import type { BidEndpoint } from "../../src/lib/enums.ts";
import { newTimeOrderedId } from "../../src/lib/ids.ts";
import { noBidsSchema } from "../../src/publisher-api/no-bids.ts";
import { removeOld } from "../../src/retention/remove-old.ts";
import { capDeps, letters, rowsOf } from "../support/click-messages.ts";
import { farDatabase } from "../support/far-database.ts";
import { memoryBook } from "../support/memory-book.ts";
import { ACME, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

const NOW = Date.parse("2026-11-18T15:20:00Z");
const HOUR = Math.floor(NOW / 3_600_000);

/** An isolate's counter with a clock of its own, whose waits end when the test says so. */
function isolate(sends: (message: BidCountsMessage) => Promise<void> = () => Promise.resolve()) {
	const sent: BidCountsMessage[] = [];
	const waits: (() => void)[] = [];
	const work: Promise<unknown>[] = [];
	const clock = { now: NOW };
	const send = async (message: BidCountsMessage) => {
		await sends(message);
		sent.push(JSON.parse(JSON.stringify(message)));
	};
	const pause = (): Promise<void> => new Promise((resolve) => void waits.push(resolve));
	const counts = new DecisionCounts({ queue: { send }, now: () => clock.now, pause });
	const waitUntil = (promise: Promise<unknown>) => void work.push(promise);
	return {
		sent,
		clock,
		work,
		counts,
		noBid: (requester: string, reason: "below_floor" | "publisher_not_enabled" | "unknown_advertiser", endpoint: BidEndpoint = "openrtb") =>
			counts.count(endpoint, requester, { outcome: "no-bid", reason }, clock.now, waitUntil),
		waitUntil,
		async collect() {
			clock.now += COLLECT_MS;
			for (const end of waits.splice(0)) end();
			await Promise.all(work.splice(0));
		},
	};
}

const letterOf = (message: unknown) => ({ ...letters(message)[0], retry: () => {} }) as { id: string; body: unknown; retry: () => void };

function messageOf(counts: BidCount[], fields: Partial<BidCountsMessage> = {}): BidCountsMessage {
	return { kind: "bid_counts", format: 1, id: newTimeOrderedId(NOW), at: NOW, counts, ...fields };
}

const consume = (...messages: unknown[]) => consumeBidCounts({ db: openDatabase(env.DB), now: () => NOW }, messages.map(letterOf));
const stored = () =>
	rowsOf<{ hour: number }>("SELECT hour, publisher_id AS publisher, endpoint, outcome, requests FROM bid_hours ORDER BY 1, 2, 3, 4");

describe("worker: counting in the isolate", () => {
	it("sends the decisions of both endpoints with one message, by hour, name and outcome", async () => {
		const { sent, counts, clock, waitUntil, collect, work } = isolate();
		const store = memoryBook({ "d shoes.example": [{ i: 1, d: "shoes.example", c: [{ i: 5001, o: "US", h: 1, e: 420_000 }] }] });
		const deps = {
			book: new CampaignBook(store, { snapshotTtlMs: 15_000 }),
			tokens: new ClickTokens(["secret-00000000000000000000000000000"]),
			clickUrl: "https://click.example",
			clickTtlMs: 86_400_000,
			now: () => clock.now,
			counts,
		};
		const ask = async (url: string, body?: object) => {
			const request = new Request(url, body && { method: "POST", body: JSON.stringify({ id: "a", imp: [{ id: "1" }], ...body }) });
			await (await routeBid(deps, request, url, waitUntil))?.body?.cancel();
		};
		await ask("https://rtb.example/openrtb/acme_rtb", { site: { domain: "shoes.example" } });
		await ask("https://rtb.example/openrtb/acme_rtb", { site: { domain: "shoes.example" } });
		await ask("https://rtb.example/openrtb/acme_rtb", { site: { domain: "shoes.example" }, device: { geo: { country: "DE" } } });
		clock.now += 3_600_000;
		await ask("https://rtb.example/openrtb/made_up", { site: { domain: "shoes.example" } });
		await ask(`https://rtb.example/serving-engine?pubi=${"x".repeat(100)}&bd=unknown.example&cc=US`);
		expect(work.length).toBeGreaterThan(0);
		await collect();
		// Two requests waited at once here: both may send it, under one id.
		expect([...new Map(sent.map(({ id, counts: of }) => [id, of])).values()]).toEqual([
			[
				[HOUR, "openrtb", "acme_rtb", "bid", 2],
				[HOUR, "openrtb", "acme_rtb", "country_not_served", 1],
				[HOUR + 1, "openrtb", "made_up", "publisher_not_enabled", 1],
				[HOUR + 1, "serving-engine", "", "publisher_not_enabled", 1],
			],
		]);
	});

	it("names few of those who are unknown here, and all who are known beside them", async () => {
		const { sent, clock, noBid, collect } = isolate();
		for (let name = 0; name < MAX_STRANGERS + 5; name++) noBid(`made-up-${name}`, "publisher_not_enabled");
		noBid("made-up-0", "publisher_not_enabled");
		noBid("acme_rtb", "below_floor");
		await collect();
		const counts = sent.flatMap((message) => message.counts);
		expect(counts).toHaveLength(MAX_STRANGERS + 2);
		expect(counts[0]).toEqual([HOUR, "openrtb", "made-up-0", "publisher_not_enabled", 2]);
		expect(counts).toContainEqual([HOUR, "openrtb", "", "publisher_not_enabled", 5]);
		expect(counts).toContainEqual([HOUR, "openrtb", "acme_rtb", "below_floor", 1]);
		clock.now += 60_000;
		noBid("made-up-a-minute-later", "publisher_not_enabled");
		await collect();
		expect(sent.at(-1)?.counts).toEqual([[HOUR, "openrtb", "made-up-a-minute-later", "publisher_not_enabled", 1]]);
	});

	it("sends no message that is too long for the queue, whatever those who are unknown here call themselves", async () => {
		const { sent, clock, noBid, collect } = isolate();
		const ask = (hour: string) => {
			for (let name = 0; name < MAX_STRANGERS; name++) {
				noBid(`${name}`.padEnd(MAX_REQUESTER_LENGTH, "\u0001"), "publisher_not_enabled", "serving-engine");
			}
			for (let name = 0; name < 400; name++) noBid(`publisher-${hour}-${name}`.padEnd(36, "-"), "unknown_advertiser");
		};
		clock.now = (HOUR + 1) * 3_600_000 - 1;
		ask("first");
		clock.now++;
		ask("second");
		await collect();
		expect(sent.flatMap(({ counts }) => counts)).toHaveLength(2 * (MAX_STRANGERS + 400));
		expect(Math.max(...sent.map((message) => JSON.stringify(message).length))).toBeLessThan(128_000);
	});

	it("sends one message a minute, and nothing where nothing was asked", async () => {
		const { sent, clock, noBid, collect } = isolate();
		const end = NOW + 600_000;
		for (; clock.now < end; clock.now += 500) {
			noBid("acme", "below_floor");
			if (clock.now % COLLECT_MS === 0) {
				const at = clock.now;
				await collect();
				clock.now = at;
			}
		}
		await collect();
		expect(sent.length).toBeGreaterThanOrEqual(9);
		expect(sent.length).toBeLessThanOrEqual(11);
		expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length);
		clock.now += 120_000;
		noBid("acme", "below_floor");
		await collect();
		expect(sent.flatMap(({ counts }) => counts).reduce((sum, [, , , , count]) => sum + count, 0)).toBe(1_201);
	});

	it("keeps what the queue refuses under its id, and counts made-up names without a name", async () => {
		let isDown = true;
		const { sent, clock, noBid, collect } = isolate(() => (isDown ? Promise.reject(new Error("down")) : Promise.resolve()));
		for (let name = 0; name < MAX_REQUESTERS + 5; name++) noBid(`p${name}`, "unknown_advertiser");
		await collect();
		expect(sent).toEqual([]);
		isDown = false;
		clock.now += 60_000;
		noBid("acme", "below_floor");
		await collect();
		const counts = sent.flatMap((message) => message.counts);
		expect(counts.filter(([, , requester]) => requester === "")).toEqual([[HOUR, "openrtb", "", "unknown_advertiser", 5]]);
		expect(counts).toHaveLength(MAX_REQUESTERS + 2);
		expect(Math.max(...sent.map((message) => message.counts.length))).toBe(MAX_COUNTS);
		expect(Math.max(...sent.map((message) => JSON.stringify(message).length))).toBeLessThan(128_000);
	});
});

describe("worker: the consumer of counts", () => {
	beforeAll(async () => {
		await importFile({ platforms: [NORTHWIND], publishers: [ACME] });
	});

	it("adds every message once, whatever comes how often and in which order", async () => {
		const count = fc.tuple(
			fc.integer({ min: HOUR - 3, max: HOUR }),
			fc.constantFrom<BidEndpoint>("openrtb", "serving-engine"),
			fc.constantFrom("acme_rtb", "made_up", ""),
			fc.constantFrom(...BID_OUTCOMES.slice(0, 3)),
			fc.integer({ min: 1, max: 50 }),
		);
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.array(count, { maxLength: 4 }), { minLength: 1, maxLength: 5 }),
				fc.array(fc.array(fc.nat({ max: 4 }), { maxLength: 6 }), { maxLength: 5 }),
				async (sent, batches) => {
					await env.DB.batch(["bid_hours", "bid_messages"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
					const messages = sent.map((counts) => messageOf(counts));
					for (const batch of batches) await consume(...batch.flatMap((at) => messages[at] ?? []));
					// Two consumers at once.
					await Promise.all([consume(...messages), consume(...messages.toReversed())]);
					const requests = sent.flat().reduce((sum, [, , , , times]) => sum + times, 0);
					expect((await rowsOf<{ sum: number | null }>("SELECT SUM(requests) AS sum FROM bid_hours"))[0]?.sum ?? 0).toBe(requests);
				},
			),
			{ numRuns: Number(env.PROPERTY_RUNS || 8) },
		);
	});

	it("finds publishers by the names that each endpoint is asked by, and names none where there is none", async () => {
		await env.DB.batch(["bid_hours", "bid_messages"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		await consume(
			messageOf([
				[HOUR, "openrtb", ACME.publisher_identity, "bid", 3],
				[HOUR, "serving-engine", ACME.publisher_identity, "bid", 5],
				[HOUR, "serving-engine", ACME.publisher_id, "a_newer_reason" as "bid", 7],
			]),
		);
		expect(await stored()).toEqual([
			{ hour: HOUR, publisher: "", endpoint: "serving-engine", outcome: "bid", requests: 5 },
			{ hour: HOUR, publisher: "acme", endpoint: "openrtb", outcome: "bid", requests: 3 },
			{ hour: HOUR, publisher: "acme", endpoint: "serving-engine", outcome: "a_newer_reason", requests: 7 },
		]);
	});

	it("a publisher that is suspended, or has no such endpoint, sees what it asked for all the same", async () => {
		await env.DB.batch(["bid_hours", "bid_messages"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		await importFile({ publishers: [{ ...ACME, status: "suspended" }] });
		const { sent, noBid, collect } = isolate();
		noBid(ACME.publisher_identity, "publisher_not_enabled");
		noBid(ACME.publisher_id, "publisher_not_enabled", "serving-engine");
		noBid("made_up", "publisher_not_enabled");
		await collect();
		await consume(...sent);
		expect(await stored()).toEqual([
			{ hour: HOUR, publisher: "", endpoint: "openrtb", outcome: "publisher_not_enabled", requests: 1 },
			{ hour: HOUR, publisher: "acme", endpoint: "openrtb", outcome: "publisher_not_enabled", requests: 1 },
			{ hour: HOUR, publisher: "acme", endpoint: "serving-engine", outcome: "publisher_not_enabled", requests: 1 },
		]);
		await importFile({ publishers: [{ ...ACME, status: "active" }] });
	});

	it("writes a batch of many long messages in parts, each of which D1 takes", async () => {
		await env.DB.batch(["bid_hours", "bid_messages"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		const messages = Array.from({ length: 30 }, (_, at) =>
			messageOf(
				Array.from({ length: MAX_COUNTS }, (_, next): BidCount => [HOUR - at, "openrtb", `${at}-${next}-${"n".repeat(50)}`, "bid", 1]),
			),
		);
		const far = farDatabase();
		await consumeBidCounts({ db: far.db, now: () => NOW }, messages.map(letterOf));
		// A read and a write of each part, of 1 MB at the most.
		expect(far.calls()).toBe(2 * Math.ceil(JSON.stringify(messages).length / 1_000_000));
		expect(await rowsOf("SELECT SUM(requests) AS sum FROM bid_hours")).toEqual([{ sum: 30 * MAX_COUNTS }]);
	});

	it("counts nothing of which it cannot tell whether it was counted, and keeps what it cannot read", async () => {
		await env.DB.prepare("DELETE FROM bid_hours").run();
		const old = messageOf([[HOUR - 200, "openrtb", "acme_rtb", "bid", 3]], { id: newTimeOrderedId(NOW - 6 * 86_400_000) });
		await consume(old, { kind: "bid_counts", format: 2, id: "x" });
		expect(await stored()).toEqual([]);
		expect(await rowsOf("SELECT queue, body FROM dead_letters")).toEqual([
			{ queue: "clicks", body: JSON.stringify({ kind: "bid_counts", format: 2, id: "x" }) },
		]);
		expect(readBidCounts({ ...messageOf([]), counts: [[1, "openrtb", "a", "bid", -1]] })).toBeNull();
	});

	it("a version that knows no counts keeps them to be replayed, and takes the clicks of the batch", async () => {
		await env.DB.prepare("DELETE FROM dead_letters").run();
		await consumeClicks(capDeps(), letters(messageOf([[HOUR, "openrtb", "acme_rtb", "bid", 3]])));
		expect(await rowsOf("SELECT queue FROM dead_letters")).toEqual([{ queue: "clicks" }]);
	});

	it("a failure brings the counts again, and not the clicks beside them", async () => {
		const again: string[] = [];
		const bodies = [{ kind: "bid_counts", format: 1, id: newTimeOrderedId(NOW), at: NOW, counts: [] }, { format: 1 }];
		const messages = bodies.map((body, at) => ({ id: `m${at}`, body, retry: () => void again.push(`m${at}`) }));
		const { counts, others } = splitBidCounts(messages);
		expect([counts, others].map((some) => some.map(({ id }) => id))).toEqual([["m0"], ["m1"]]);
		const failing = {
			...openDatabase(env.DB),
			$client: { batch: () => Promise.reject(new Error("away")), prepare: () => ({ bind: () => ({}) }) },
		};
		await consumeBidCounts({ db: failing as never, now: () => NOW }, counts);
		expect(again).toEqual(["m0"]);
	});
});

async function ask<Output>(path: string, schema: v.GenericSchema<unknown, Output>, headers: Record<string, string>): Promise<Output> {
	const response = await exports.default.fetch(`https://base.example${path}`, { headers });
	expect([path, response.status]).toEqual([path, 200]);
	return v.parse(schema, await response.json());
}

describe("worker: what is shown of counts", () => {
	const PERIOD = "from=2026-11-18T10:00:00Z&to=2026-11-18T16:00:00Z";
	const other = { id: "other", name: "Other", publisher_id: "other-id", publisher_identity: "other_rtb", revenue_share: 0.5 };

	beforeAll(async () => {
		await importFile({ publishers: [{ ...ACME, ...other, access_key: "access-key-other", publisher_key: "publisher-key-other" }] });
		await env.DB.batch(["bid_hours", "bid_messages"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		await consume(
			messageOf([
				[HOUR - 6, "openrtb", "acme_rtb", "bid", 1_000],
				[HOUR - 1, "openrtb", "acme_rtb", "bid", 10],
				[HOUR - 1, "openrtb", "acme_rtb", "below_floor", 4],
				[HOUR, "openrtb", "acme_rtb", "unknown_advertiser", 2],
				[HOUR, "serving-engine", ACME.publisher_id, "unknown_advertiser", 3],
				[HOUR, "openrtb", "other_rtb", "bid", 7],
				[HOUR, "openrtb", "", "publisher_not_enabled", 9],
				[HOUR, "notice", "acme_rtb", "won", 1_000],
			]),
		);
	});

	const bids = (query: string) => ask(`/operator/bids?${PERIOD}&${query}`, bidsPageSchema, OPERATOR_HEADERS);

	it("the operator sees every group, and each adds up to the total, page by page", async () => {
		const total = { requests: 35, bids: 17, no_bids: 18 };
		for (const group of ["hour", "day", "publisher", "endpoint", "reason", "hour,publisher,reason", "reason,day,endpoint,publisher,hour"]) {
			const rows: BidsPage["data"] = [];
			for (let cursor: string | null = ""; cursor !== null; ) {
				const page: BidsPage = await bids(`group=${group}&limit=2&cursor=${cursor}`);
				expect(page.total).toEqual(total);
				rows.push(...page.data);
				cursor = page.next_cursor;
			}
			for (const sum of ["requests", "bids", "no_bids"] as const) {
				expect([group, sum, rows.reduce((all, row) => all + row[sum], 0)]).toEqual([group, sum, total[sum]]);
			}
		}
		expect((await bids("group=publisher,reason&publisher=acme")).data).toEqual([
			{ publisher: "acme", reason: null, requests: 10, bids: 10, no_bids: 0 },
			{ publisher: "acme", reason: "below_floor", requests: 4, bids: 0, no_bids: 4 },
			{ publisher: "acme", reason: "unknown_advertiser", requests: 5, bids: 0, no_bids: 5 },
		]);
	});

	it("a publisher sees its own hours alone", async () => {
		const noBids = (key: string, query = "") => ask(`/api/no-bids?${PERIOD}${query}`, noBidsSchema, { AccessKey: key });
		const first = await noBids("access-key-acme", "&limit=1");
		expect(first.data).toEqual([
			{ hour: "2026-11-18T14:00:00.000Z", requests: 14, bids: 10, no_bids: 4, reasons: [{ reason: "below_floor", code: 509, count: 4 }] },
		]);
		expect((await noBids("access-key-acme", `&cursor=${first.next_cursor}`)).data).toEqual([
			{
				hour: "2026-11-18T15:00:00.000Z",
				requests: 5,
				bids: 0,
				no_bids: 5,
				reasons: [{ reason: "unknown_advertiser", code: 502, count: 5 }],
			},
		]);
		const newest = await noBids("access-key-acme", "&order=newest&limit=1");
		const before = await noBids("access-key-acme", `&order=newest&cursor=${newest.next_cursor}`);
		expect([...newest.data, ...before.data].map(({ hour }) => hour)).toEqual(["2026-11-18T15:00:00.000Z", "2026-11-18T14:00:00.000Z"]);
		expect((await noBids("access-key-other")).data).toEqual([
			{ hour: "2026-11-18T15:00:00.000Z", requests: 7, bids: 7, no_bids: 0, reasons: [] },
		]);
		expect((await exports.default.fetch("https://base.example/api/no-bids")).status).toBe(401);
	});

	it("a publisher is told of caps and hours no more than by POST /api/explain", async () => {
		const hour = HOUR + 100;
		for (const [outcome, requests] of [
			["cap_met", 2],
			["outside_hours", 3],
			["below_floor", 4],
		] as const) {
			await env.DB.prepare("INSERT INTO bid_hours (hour, endpoint, publisher_id, outcome, requests) VALUES (?, 'openrtb', 'acme', ?, ?)")
				.bind(hour, outcome, requests)
				.run();
		}
		const period = `from=${new Date(hour * 3_600_000).toISOString()}&to=${new Date((hour + 1) * 3_600_000).toISOString()}`;
		const { data } = await ask(`/api/no-bids?${period}`, noBidsSchema, { AccessKey: "access-key-acme" });
		expect(data).toMatchObject([
			{
				requests: 9,
				reasons: [
					{ reason: "not_available_now", code: 506, count: 5 },
					{ reason: "below_floor", count: 4 },
				],
			},
		]);
		await env.DB.prepare("DELETE FROM bid_hours WHERE hour = ?").bind(hour).run();
	});

	it.each([
		["group=planet", "group"],
		["group=hour,hour", "group"],
		["from=2026-11-18&to=2026-11-17", "to"],
		["from=2025-11-18&to=2026-11-17", "from"],
		["limit=0", "limit"],
		["cursor=xx", "cursor"],
		["group=hour&cursor=WyJhIl0", "cursor"],
		["reason=bot", "reason", expect.stringMatching(/^is not a known field/)],
	])("refuses %s, naming the parameter", async (query, path, message = expect.any(String)) => {
		const response = await exports.default.fetch(`https://base.example/operator/bids?${query}`, { headers: OPERATOR_HEADERS });
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ faults: [{ path: expect.stringContaining(path), message }] });
	});

	it("old hours are removed, and what is known of messages that cannot come again", async () => {
		const now = () => NOW + (BID_COUNTS_DAYS * 24 - 3) * 3_600_000;
		await removeOld({ db: openDatabase(env.DB), now, clickDays: 400, archive: undefined });
		expect((await stored()).map(({ hour }) => hour - HOUR)).toEqual([-1, -1, 0, 0, 0, 0, 0]);
		expect(await rowsOf("SELECT id FROM bid_messages")).toEqual([]);
	});

	it("a batch of the queue that has both is taken whole", async () => {
		const message = messageOf([[HOUR + 1, "openrtb", "acme_rtb", "bid", 1]], { id: newTimeOrderedId(Date.now()) });
		const messages = [message].map((body) => ({ ...letterOf(body), ack: () => {}, attempts: 1, timestamp: new Date() }));
		await runQueue({ queue: "clickbourse-clicks", messages, metadata: {}, retryAll: () => {}, ackAll: () => {} } as never, env as never);
		expect((await stored()).filter(({ hour }) => hour === HOUR + 1)).toHaveLength(1);
	});
});
