/** /operator/callbacks through the real Worker, its real queue and a real receiver: list, replay, test. */

import { env, exports } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import * as v from "valibot";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { deliverCallback } from "../../../src/callbacks/deliver-callback.ts";
import type { CallbackQueue } from "../../../src/callbacks/enqueue.ts";
import { lookAtCallbacks } from "../../../src/callbacks/list-callbacks.ts";
import { type CallbackPage, callbackPageSchema, type ReplayReport, replayReportSchema } from "../../../src/callbacks/operator-answers.ts";
import { chooseConversions, replayCallbacks } from "../../../src/callbacks/replay-callbacks.ts";
import { listSchema, replaySchema } from "../../../src/callbacks/requests.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { readInput } from "../../../src/http/read-input.ts";
import { ACTOR } from "../../support/actor.ts";
import { Outbox } from "../../support/callback-outbox.ts";
import { received, receivedCalls, receiverUrl } from "../../support/callback-receiver.ts";
import { ON_D1 } from "../../support/engine.ts";
import { ACME, faultsOf, importFile, OPERATOR_HEADERS } from "../../support/network-import.ts";
import { planOf } from "../../support/plan-of.ts";
import { countRows } from "../../support/row-counts.ts";

const outbox = new Outbox();

function call(path: string, body?: unknown, headers: Record<string, string> = OPERATOR_HEADERS): Promise<Response> {
	const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
	return exports.default.fetch(`https://base.example/operator/callbacks${path}`, init);
}

async function list(query: string): Promise<CallbackPage> {
	const response = await call(`?${query}`);
	expect(response.status).toBe(200);
	return v.parse(callbackPageSchema, await response.json());
}

async function replay(body: object): Promise<ReplayReport> {
	const response = await call("/replay", body);
	expect(response.status).toBe(200);
	return v.parse(replayReportSchema, await response.json());
}

beforeAll(async () => {
	await outbox.addPublisher("acme", receiverUrl("answer", "operator"));
});

