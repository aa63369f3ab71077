/** What publishers tell of auctions is counted once, bounded, and shown to the operator; notices are counted and bill nothing. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type FeedbackPage, feedbackPageSchema } from "../../src/auction-feedback/feedback-answer.ts";
import { feedbackTakenSchema, MAX_AUCTIONS, MAX_AUCTIONS_A_DAY, takeFeedback } from "../../src/auction-feedback/take-feedback.ts";
import { AUCTION_KNOWN_DAYS } from "../../src/bid-counts/kept-for.ts";
import { DecisionCounts } from "../../src/bidding/count-decisions.ts";
import type { BidCountsMessage } from "../../src/bidding/counts-message.ts";
import { routeNotice } from "../../src/bidding/notice-route.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { openDatabase } from "../../src/db/client.ts";
import { utcDay } from "../../src/lib/time.ts";
import { removeOld } from "../../src/retention/remove-old.ts";
import { rowsOf } from "../support/click-messages.ts";
import { memoryBook } from "../support/memory-book.ts";
import { ACME, importFile, OPERATOR_HEADERS } from "../support/network-import.ts";

const KEY = { AccessKey: "access-key-acme", "content-type": "application/json" };
/** The clock stands, as else a day could end between what is told and what is asked for. */
const NOW = Date.now();
const TODAY = utcDay(NOW);

beforeAll(async () => {
	vi.useFakeTimers({ toFake: ["Date"], now: NOW });
	const other = { id: "other", name: "Other", publisher_id: "other-id", publisher_identity: "other_rtb", access_key: "access-key-other" };
	await importFile({
		publishers: [
			{ ...ACME, access_key: "access-key-acme" },
			{ ...ACME, ...other, publisher_key: "publisher-key-other" },
		],
	});
});
afterAll(() => {
	vi.useRealTimers();
});

