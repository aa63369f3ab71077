/** What goes wrong between a postback and its conversion, and what must not come of it. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { consumePostbacks } from "../../../src/conversions/consume-postbacks.ts";
import { attachConversion, judgeConversion } from "../../../src/conversions/judge-conversion.ts";
import { settlePostbacks } from "../../../src/conversions/settle-postbacks.ts";
import { sweepConversions } from "../../../src/conversions/sweep-conversions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { OvertakenError } from "../../../src/db/overtaken.ts";
import { clickRow, consume, importConversionNetwork, postbackMessage, readAll, storeClicks } from "../../support/conversions.ts";
import { failWrites, stopFailing } from "../../support/fail-writes.ts";
import { forgetTraffic } from "../../support/forget-traffic.ts";

const TABLES = ["conversions", "conversion_events", "callbacks", "daily_publishers", "daily_sources", "daily_network", "postback_intake"];

async function everything(): Promise<unknown[]> {
	return Promise.all(TABLES.map((table) => readAll(`SELECT * FROM ${table}`)));
}

function deps(binding: D1Database = env.DB) {
	return {
		db: openDatabase(binding),
		now: () => Date.now(),
		callbacks: undefined,
		postbacks: undefined,
		keys: { findPlatformByHash: () => Promise.reject(new Error("unasked")) },
	};
}

/** The real database, but each transaction that writes first lets `before` run. */
function databaseThat(before: (write: number) => Promise<void>): D1Database {
	let writes = 0;
	return new Proxy(env.DB, {
		get(target, name) {
			if (name === "batch") {
				return async (statements: D1PreparedStatement[]) => {
					// Reads come first; the second batch of each try is the one that writes.
					if (++writes % 2 === 0) await before(writes / 2);
					return target.batch(statements);
				};
			}
			const value: unknown = Reflect.get(target, name);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

/** Says how transaction `a` stands, of this click or of none that is known. */
function reporterOf(cid?: string) {
	const named = cid === undefined ? {} : { cid };
	return (status: string, receivedAt: number) => postbackMessage("west", { txnid: "a", status, ...named }, receivedAt);
}

describe("worker: faults on the way to a conversion", () => {
	beforeAll(importConversionNetwork);
	beforeEach(async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		await forgetTraffic();
	});
	afterEach(async () => {
		vi.restoreAllMocks();
		await stopFailing();
	});

	test.each(TABLES)("D1 failing at %s in the middle of a batch leaves nothing half done, and the batch is retried", async (table) => {
		const click = clickRow();
		await storeClicks(click);
		const messages = ["a", "b"].map((txnid) => postbackMessage("west", { txnid, cid: String(click.click_hash) }));
		await failWrites(`INSERT ON ${table}`);
		expect(await consume(...messages)).toEqual({ acked: 0, retried: 2 });
		expect(await everything()).toEqual(TABLES.map(() => []));
		await stopFailing();
		expect(await consume(...messages)).toEqual({ acked: 2, retried: 0 });
		expect(await readAll("SELECT conversion_count AS n, conversion_revenue_micros AS revenue FROM daily_publishers")).toEqual([
			{ n: 2, revenue: 16_000_000 },
		]);
		expect(await readAll("SELECT status FROM callbacks")).toHaveLength(2);
	});

	test("one message that cannot be written holds up no other", async () => {
		const click = clickRow();
		await storeClicks(click);
		const messages = ["a", "poison", "b"].map((txnid) => postbackMessage("west", { txnid, cid: String(click.click_hash) }));
		await failWrites("INSERT ON callbacks", "new.txnid = 'poison'");
		expect(await consume(...messages)).toEqual({ acked: 2, retried: 1 });
		expect(await readAll("SELECT txnid FROM conversions ORDER BY txnid")).toEqual([{ txnid: "a" }, { txnid: "b" }]);
	});

	test("of a full batch one that cannot be written costs halvings, not a transaction for each other: an invocation has 1,000 statements", async () => {
		const click = clickRow();
		await storeClicks(click);
		await failWrites("INSERT ON callbacks", "new.txnid = 'poison'");
		let transactions = 0;
		const counting = databaseThat(async () => void transactions++);
		const acked: string[] = [];
		const messages = Array.from({ length: 100 }, (_, at) => (at === 63 ? "poison" : `t-${at}`)).map((txnid) => ({
			id: txnid,
			timestamp: new Date(),
			attempts: 1,
			body: postbackMessage("west", { txnid, cid: String(click.click_hash) }),
			ack: () => void acked.push(txnid),
			retry: () => {},
		}));
		await consumePostbacks(deps(counting), { queue: "postbacks", messages } as unknown as MessageBatch);
		expect(acked.length).toBe(99);
		// Eight halvings that fail, five times each, as another writer may have been faster; and what is beside them.
		expect(transactions).toBeLessThanOrEqual(8 * 5 + 7);
		expect(await readAll("SELECT conversion_count AS n FROM daily_publishers")).toEqual([{ n: 99 }]);
	});

	test.each([
		"D1_ERROR: Network connection lost.",
		"D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
		"Network connection lost.",
	])("a database that is away fails the whole batch, once: %s", async (message) => {
		const batch = vi.fn(() => Promise.reject(new Error(message)));
		const away = new Proxy(env.DB, { get: (target, name) => (name === "batch" ? batch : Reflect.get(target, name)) });
		const retry = vi.fn();
		const messages = ["a", "b", "c"].map((txnid) => ({
			id: txnid,
			timestamp: new Date(),
			attempts: 1,
			body: postbackMessage("west", { txnid }),
			ack: vi.fn(),
			retry,
		}));
		await consumePostbacks(deps(away), { queue: "postbacks", messages } as unknown as MessageBatch);
		expect(retry).toHaveBeenCalledTimes(3);
		expect(batch).toHaveBeenCalledTimes(1);
	});

	test("postbacks that share a message are settled alike; where one cannot be, the others are, and the message comes again", async () => {
		const click = clickRow();
		await storeClicks(click);
		const items = ["a", "poison", "b"].map((txnid) => postbackMessage("west", { txnid, cid: String(click.click_hash) }));
		await failWrites("INSERT ON callbacks", "new.txnid = 'poison'");
		const message = { format: 1, kind: "together", items };
		expect(await consume(message)).toEqual({ acked: 0, retried: 1 });
		expect(await readAll("SELECT txnid FROM conversions ORDER BY txnid")).toEqual([{ txnid: "a" }, { txnid: "b" }]);
		await stopFailing();
		expect(await consume(message)).toEqual({ acked: 1, retried: 0 });
		expect(await readAll("SELECT conversion_count AS n FROM daily_publishers")).toEqual([{ n: 3 }]);
	});

	test("a message of an unknown format is retried, for a later version may know it; the others go through", async () => {
		const good = postbackMessage("west", { txnid: "a" });
		expect(await consume({ format: 2 }, null, "text", good)).toEqual({ acked: 1, retried: 3 });
	});

	test("two consumers with the same messages at the same time settle them once", async () => {
		const click = clickRow();
		await storeClicks(click);
		const messages = ["a", "b", "c"].map((txnid) => postbackMessage("west", { txnid, cid: String(click.click_hash) }));
		await Promise.all([1, 2, 3].map(() => settlePostbacks(deps(), messages)));
		expect(await readAll("SELECT conversion_count AS n FROM daily_publishers")).toEqual([{ n: 3 }]);
		expect(await readAll("SELECT seq FROM callbacks")).toHaveLength(3);
		expect(await readAll("SELECT id FROM postback_intake")).toHaveLength(3);
	});

	test("one that is overtaken between reading and writing decides anew: no update is lost, whoever comes second", async () => {
		const click = clickRow();
		await storeClicks(click);
		const say = reporterOf(String(click.click_hash));
		await settlePostbacks(deps(), [say("pending", 1_000)]);
		const overtaken = databaseThat(async (write) => {
			if (write === 1) await settlePostbacks(deps(), [say("void", 3_000)]);
		});
		await settlePostbacks(deps(overtaken), [say("paid", 2_000)]);
		expect(await readAll("SELECT status, version FROM conversions")).toEqual([{ status: "cancelled", version: 3 }]);
		expect(await readAll("SELECT kind FROM conversion_events ORDER BY seq")).toMatchObject([
			{ kind: "received" },
			{ kind: "attributed" },
			{ kind: "changed" },
			{ kind: "late" },
		]);
		expect(await readAll("SELECT * FROM callbacks")).toEqual([]);
	});

	test("nor by one that has nothing to tell: a repetition that is overtaken does not bring the old state back", async () => {
		const click = clickRow();
		await storeClicks(click);
		const say = reporterOf(String(click.click_hash));
		await settlePostbacks(deps(), [say("paid", 1_000)]);
		const overtaken = databaseThat(async (write) => {
			if (write === 1) await settlePostbacks(deps(), [say("void", 3_000)]);
		});
		await settlePostbacks(deps(overtaken), [say("paid", 2_000)]);
		expect(await readAll("SELECT status FROM conversions")).toEqual([{ status: "cancelled" }]);
		expect(await readAll("SELECT status FROM callbacks ORDER BY seq")).toEqual([{ status: "approved" }, { status: "cancelled" }]);
	});

	test("so does an operator's word that is overtaken by a postback: the conversion has what both say", async () => {
		const click = clickRow();
		await storeClicks(click);
		const say = reporterOf();
		await settlePostbacks(deps(), [say("pending", 1_000)]);
		const overtaken = databaseThat(async (write) => {
			if (write === 1) await settlePostbacks(deps(), [say("paid", 2_000)]);
		});
		const judgement = await attachConversion(deps(overtaken), { platform: "west", txnid: "a" }, String(click.id), "adjustment-1");
		expect(judgement).toMatchObject({ changed: true, conversion: { status: "approved", clickId: click.id, version: 3 } });
		expect(await readAll("SELECT status, click_id, version FROM conversions")).toEqual([
			{ status: "approved", click_id: click.id, version: 3 },
		]);
		expect(await readAll("SELECT status FROM callbacks")).toEqual([{ status: "approved" }]);
	});

	test("but a verdict that was chosen by a version is not given to another", async () => {
		const click = clickRow();
		await storeClicks(click);
		const say = reporterOf(String(click.click_hash));
		await settlePostbacks(deps(), [say("pending", 1_000)]);
		const overtaken = databaseThat(async (write) => {
			if (write === 1) await settlePostbacks(deps(), [say("paid", 2_000)]);
		});
		const key = { platform: "west", txnid: "a" };
		await expect(judgeConversion(deps(overtaken), key, "voided", "adjustment-1", { ofVersion: 1 })).rejects.toThrow(OvertakenError);
		expect(await readAll("SELECT status, verdict, version FROM conversions")).toEqual([{ status: "approved", verdict: null, version: 2 }]);
	});

	test("a consumer that ends between the transaction and the acknowledgement changes nothing when it comes again", async () => {
		const click = clickRow();
		await storeClicks(click);
		const message = postbackMessage("west", { txnid: "a", cid: String(click.click_hash) });
		await settlePostbacks(deps(), [message]);
		const before = await everything();
		expect(await consume(message)).toEqual({ acked: 1, retried: 0 });
		expect(await everything()).toEqual(before);
	});

	test("a CALLBACKS queue that fails leaves what is due in the outbox", async () => {
		const click = clickRow();
		await storeClicks(click);
		const callbacks = { sendBatch: () => Promise.reject(new Error("queue away")) };
		await settlePostbacks({ ...deps(), callbacks }, [postbackMessage("west", { txnid: "a", cid: String(click.click_hash) })]);
		expect(await readAll("SELECT state FROM callbacks")).toEqual([{ state: "due" }]);
	});

	test("a conversion that the sweep cannot settle holds up no other", async () => {
		const click = clickRow();
		const say = (txnid: string) => postbackMessage("west", { txnid, cid: String(click.click_hash) }, Date.now() - 600_000);
		await consume(say("a"), say("poison"), say("b"));
		await env.DB.prepare("UPDATE conversions SET retry_at = 1").run();
		await storeClicks(click);
		await failWrites("INSERT ON callbacks", "new.txnid = 'poison'");
		await sweepConversions(deps());
		expect(await readAll("SELECT txnid FROM conversions WHERE stage = 'settled' ORDER BY txnid")).toEqual([{ txnid: "a" }, { txnid: "b" }]);
		await stopFailing();
		await sweepConversions(deps());
		expect(await readAll("SELECT txnid FROM conversions WHERE stage = 'settled'")).toHaveLength(3);
	});

	test.each([1, 2, 20])("%i platforms with thousands that are looked at again leave room in each sweep for the others'", async (many) => {
		const click = clickRow();
		await consume(postbackMessage("west", { txnid: "one", cid: String(click.click_hash) }, Date.now() - 600_000));
		await storeClicks(click);
		await env.DB.prepare("UPDATE conversions SET retry_at = 2").run();
		await env.DB.prepare(
			`INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, event_count,
				first_received_at, updated_at, retry_at)
			SELECT 'north-' || CASE WHEN ?3 < 3 THEN key / 1001 ELSE key % CAST(?3 AS INTEGER) END, 'many-' || key, 'none', 'waiting', 'approved', 0, 0, ?1, 1, 'USD', 0, ?1, ?1, 1 FROM json_each(?2)`,
		)
			.bind(Date.now() - 600_000, JSON.stringify(Array.from({ length: many < 3 ? 1_001 * many : 1_001 }, () => 0)), many)
			.run();
		let batches = 0;
		await sweepConversions(deps(), () => batches++ === 0);
		expect(await readAll("SELECT stage FROM conversions WHERE txnid = 'one'")).toEqual([{ stage: "settled" }]);
	});

	test("the sweep looks at no quarantined conversion for another currency's rate of that day", async () => {
		const click = clickRow();
		await storeClicks(click);
		const eventAt = Date.parse("2026-11-09T12:00:00Z");
		await consume(postbackMessage("west", { txnid: "a", cid: String(click.click_hash), currency: "DOUBLOON", eventAt }));
		expect(await readAll("SELECT stage FROM conversions")).toEqual([{ stage: "quarantined" }]);
		await env.DB.prepare("INSERT INTO exchange_rates VALUES ('CHF 2026-11-09', 'CHF', '2026-11-09', 1100000000)").run();
		const log = vi.spyOn(console, "log").mockImplementation(() => {});
		await sweepConversions(deps());
		expect(log).not.toHaveBeenCalled();
		await env.DB.prepare("INSERT INTO exchange_rates VALUES ('DOUBLOON 2026-11-09', 'DOUBLOON', '2026-11-09', 2000000000)").run();
		await sweepConversions(deps());
		expect(log).toHaveBeenCalledOnce();
		expect(await readAll("SELECT stage FROM conversions")).toEqual([{ stage: "settled" }]);
	});

	test("a batch of the largest messages there can be is settled in parts", async () => {
		const text = "x".repeat(30_000);
		const messages = Array.from({ length: 100 }, (_, at) => {
			const message = postbackMessage("west", { txnid: `large-${at}` });
			return { ...message, intake: { ...message.intake, query: text } };
		});
		expect(await consume(...messages)).toEqual({ acked: 100, retried: 0 });
		expect(await readAll("SELECT count(*) AS n FROM conversions")).toEqual([{ n: 100 }]);
	});
});