describe("worker: /operator/callbacks", () => {
	it.each([
		["", undefined],
		["/replay", {}],
		["/test", { url: "https://pub.example" }],
	])("%s needs the operator's key", async (path, body) => {
		expect((await call(path, body, {})).status).toBe(401);
		expect((await call(path, body, { OperatorKey: "wrong" })).status).toBe(401);
	});

	it("lists by publisher, transaction, state and time, a page at a time, each with its attempts", async () => {
		for (let at = 0; at < 5; at++) {
			outbox.now += 60_000;
			await outbox.add("acme", `L${at}`);
		}
		await outbox.work();
		const first = await list("publisher=acme&limit=2");
		expect(first.data.map(({ txnid }) => txnid)).toEqual(["L4", "L3"]);
		expect(first.data[0]).toMatchObject({
			platform: "acme",
			publisher: "acme",
			seq: 1,
			status: "approved",
			cid: "click 1",
			payout: "8.4000",
			edate: "2026-11-18T14:59:00.000Z",
			state: "delivered",
			held_for: null,
			attempt_count: 1,
			attempts: [{ at: "2026-11-18T15:05:00.000Z", http_status: 200, answer: "stored" }],
		});
		const second = await list(`publisher=acme&limit=2&cursor=${first.next_cursor}`);
		const third = await list(`publisher=acme&limit=2&cursor=${second.next_cursor}`);
		expect([...second.data, ...third.data].map(({ txnid }) => txnid)).toEqual(["L2", "L1", "L0"]);
		expect(third.next_cursor).toBeNull();
		expect((await list("txnid=L3")).data).toHaveLength(1);
		expect((await list("txnid=L3&state=due")).data).toEqual([]);
		expect((await list("from=2026-11-18T15:02:00Z&to=2026-11-18T15:04:00")).data.map(({ txnid }) => txnid)).toEqual(["L2", "L1"]);
		expect((await list("from=2026-11-18&to=2026-11-18&txnid=L2")).data).toHaveLength(1);
		expect((await list("to=2026-11-17")).data).toEqual([]);
		expect((await list("publisher=nobody")).data).toEqual([]);
	});

	it.runIf(ON_D1).each([
		["publisher=acme", "callbacks_by_publisher"],
		["publisher=acme&state=delivered&from=2026-11-18", "callbacks_by_publisher"],
		["txnid=L3", "callbacks_by_txnid"],
		["publisher=acme&txnid=L3", "callbacks_by_txnid"],
		["publisher=acme&state=exhausted", "callbacks_by_publisher"],
		["state=no_url&platform=northwind", "callbacks_by_time"],
		["from=2026-11-18", "callbacks_by_time"],
		["state=exhausted", "callbacks_exhausted"],
		["state=due", "callbacks_undelivered"],
		["", "callbacks_by_time"],
	])("%s is found by %s", async (query, index) => {
		const { looked } = lookAtCallbacks(readInput(listSchema, Object.fromEntries(new URLSearchParams(query))));
		const plan = await planOf(looked);
		// Those of a transaction are few, and sorted.
		expect(plan.filter((detail) => !detail.startsWith("USE TEMP") || !query.includes("txnid"))).toEqual([expect.stringContaining(index)]);
	});

	it.runIf(ON_D1).each([
		["platform=west&state=exhausted", "callbacks_exhausted"],
		["platform=west&state=due&to=2026-11-18", "callbacks_undelivered (created_at<?)"],
		["platform=west&from=2026-11-18", "callbacks_by_time (created_at>?)"],
		["platform=west&publisher=acme", "callbacks_by_publisher (publisher_id=?)"],
		["platform=west&txnid=T-1", "callbacks_in_order (platform=? AND txnid=?)"],
		["platform=west&state=delivered", "callbacks_in_order (platform=?)"],
	])("a replay of %s finds them by %s", async (query, index) => {
		const chosen = chooseConversions(readInput(replaySchema, Object.fromEntries(new URLSearchParams(query))));
		expect((await planOf(chosen)).filter((step) => step.includes(" callbacks "))).toEqual([
			expect.stringMatching(new RegExp(`^(?:SEARCH|SCAN) callbacks USING INDEX ${RegExp.escape(index)}$`)),
		]);
	});

	it("looks at a bounded number of rows for what no index has, and goes on behind them", async () => {
		const db = outbox.deps.db;
		await db.run(sql`INSERT INTO callbacks (id, platform, txnid, publisher_id, status, payout_micros, cid, event_at, state, created_at, seq, attempt_count)
			SELECT 'many-' || n, 'acme', 'many-' || n, 'many', 'approved', 10000, '', 1, CASE n WHEN 1 THEN 'no_url' ELSE 'delivered' END, n, 1, 1
			FROM (WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20100) SELECT n FROM numbers) m`);
		try {
			for (const query of ["state=no_url&to=1970-01-02", "publisher=many&state=no_url"]) {
				const first = await list(query);
				expect(first).toEqual({ data: [], limit: 100, next_cursor: expect.any(String) });
				const second = await list(`${query}&cursor=${first.next_cursor}`);
				expect(second).toMatchObject({ data: [{ txnid: "many-1" }], next_cursor: null });
			}
			if (!ON_D1) return;
			const { client, counted } = countRows(env.DB, true);
			const one = { publisher: "many", id: "many-7", dry_run: false };
			const replayed = await replayCallbacks({ ...outbox.deps, db: openDatabase(client) }, one, ACTOR);
			expect([replayed.replayed, counted.filter(({ rows }) => rows > 100)]).toEqual([1, []]);
		} finally {
			await db.run(sql`DELETE FROM callbacks WHERE publisher_id = 'many'`);
		}
	});

	it("a replay of more exhausted callbacks than one may take goes on with the next; any others are refused whole", async () => {
		const db = outbox.deps.db;
		await db.run(sql`INSERT INTO callbacks (id, platform, txnid, publisher_id, status, payout_micros, cid, event_at, state, created_at, seq, attempt_count)
			SELECT 'over-' || n, 'acme', 'over-' || n, 'over', 'approved', 10000, '', 1, CASE WHEN n > 5002 THEN 'delivered' ELSE 'exhausted' END, n, 1, 1
			FROM (WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5003) SELECT n FROM numbers) m`);
		// There is no such publisher to be called.
		const queue = { sendBatch: () => Promise.resolve() } as unknown as CallbackQueue;
		const replayOver = (asked: object) =>
			replayCallbacks({ ...outbox.deps, queue }, { publisher: "over", dry_run: false, ...asked }, ACTOR);
		const state = "exhausted";
		try {
			expect(await replayOver({ state, dry_run: true })).toEqual({ replayed: 5_002, dry_run: true });
			await expect(replayOver({})).rejects.toMatchObject({ status: 422 });
			expect(await replayOver({ state })).toEqual({ replayed: 5_000, dry_run: false });
			const left = await list("publisher=over&state=exhausted");
			expect(left.data.map(({ txnid }) => txnid)).toEqual(["over-5002", "over-5001"]);
			expect([await replayOver({ state }), await replayOver({ state })]).toMatchObject([{ replayed: 2 }, { replayed: 0 }]);
		} finally {
			await db.run(sql`DELETE FROM callbacks WHERE publisher_id = 'over'`);
		}
	});

	it.each([
		"limit=0",
		"limit=x",
		"limit=1001",
		"state=sent",
		"from=yesterday",
		"from=2026-13-01",
		"cursor=x",
		"publisher=acme&publisher=",
		"to=2026-11-01&from=2026-11-02",
	])("%s: 422 that names the field", async (query) => {
		const response = await call(`?${query}`);
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ error: "Validation failed", faults: [{ path: query.split("=")[0] }] });
	});
});