beforeEach(async () => {
	await env.DB.batch(["auction_feedback", "auction_feedback_days", "bid_hours"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
});

const send = (body: unknown, headers: Record<string, string> = KEY) =>
	exports.default.fetch("https://base.example/api/auction-feedback", {
		method: "POST",
		headers,
		body: typeof body === "string" ? body : JSON.stringify(body),
	});

async function tell(auctions: unknown[], headers?: Record<string, string>) {
	const response = await send({ auctions }, headers);
	expect(response.status).toBe(200);
	return v.parse(feedbackTakenSchema, await response.json());
}

async function report(query: string): Promise<FeedbackPage> {
	const response = await exports.default.fetch(`https://base.example/operator/auction-feedback?${query}`, { headers: OPERATOR_HEADERS });
	expect(response.status).toBe(200);
	return v.parse(feedbackPageSchema, await response.json());
}

const NO_NOTICES = { won: 0, billed: 0, lost: 0 };

describe("worker: what publishers tell of auctions", () => {
	it("counts each auction once, by publisher and id, whatever is told of it later, and in one request, too", async () => {
		const told = [
			{ id: "a-1", loss: 0, price: "0.3" },
			{ id: "a-2", loss: 102, price: 0.41 },
			{ id: "a-3", loss: 102, price: "0.4300001" },
			{ id: "a-4", loss: 102, price: null },
			{ id: "a-2", loss: 0 },
		];
		expect(await tell(told)).toEqual({ counted: 4, known: 1, over_limit: 0 });
		expect(await tell(told)).toEqual({ counted: 0, known: 5, over_limit: 0 });
		expect(
			await tell([
				{ id: "a-1", loss: 1_234 },
				{ id: "a-5", loss: 1_234 },
			]),
		).toEqual({ counted: 1, known: 1, over_limit: 0 });
		expect(await tell([{ id: "a-1", loss: 100 }], { ...KEY, AccessKey: "access-key-other" })).toEqual({
			counted: 1,
			known: 0,
			over_limit: 0,
		});

		const acme = { auctions: 5, won: 1, lost: 4, win_rate: 0.2, price_to_beat: "0.4200" };
		const other = { auctions: 1, won: 0, lost: 1, win_rate: 0, price_to_beat: null };
		const page = await report("");
		expect(page.data).toEqual([
			{ day: TODAY, publisher: "acme", ...acme },
			{ day: TODAY, publisher: "other", ...other },
		]);
		expect(page.total).toEqual({ auctions: 6, won: 1, lost: 5, win_rate: 0.1667, price_to_beat: "0.4200", notices: NO_NOTICES });
		expect((await report("publisher=acme&group=loss")).data).toMatchObject([
			{ loss: 0, meaning: "bid won", auctions: 1, win_rate: 1 },
			{ loss: 102, meaning: "lost to higher bid", auctions: 3, price_to_beat: "0.4200" },
			{ loss: 1_234, meaning: null, auctions: 1 },
		]);
		const rows: FeedbackPage["data"] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const next: FeedbackPage = await report(`group=loss,publisher&limit=1&cursor=${cursor}`);
			rows.push(...next.data);
			cursor = next.next_cursor;
		}
		expect(rows.map(({ loss, publisher, auctions }) => [loss, publisher, auctions])).toEqual([
			[0, "acme", 1],
			[100, "other", 1],
			[102, "acme", 3],
			[1_234, "acme", 1],
		]);
	});

	it("a price of nothing is none: it lowers no mean price to beat", async () => {
		const prices = ["0.0", 0, "0.0000001", "0.42"];
		await tell(prices.map((price, at) => ({ id: `z-${at}`, loss: 102, price })));
		expect((await report("")).total).toMatchObject({ auctions: 4, price_to_beat: "0.4200" });
	});

	it("tells the mean price in four decimals, as all amounts, whatever it comes to", async () => {
		const prices = ["0.1", "0.1", "0.42"];
		await tell(prices.map((price, at) => ({ id: `m-${at}`, loss: 102, price })));
		expect((await report("")).total.price_to_beat).toBe("0.2067");
	});

	it("counts once what is told at the same time", async () => {
		const auctions = Array.from({ length: 50 }, (_, at) => ({ id: `t-${at}`, loss: at % 2 === 0 ? 0 : 102, price: "0.5" }));
		const taken = await Promise.all([tell(auctions), tell(auctions.toReversed()), tell(auctions.slice(0, 30))]);
		expect(taken.reduce((sum, { counted }) => sum + counted, 0)).toBe(50);
		expect((await report("")).total).toMatchObject({ auctions: 50, won: 25, price_to_beat: "0.5000" });
	});

	it("counts no more a day than its limit, and says how many it left out", async () => {
		await env.DB.prepare("INSERT INTO auction_feedback_days (date, publisher_id, loss, auctions) VALUES (?, 'acme', 0, ?)")
			.bind(TODAY, MAX_AUCTIONS_A_DAY - 2)
			.run();
		const three = [1, 2, 3].map((at) => ({ id: `l-${at}`, loss: 0 }));
		expect(await tell(three)).toEqual({ counted: 2, known: 0, over_limit: 1 });
		expect(await tell(three)).toEqual({ counted: 0, known: 2, over_limit: 1 });
		expect(await tell(three, { ...KEY, AccessKey: "access-key-other" })).toEqual({ counted: 3, known: 0, over_limit: 0 });
	});

	it("counts new auctions beside known ones while the day has room, the first first", async () => {
		const auctions = (...ids: string[]) => ids.map((id) => ({ id, loss: 102, price: "0.5" }));
		await tell(auctions("k-1", "k-2"));
		const used = MAX_AUCTIONS_A_DAY - 4;
		await env.DB.prepare("INSERT INTO auction_feedback_days (date, publisher_id, loss, auctions) VALUES (?, 'acme', 0, ?)")
			.bind(TODAY, used)
			.run();
		expect(await tell(auctions("k-1", "k-2", "n-1", "n-2"))).toEqual({ counted: 2, known: 2, over_limit: 0 });
		expect(await tell(auctions("n-3", "k-1", "n-3", "n-2", "n-4"))).toEqual({ counted: 0, known: 2, over_limit: 3 });
		expect((await report("")).total).toMatchObject({ auctions: used + 4, won: used });

		await env.DB.prepare("UPDATE auction_feedback_days SET auctions = auctions - 1 WHERE loss = 0").run();
		expect(await tell(auctions("n-4", "n-3", "n-4"))).toEqual({ counted: 1, known: 1, over_limit: 1 });
		expect(await rowsOf("SELECT auction_id FROM auction_feedback WHERE auction_id IN ('n-3', 'n-4')")).toEqual([{ auction_id: "n-4" }]);
	});

	it("counts no more than the day has room for, also of what is told at the same time", async () => {
		await env.DB.prepare("INSERT INTO auction_feedback_days (date, publisher_id, loss, auctions) VALUES (?, 'acme', 0, ?)")
			.bind(TODAY, MAX_AUCTIONS_A_DAY - 5)
			.run();
		const lists = [1, 2, 3].map((list) => [1, 2, 3, 4].map((at) => ({ id: `s-${list}-${at}`, loss: 0 })));
		const taken = await Promise.all(lists.map((list) => tell(list)));
		expect(taken.reduce((sum, { counted }) => sum + counted, 0)).toBe(5);
		expect(taken.reduce((sum, { over_limit }) => sum + over_limit, 0)).toBe(7);
		expect((await report("")).total.auctions).toBe(MAX_AUCTIONS_A_DAY);
	});

	it.each<[string, unknown, string]>([
		["no JSON", "{", ""],
		["a list", [], ""],
		["nothing", {}, "auctions"],
		["no auction", { auctions: [] }, "auctions"],
		["too many", { auctions: Array.from({ length: MAX_AUCTIONS + 1 }, (_, at) => ({ id: `${at}`, loss: 0 })) }, "auctions"],
		["an auction that is none", { auctions: [7] }, "auctions[0]"],
		["a blank id", { auctions: [{ id: " ", loss: 0 }] }, "auctions[0].id"],
		["an id that is a number", { auctions: [{ id: 7, loss: 0 }] }, "auctions[0].id"],
		["an id that is too long", { auctions: [{ id: "a".repeat(256), loss: 0 }] }, "auctions[0].id"],
		["a lone surrogate", '{"auctions":[{"id":"\\ud800","loss":0}]}', "auctions[0].id"],
		["a NUL", '{"auctions":[{"id":"a\\u0000","loss":0}]}', "auctions[0].id"],
		["no loss", { auctions: [{ id: "a" }] }, "auctions[0].loss"],
		["a loss that is text", { auctions: [{ id: "a", loss: "0" }] }, "auctions[0].loss"],
		["a negative loss", { auctions: [{ id: "a", loss: -1 }] }, "auctions[0].loss"],
		["a macro as price", { auctions: [{ id: "a", loss: 0, price: "$" + "{AUCTION_PRICE}" }] }, "auctions[0].price"],
		["a negative price", { auctions: [{ id: "a", loss: 0, price: -0.1 }] }, "auctions[0].price"],
		["a price beyond any", '{"auctions":[{"id":"a","loss":0,"price":1e999}]}', "auctions[0].price"],
		["an unknown field", { auctions: [{ id: "a", loss: 0, bid: 1 }] }, "auctions[0].bid"],
	])("refuses %s, and counts nothing of it", async (_, body, path) => {
		const response = await send(body);
		expect(response.status).toBe(422);
		const { faults } = await response.json<{ faults: { path: string }[] }>();
		expect(faults.map((fault) => fault.path)).toContain(path);
		expect((await report("")).total.auctions).toBe(0);
	});

	it("says of a list that is far too long this alone, in no time", async () => {
		const response = await send({ auctions: Array(150_000).fill({}) });
		expect(response.status).toBe(422);
		expect(await response.json()).toEqual({
			error: "Validation failed",
			faults: [{ path: "auctions", message: `must have at most ${MAX_AUCTIONS} auctions` }],
			fault_count: 1,
		});
	});

	it("is a publisher's with an Access Key", async () => {
		expect((await send({ auctions: [{ id: "a", loss: 0 }] }, {})).status).toBe(401);
		expect((await exports.default.fetch("https://base.example/api/auction-feedback", { headers: KEY })).status).toBe(405);
	});

	it("knows an auction for some days: rows go, counts stay", async () => {
		const db = openDatabase(env.DB);
		const told = { auctions: [{ id: "old", loss: 0, price: null }] };
		const day = Date.parse("2026-11-01T12:00:00Z");
		await takeFeedback(db, "acme", told, day);
		const remove = (at: number) => removeOld({ db, now: () => at, clickDays: 400, archive: undefined });
		await remove(day + AUCTION_KNOWN_DAYS * 86_400_000 - 1_000);
		expect(await takeFeedback(db, "acme", told, day)).toMatchObject({ counted: 0, known: 1 });
		await remove(day + AUCTION_KNOWN_DAYS * 86_400_000 + 1_000);
		expect(await rowsOf("SELECT auction_id FROM auction_feedback")).toEqual([]);
		expect(await rowsOf("SELECT date, auctions FROM auction_feedback_days")).toEqual([{ date: "2026-11-01", auctions: 1 }]);
	});
});

describe("worker: notices of exchanges", () => {
	const sent: BidCountsMessage[] = [];
	const work: Promise<unknown>[] = [];
	const waits: (() => void)[] = [];
	const pause = (): Promise<void> => new Promise((resolve) => void waits.push(resolve));
	const counts = new DecisionCounts({
		queue: { send: async (message) => void sent.push(message) },
		now: () => Date.now(),
		pause,
	});
	const deps = {
		book: new CampaignBook(memoryBook({}), { snapshotTtlMs: 60_000 }),
		tokens: new ClickTokens(["test-token-key-newest-0000000000000000"]),
		clickUrl: "https://click.example",
		clickTtlMs: 86_400_000,
		now: () => Date.now(),
		counts,
	};
	const call = (path: string, method = "GET") => {
		const request = new Request(`https://click.example${path}`, { method });
		return routeNotice(deps, request, request.url, (promise) => void work.push(promise));
	};

	it("are counted by publisher and kind, and answered with nothing", async () => {
		const macro = "$" + "{AUCTION_PRICE}";
		for (const path of [
			"/notice/acme_rtb/won?price=0.3",
			`/notice/acme_rtb/won?price=${macro}`,
			"/notice/acme_rtb/billed",
			"/notice/acme_rtb/lost?loss=102",
		]) {
			const answer = await call(path);
			expect([path, answer?.status, await answer?.text()]).toEqual([path, 204, ""]);
			expect(answer?.headers.get("cache-control")).toBe("no-store");
		}
		expect((await call("/notice/acme_rtb/won", "HEAD"))?.status).toBe(204);
		for (const end of waits) end();
		await Promise.all(work);
		expect(sent.flatMap(({ counts: of }) => of.map(([, ...rest]) => rest))).toEqual([
			["notice", "acme_rtb", "won", 2],
			["notice", "acme_rtb", "billed", 1],
			["notice", "acme_rtb", "lost", 1],
		]);
	});

	it.each([
		["/notice", 404],
		["/notice/acme_rtb", 404],
		["/notice/acme_rtb/bought", 404],
		["/notice/acme_rtb/won/twice", 404],
		["/notice/no%20identity/won", 404],
		[`/notice/${"a".repeat(65)}/won`, 404],
	])("%s is none", async (path, status) => {
		expect((await call(path))?.status).toBe(status);
	});

	it("are no requests: the operator's report has them, and the counts of bids do not", async () => {
		const hour = Math.floor(Date.now() / 3_600_000);
		for (const [endpoint, outcome] of [
			["notice", "won"],
			["openrtb", "bid"],
		]) {
			await env.DB.prepare("INSERT INTO bid_hours (hour, publisher_id, endpoint, outcome, requests) VALUES (?, 'acme', ?, ?, 3)")
				.bind(hour, endpoint, outcome)
				.run();
		}
		expect((await report("")).total.notices).toEqual({ ...NO_NOTICES, won: 3 });
		const bids = await exports.default.fetch("https://base.example/operator/bids?group=endpoint", { headers: OPERATOR_HEADERS });
		expect((await bids.json<{ total: unknown }>()).total).toEqual({ requests: 3, bids: 3, no_bids: 0 });
		expect(call("/click")).toBeNull();
		expect(call("/notices")).toBeNull();
		expect((await call("/notice/acme_rtb/won", "POST"))?.status).toBe(405);
	});
});