describe("worker: /operator/callbacks/replay", () => {
	it("sends a delivered callback again, under the same id, with all later ones of its conversion, in order", async () => {
		const ids = [await outbox.add("acme", "R1", 1), await outbox.add("acme", "R1", 2), await outbox.add("acme", "R1", 3)];
		await outbox.work();
		expect(await replay({ id: ids[1], dry_run: true })).toEqual({ replayed: 2, dry_run: true });
		expect(await outbox.row(ids[1] ?? "")).toMatchObject({ state: "delivered" });
		expect(await replay({ id: ids[1] })).toEqual({ replayed: 2, dry_run: false });
		// Nobody but the Worker's own queue delivers it: insecure addresses are not allowed there.
		await vi.waitFor(async () => expect(await outbox.row(ids[1] ?? "")).toMatchObject({ attempt_count: 2 }), {
			timeout: 20_000,
			interval: 100,
		});
		expect(await outbox.attempts(ids[1] ?? "")).toMatchObject([
			{ http_status: 200 },
			{ answer: "not called: the address must be an https address" },
		]);
		outbox.now = Date.now() + 180_000;
		await outbox.sweep();
		await outbox.work();
		const calls = (await receivedCalls("operator")).filter(({ url }) => url.includes("txnid=R1"));
		expect(calls.map(({ headers }) => headers["idempotency-key"])).toEqual([ids[0], ids[1], ids[2], ids[1], ids[2]]);
		expect((await received("operator")).filter((text) => text.startsWith("R1")).at(-1)).toBe("R1 approved");
	});

	it("leaves alone what another publisher was told of the same conversion, unless that is named, too", async () => {
		await outbox.addPublisher("later", receiverUrl("answer", "later"));
		const first = await outbox.add("acme", "two", 1);
		await outbox.add("acme", "two", 2);
		await outbox.add("later", "two", 3, "approved", true, "acme");
		await outbox.work();
		expect(await replay({ id: first, dry_run: true })).toEqual({ replayed: 2, dry_run: true });
		expect(await replay({ txnid: "two", dry_run: true })).toEqual({ replayed: 3, dry_run: true });
		expect(await replay({ txnid: "two", publisher: "later", dry_run: true })).toEqual({ replayed: 1, dry_run: true });
	});

	it("reopens exhausted ones and those that had no address, and what waits behind them", async () => {
		await outbox.addPublisher("reopen", receiverUrl("answer", "reopen"));
		const exhausted = await outbox.add("reopen", "E1", 1, "approved", false);
		const waiting = await outbox.add("reopen", "E1", 2, "cancelled");
		const unsent = await outbox.add("reopen", "N1", 1, "approved", false);
		await env.DB.batch([
			env.DB.prepare("UPDATE callbacks SET state = 'exhausted', next_attempt_at = NULL, schedule_step = 9 WHERE id = ?").bind(exhausted),
			env.DB.prepare("UPDATE callbacks SET state = 'no_url', next_attempt_at = NULL WHERE id = ?").bind(unsent),
		]);
		await outbox.work();
		expect(await outbox.row(waiting)).toMatchObject({ held_for: "order" });
		expect(await replay({ publisher: "reopen" })).toEqual({ replayed: 3, dry_run: false });
		expect(await outbox.row(exhausted)).toMatchObject({ state: "due" });
		outbox.now = Date.now() + 360_000;
		await outbox.sweep();
		await outbox.work();
		await outbox.pass(2);
		expect((await received("reopen")).filter((text) => text.startsWith("E1"))).toEqual(["E1 approved", "E1 cancelled"]);
		expect((await received("reopen")).sort()).toEqual(["E1 approved", "E1 cancelled", "N1 approved"]);
	});

	it("leaves alone what is being called at this moment", async () => {
		const id = await outbox.add("acme", "busy", 1, "approved", false);
		await env.DB.prepare("UPDATE callbacks SET lease = 'x', next_attempt_at = ? WHERE id = ?")
			.bind(Date.now() + 60_000, id)
			.run();
		expect(await replay({ id })).toEqual({ replayed: 0, dry_run: false });
	});

	it.each([
		["the call ends first", false, 200],
		["the credit is there before the call ends", true, 200],
		["the call fails, and was its last", false, 503],
	])("beside a call of the cancellation, ends with how things stand: %s", async (name, isOvertaken, status) => {
		const publisher = `beside ${name.length}`;
		let whileCalling: (() => Promise<unknown>) | null = null;
		const beside = new Outbox({
			fetch: async (url, init) => {
				const response = await fetch(url, init);
				const meanwhile = url.includes("status=cancelled") ? whileCalling : null;
				if (meanwhile === null) return response;
				whileCalling = null;
				await meanwhile();
				return new Response(await response.text(), { status });
			},
		});
		await beside.addPublisher(publisher, receiverUrl("answer", publisher));
		const credit = await beside.add(publisher, "T", 1);
		await beside.work();
		const cancellation = await beside.add(publisher, "T", 2);
		await env.DB.prepare("UPDATE callbacks SET schedule_step = 8 WHERE id = ?").bind(cancellation).run();
		whileCalling = async () => {
			expect(await replayCallbacks(beside.deps, { publisher, dry_run: false }, ACTOR)).toMatchObject({ replayed: 2 });
			if (isOvertaken) await deliverCallback(beside.deps, credit);
		};
		await beside.work();
		await beside.pass(5);
		expect(await received(publisher)).toEqual(["T approved", "T cancelled", "T approved", "T cancelled"]);
		expect(await beside.row(cancellation)).toMatchObject({ state: "delivered", held_for: null });
	});

	it("by the query, too, only counts; what is mistyped there sends nothing", async () => {
		const id = await outbox.add("acme", "D1");
		await outbox.work();
		const dry = await call("/replay?dry_run=1", { id });
		expect(v.parse(replayReportSchema, await dry.json())).toEqual({ replayed: 1, dry_run: true });
		for (const query of ["dryrun=1", "dry_run=yes", "dry_run=1&state=due"]) {
			const refused = await call(`/replay?${query}`, { id });
			expect([refused.status, await refused.json()]).toMatchObject([422, { faults: [{ path: expect.any(String) }] }]);
		}
		expect(await outbox.row(id)).toMatchObject({ state: "delivered", attempt_count: 1 });
	});

	it.each([
		["nothing is named", {}],
		["a state alone is named", { state: "delivered" }],
		["it is no JSON object", "x"],
		["a mistyped dry_run", { publisher: "acme", dryrun: true }],
		["an unknown state", { publisher: "acme", state: "gone" }],
	])("%s: 422, and nothing is sent", async (_name, body) => {
		expect((await call("/replay", body)).status).toBe(422);
	});
});

describe("worker: /operator/callbacks/test", () => {
	it("goes only to a checked address, is plainly a test and is no conversion", async () => {
		const before = await env.DB.prepare("SELECT COUNT(*) AS n FROM callbacks").first<number>("n");
		const { testCallback } = await import("../../../src/callbacks/test-callback.ts");
		const report = await testCallback(outbox.deps, { publisher: "acme" });
		expect(report).toMatchObject({ http_status: 200, confirmed: true, answer: "stored", latency_ms: expect.any(Number) });
		const call = (await receivedCalls("operator")).at(-1);
		const query = new URL(report.called).searchParams;
		expect(call?.url).toBe(report.called.slice(new URL(report.called).origin.length));
		expect(Object.fromEntries(query)).toMatchObject({
			txnid: expect.stringMatching(/^test-/),
			cid: "test",
			payout: "0.0000",
			status: "approved",
		});
		expect(call?.headers["user-agent"]).toBe("Clickbourse-Callback/1 (test)");
		expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM callbacks").first<number>("n")).toBe(before);
	});

	it.each([
		[{ url: "http://pub.example/s2s" }],
		[{ url: "https://127.0.0.1/s2s" }],
		[{ url: "https://0x7f.1/s2s" }],
		[{ url: "nonsense" }],
		[{ publisher: "nobody" }],
		[{ publisher: "acme" }],
		[{ publisher: "acme", url: "https://pub.example" }],
		[[]],
		[{}],
	])("%o: 422, and nothing is called", async (body) => {
		const calls = (await receivedCalls("operator")).length;
		const response = await call("/test", body);
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ error: "Validation failed", fault_count: 1 });
		expect(await receivedCalls("operator")).toHaveLength(calls);
	});
});

describe("worker: a callback address that is imported", () => {
	it.each([
		["http://pub.example/s2s", "must be an https address"],
		["https://10.1.2.3/s2s", "must not point at a private address"],
		["https://localhost/s2s", "must name a public host"],
		["https://who:secret@pub.example/s2s", "must be an http(s) address, without user name and password"],
	])("%s is refused, and nothing is changed", async (callback_url, message) => {
		const { faults } = await faultsOf({ publishers: [{ ...ACME, id: "refused", callback_url }] });
		expect(faults).toEqual([{ path: "publishers[0].callback_url", message }]);
	});

	it("with one of the five parameters, or a macro that nobody knows, is taken with a warning", async () => {
		const warningsOf = async (query: string) => {
			const { warnings } = await importFile({ publishers: [{ ...ACME, callback_url: `https://pub.example/s2s?source=network&${query}` }] });
			return warnings.map(({ path, message }) => [path, message]);
		};
		const path = "publishers[0].callback_url";
		expect(await warningsOf("txnid=mine")).toEqual([[path, "has txnid of its own, which callbacks replace"]]);
		expect(await warningsOf("txnid={txnid}&a={SUBID1}")).toEqual([]);
		expect(await warningsOf("a={txn_id}")).toEqual([
			[path, expect.stringMatching(/^\{txn_id\} is no macro of callbacks, and is sent as it is.*txnid/)],
		]);
	});

	it("whose host is a macro is refused", async () => {
		const { faults } = await faultsOf({ publishers: [{ ...ACME, callback_url: "https://{subid1}.pub.example/s2s" }] });
		expect(faults).toEqual([{ path: "publishers[0].callback_url", message: "must name its host itself: a macro there is not filled in" }]);
	});
});
