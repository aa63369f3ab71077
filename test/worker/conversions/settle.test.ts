/** Settling: what postbacks make of conversions, on the real database, through the real consumer. */
import { createExecutionContext, createScheduledController, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Conversion } from "../../../src/conversions/conversion.ts";
import { type Judgement, judgeConversion } from "../../../src/conversions/judge-conversion.ts";
import { readLedgerState } from "../../../src/conversions/read-ledger-state.ts";
import { WITH_RATE_BY_NOW } from "../../../src/conversions/sweep-conversions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import worker from "../../../src/worker.ts";
import {
	type ClickFields,
	clickRow,
	consume,
	importConversionNetwork,
	postbackMessage,
	QUIET_ENV,
	readAll,
	storeClicks,
} from "../../support/conversions.ts";
import { ON_D1 } from "../../support/engine.ts";
import { importFile } from "../../support/network-import.ts";
import { planOf } from "../../support/plan-of.ts";
import { countRows } from "../../support/row-counts.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Message = ReturnType<typeof postbackMessage>;
type Postback = NonNullable<Message["postback"]>;

let number = 0;
const newTxnid = () => `t-${++number}`;

/** A click, stored, and postbacks about it. */
async function clicked(fields: ClickFields = {}) {
	const click = clickRow(fields);
	await storeClicks(click);
	const txnid = newTxnid();
	const platform = String(fields.platform ?? "west");
	const say = (postback: Partial<Postback> = {}, receivedAt = Date.now()) =>
		postbackMessage(platform, { txnid, cid: String(click.click_hash), ...postback }, receivedAt);
	return { click, txnid, say };
}

async function stored(txnid: string, platform = "west"): Promise<Record<string, unknown> | undefined> {
	return (await readAll("SELECT * FROM conversions WHERE platform = ? AND txnid = ?", platform, txnid))[0];
}

function callbacksOf(txnid: string) {
	return readAll("SELECT seq, status, payout_micros, state FROM callbacks WHERE txnid = ? ORDER BY seq", txnid);
}

async function kindsOf(txnid: string): Promise<unknown[]> {
	return (await readAll("SELECT kind FROM conversion_events WHERE txnid = ? ORDER BY seq", txnid)).map(({ kind }) => kind);
}

/** What a source of traffic has in the daily sums: each test's click has its own. */
function sumsOf({ source_id }: ClickFields) {
	return readAll(
		"SELECT date, conversion_count AS n, conversion_revenue_micros AS revenue, gross_micros AS gross, sales_micros AS sales FROM daily_sources WHERE source_id = ? AND conversion_count <> 0 ORDER BY date",
		String(source_id),
	);
}

/** The publisher has confirmed all that it is owed. */
function hear(txnid: string): Promise<unknown> {
	return env.DB.prepare("UPDATE callbacks SET state = 'delivered', exposures = 1 WHERE txnid = ?").bind(txnid).run();
}

function setAmendments(mode: "none" | "pair"): Promise<unknown> {
	return env.DB.prepare("UPDATE publishers SET amendments = ? WHERE id = 'cpa'").bind(mode).run();
}

type JudgeOptions = Parameters<typeof judgeConversion>[4];

function judge(txnid: string, verdict: "voided" | "released" | null, options?: JudgeOptions): Promise<Judgement | null> {
	const deps = { db: openDatabase(env.DB), callbacks: undefined, now: () => Date.now() };
	return judgeConversion(deps, { platform: "west", txnid }, verdict, "adjustment-1", options);
}

/** The adjustment's own row. */
function note({ publisherRevenueMicros }: Judgement) {
	return [
		sql`INSERT INTO adjustments (id, kind, actor, at, text, request, publisher_revenue_micros)
			VALUES ('adjustment-1', 'void_conversion', 'test', 0, '', '{}', ${publisherRevenueMicros})`,
	];
}

function at(time: number): void {
	vi.useFakeTimers({ toFake: ["Date"], now: time });
}

async function runCron(): Promise<void> {
	const ctx = createExecutionContext();
	await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), QUIET_ENV);
	await waitOnExecutionContext(ctx);
}

describe("worker: settling", () => {
	beforeAll(importConversionNetwork);
	afterEach(() => {
		vi.useRealTimers();
		vi.restoreAllMocks();
	});

	test("the same content again has no effect, but is in the intake ledger", async () => {
		const { click, txnid, say } = await clicked();
		await consume(say());
		const before = [await sumsOf(click), await callbacksOf(txnid), await kindsOf(txnid)];
		await consume(say(), say());
		expect([await sumsOf(click), await callbacksOf(txnid), await kindsOf(txnid)]).toEqual(before);
		expect(await readAll("SELECT id FROM postback_intake WHERE txnid = ?", txnid)).toHaveLength(3);
	});

	test("one that the queue took too late counts, though it was answered as failed meanwhile", async () => {
		const { txnid, say } = await clicked();
		const accepted = say();
		const failed = { ...accepted, intake: { ...accepted.intake, outcome: "failed" as const, answer: "{}" }, postback: null };
		await consume(accepted, failed, accepted);
		expect(await readAll("SELECT stage FROM conversions WHERE txnid = ?", txnid)).toEqual([{ stage: "settled" }]);
	});

	test("a redelivered message has no effect, also after a newer one", async () => {
		const { txnid, say } = await clicked();
		const pending = say({ status: "pending" }, NOW);
		const approved = say({ status: "approved" }, NOW + 1);
		await consume(pending);
		await consume(approved, pending);
		expect(await consume(pending, approved)).toEqual({ acked: 2, retried: 0 });
		expect(await stored(txnid)).toMatchObject({ status: "approved" });
		expect(await kindsOf(txnid)).toEqual(["received", "attributed", "changed"]);
		expect(await callbacksOf(txnid)).toHaveLength(1);
	});

	test("a changed status or payout is a new event, and the daily sums follow", async () => {
		const { click, txnid, say } = await clicked();
		await consume(say({ status: "hold", salesMicros: 50_000_000 }));
		expect(await sumsOf(click)).toEqual([{ date: "2026-11-10", n: 1, revenue: 8_000_000, gross: 10_000_000, sales: 50_000_000 }]);
		await consume(say({ status: "paid", payoutMicros: 12_000_000 }));
		expect(await sumsOf(click)).toEqual([{ date: "2026-11-10", n: 1, revenue: 9_600_000, gross: 12_000_000, sales: 50_000_000 }]);
		await consume(say({ status: "reversed", payoutMicros: 12_000_000 }));
		expect(await sumsOf(click)).toEqual([]);
		expect(await kindsOf(txnid)).toEqual(["received", "attributed", "changed", "changed"]);
	});

	test("a changed event date moves the contribution", async () => {
		const { click, say } = await clicked();
		await consume(say());
		await consume(say({ eventAt: Date.parse("2026-11-12T23:59:59.999Z") }));
		expect(await sumsOf(click)).toEqual([{ date: "2026-11-12", n: 1, revenue: 8_000_000, gross: 10_000_000, sales: 0 }]);
	});

	test("an older postback that arrives late changes nothing, and is in the history", async () => {
		const { click, txnid, say } = await clicked();
		const older = say({ payoutMicros: 1_000_000, status: "pending" }, NOW);
		await consume(say({ payoutMicros: 2_000_000 }, NOW + 5_000));
		const before = await sumsOf(click);
		await consume(older);
		expect(await stored(txnid)).toMatchObject({ payout_micros: 2_000_000, status: "approved", first_received_at: NOW });
		expect(await sumsOf(click)).toEqual(before);
		expect(await kindsOf(txnid)).toEqual(["received", "attributed", "late"]);
	});

	test("one that repeats an older state is still the newest word", async () => {
		const { txnid, say } = await clicked();
		await consume(say({ status: "pending" }, NOW));
		await consume(say({ status: "pending" }, NOW + 2));
		await consume(say({ status: "paid" }, NOW + 1));
		expect(await stored(txnid)).toMatchObject({ status: "pending" });
	});

	test("several postbacks of a transaction in one batch are taken in the order in which they came in", async () => {
		const { click, txnid, say } = await clicked();
		await consume(say({ status: "void" }, NOW + 2), say({ status: "pending" }, NOW), say({ status: "paid" }, NOW + 1));
		expect(await stored(txnid)).toMatchObject({ status: "cancelled", event_count: 4 });
		expect(await callbacksOf(txnid)).toMatchObject([
			{ seq: 1, status: "approved" },
			{ seq: 2, status: "cancelled" },
		]);
		expect(await sumsOf(click)).toEqual([]);
	});

	test("equal transaction ids of two platforms are two conversions", async () => {
		const west = await clicked();
		const east = clickRow({ platform: "east", campaign_id: 12, brand_id: 2 });
		await storeClicks(east);
		await consume(
			west.say(),
			postbackMessage("east", { txnid: west.txnid, cid: String(east.click_hash), currency: "USD", payoutMicros: 5_000_000 }),
		);
		expect(await stored(west.txnid)).toMatchObject({ revenue_micros: 8_000_000 });
		expect(await stored(west.txnid, "east")).toMatchObject({ revenue_micros: 4_000_000 });
	});

	test("two transactions on one click are two conversions", async () => {
		const { click, say } = await clicked();
		await consume(say(), say({ txnid: newTxnid() }));
		expect(await sumsOf(click)).toMatchObject([{ n: 2, revenue: 16_000_000 }]);
	});

	test("an event dated before its click is accepted", async () => {
		const { txnid, say } = await clicked({ clicked_at: Date.parse("2026-11-11T00:00:00Z") });
		await consume(say({ eventAt: Date.parse("2026-11-01T00:00:00Z") }));
		expect(await stored(txnid)).toMatchObject({ stage: "settled" });
	});

	describe("attribution", () => {
		test("by click hash in any letter case, before the publisher's click id", async () => {
			const { click, txnid, say } = await clicked();
			await storeClicks(clickRow({ publisher_click_id: String(click.click_hash).toUpperCase() }));
			await consume(say({ cid: String(click.click_hash).toUpperCase() }));
			expect(await stored(txnid)).toMatchObject({
				attribution: "click_hash",
				click_id: click.id,
				publisher_click_id: click.publisher_click_id,
			});
		});

		test("by the publisher's click id where one click has it", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say({ cid: String(click.publisher_click_id) }));
			expect(await stored(txnid)).toMatchObject({ attribution: "publisher_click_id", click_id: click.id });
		});

		test("not by the publisher's click id where the platform's setting says so", async () => {
			const { click, txnid, say } = await clicked();
			await env.DB.prepare("UPDATE platforms SET match_by_publisher_click_id = 0 WHERE id = 'west'").run();
			await consume(say({ cid: String(click.publisher_click_id) }));
			expect(await stored(txnid)).toMatchObject({ stage: "waiting", click_id: null });
			await env.DB.prepare("UPDATE platforms SET match_by_publisher_click_id = 1 WHERE id = 'west'").run();
			await consume(say({ cid: String(click.publisher_click_id) }));
			expect(await stored(txnid)).toMatchObject({ stage: "settled", attribution: "publisher_click_id" });
		});

		test("not where it was clicked only after the sale was told of, nor by what programs write for no id", async () => {
			at(NOW);
			const [{ txnid }, none] = [
				await clicked({ publisher_click_id: "told-first", clicked_at: NOW }),
				await clicked({ publisher_click_id: "null" }),
			];
			await consume(postbackMessage("west", { txnid, cid: "told-first" }, NOW - HOUR), none.say({ cid: "null" }));
			expect(await stored(txnid)).toMatchObject({ stage: "waiting", click_id: null });
			expect(await stored(none.txnid)).toMatchObject({ stage: "waiting", click_id: null });
		});

		test("not where it had named a sale of the platform before it was clicked: whoever clicks by such a word would have all that nobody brought", async () => {
			at(NOW);
			const first = newTxnid();
			await consume(postbackMessage("west", { txnid: first, cid: "leaflet" }, NOW - HOUR));
			await consume(postbackMessage("east", { txnid: first, cid: "newsletter" }, NOW - HOUR));
			const word = await clicked({ publisher_click_id: "leaflet", clicked_at: NOW - HOUR / 2 });
			const own = await clicked({ publisher_click_id: "newsletter", clicked_at: NOW - HOUR / 2 });
			await consume(word.say({ cid: "leaflet" }), own.say({ cid: "newsletter" }));
			expect(await stored(word.txnid)).toMatchObject({ stage: "waiting", click_id: null });
			expect(await stored(own.txnid)).toMatchObject({ attribution: "publisher_click_id", click_id: own.click.id });
			const again = await clicked();
			await consume(postbackMessage("west", { txnid: again.txnid, cid: "newsletter" }, NOW));
			expect(await stored(again.txnid)).toMatchObject({ attribution: "publisher_click_id", click_id: own.click.id });
		});

		test("nor where that word looks like a hash: what is of 32 characters, such as the MD5 of nothing", async () => {
			at(NOW);
			for (const cid of ["d41d8cd98f00b204e9800998ecf8427e", "newsletter-of-november-and-later"]) {
				await consume(postbackMessage("west", { txnid: newTxnid(), cid }, NOW - 2 * HOUR));
				const { txnid, say } = await clicked({ publisher_click_id: cid, clicked_at: NOW - HOUR });
				await consume(postbackMessage("west", { ...say().postback, cid }, NOW - HOUR / 2));
				expect([cid, await stored(txnid)]).toMatchObject([cid, { stage: "waiting", click_id: null }]);
			}
		});

		test("looking at a bounded number of the sales that a click has brought", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say());
			const row = (await stored(txnid)) ?? {};
			const columns = Object.keys(row).join(", ");
			const copied = Object.keys(row).map((name) => (name === "txnid" ? "txnid || '-' || atom" : name));
			const numbers = JSON.stringify(Array.from({ length: 5_000 }, (_, n) => n));
			await env.DB.prepare(
				`INSERT INTO conversions (${columns}) SELECT ${copied.join(", ")} FROM conversions, json_each(?) WHERE txnid = ?`,
			)
				.bind(numbers, txnid)
				.run();
			// PostgreSQL reads a small table whole.
			const { client, counted } = ON_D1 ? countRows(env.DB, false) : { client: env.DB, counted: [] };
			const { postback } = say({ txnid: newTxnid() });
			const ledger = await readLedgerState(openDatabase(client), postback === null ? {} : { postbacks: [{ platform: "west", postback }] });
			expect(ledger.findClick("west", String(click.click_hash), NOW)).toMatchObject({ click: { id: click.id } });
			expect(counted.filter(({ rows }) => rows > 3_000)).toEqual([]);
			await env.DB.prepare("DELETE FROM conversions WHERE cid = ?").bind(click.click_hash).run();
		});

		test("not where two publishers have used it, whatever became of their clicks", async () => {
			const { click, txnid, say } = await clicked();
			await storeClicks(clickRow({ publisher_id: "quiet", reason: "bot", publisher_click_id: String(click.publisher_click_id) }));
			await consume(say({ cid: String(click.publisher_click_id) }));
			expect(await stored(txnid)).toMatchObject({ stage: "waiting", click_id: null });
		});

		test("not where two clicks have it, or thousands", async () => {
			const { txnid, say } = await clicked({ publisher_click_id: "shared" });
			await storeClicks(...Array.from({ length: 60 }, () => clickRow({ publisher_click_id: "shared" })));
			await consume(say({ cid: "shared" }));
			expect(await stored(txnid)).toMatchObject({ stage: "waiting", click_id: null });
		});

		test("not to a click on another platform's campaign", async () => {
			const { say, txnid } = await clicked({ platform: "east" });
			const { postback } = say();
			at(NOW);
			await consume(postbackMessage("west", { ...postback, txnid }, NOW - 25 * HOUR));
			expect(await stored(txnid)).toMatchObject({ stage: "unmatched", click_id: null });
			expect(await readAll("SELECT details ->> 'why' AS why FROM conversion_events WHERE txnid = ? AND kind = 'unmatched'", txnid)).toEqual(
				[{ why: "other_platform" }],
			);
		});

		test("a billed click goes before the other redirects of its hash", async () => {
			const { click, txnid, say } = await clicked();
			const twin = (reason: string, clicked_at: number) => clickRow({ click_hash: String(click.click_hash), reason, clicked_at });
			await storeClicks(twin("head", 1), twin("duplicate", 2), ...Array.from({ length: 20 }, (_, at) => twin("bot", at)));
			await consume(say());
			expect(await stored(txnid)).toMatchObject({ click_id: click.id });
		});

		test("an expired click still earns its publisher the conversion", async () => {
			const { txnid, say } = await clicked({ reason: "expired" });
			await consume(say());
			expect(await stored(txnid)).toMatchObject({ stage: "settled", revenue_micros: 8_000_000 });
		});

		test("a conversion stays with its click, whatever cid comes later", async () => {
			const { click, txnid, say } = await clicked();
			const other = clickRow({ publisher_id: "quiet" });
			await storeClicks(other);
			await consume(say());
			await consume(say({ cid: String(other.click_hash) }));
			expect(await stored(txnid)).toMatchObject({ click_id: click.id, publisher_id: "cpa", cid: other.click_hash });
		});
	});

	describe("a postback that outruns its click", () => {
		const cases = [
			["soon", 2 * MINUTE, "settled"],
			["within the day", 23.5 * HOUR, "settled"],
		] as const;
		test.each(cases)("settles when the click comes %s", async (_, delay, stage) => {
			at(NOW);
			const click = clickRow({ clicked_at: NOW - 1_000 });
			const txnid = newTxnid();
			await consume(postbackMessage("west", { txnid, cid: String(click.click_hash) }, NOW));
			expect(await stored(txnid)).toMatchObject({ stage: "waiting", retry_at: NOW + MINUTE });
			expect(await callbacksOf(txnid)).toEqual([]);
			await storeClicks(click);
			at(NOW + delay);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage, retry_at: null });
			expect(await kindsOf(txnid)).toEqual(["received", "attributed"]);
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved" }]);
		});

		test("is not another's who called a link with that hash as its click id", async () => {
			at(NOW);
			const click = clickRow();
			const txnid = newTxnid();
			await storeClicks(clickRow({ publisher_click_id: String(click.click_hash) }));
			await consume(postbackMessage("west", { txnid, cid: String(click.click_hash) }, NOW));
			expect(await stored(txnid)).toMatchObject({ stage: "waiting" });
			await storeClicks(click);
			at(NOW + 2 * MINUTE);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "settled", attribution: "click_hash", click_id: click.id });
		});

		test("a publisher's click id that looks like a hash counts once no click came by that hash", async () => {
			at(NOW);
			const own = "0123456789ABCDEF0123456789abcdef";
			const click = clickRow({ publisher_click_id: own });
			const txnid = newTxnid();
			await storeClicks(click);
			await consume(postbackMessage("west", { txnid, cid: own }, NOW));
			at(NOW + 15 * MINUTE - 1);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "waiting" });
			at(NOW + 15 * MINUTE);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "settled", attribution: "publisher_click_id", click_id: click.id });
		});

		test("is unmatched after 24 hours, kept, and still found by a click from a replayed dead letter or by its next postback", async () => {
			at(NOW);
			const [click, other] = [clickRow(), clickRow()];
			const [txnid, otherTxnid] = [newTxnid(), newTxnid()];
			await consume(
				postbackMessage("west", { txnid, cid: String(click.click_hash) }, NOW),
				postbackMessage("west", { txnid: otherTxnid, cid: String(other.click_hash) }, NOW),
			);
			at(NOW + 24 * HOUR - 1);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "waiting" });
			at(NOW + 24 * HOUR);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "unmatched", status: "approved", payout_micros: 10_000_000 });
			await storeClicks(click, other);
			await consume(postbackMessage("west", { txnid: otherTxnid, cid: String(other.click_hash) }, NOW + 24 * HOUR));
			expect(await stored(otherTxnid)).toMatchObject({ stage: "settled" });
			at(NOW + 48 * HOUR);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "settled" });
			expect(await kindsOf(txnid)).toEqual(["received", "unmatched", "attributed"]);
		});

		test("is looked at again by the queue, seconds later", async () => {
			const click = clickRow();
			const txnid = newTxnid();
			await consume(postbackMessage("west", { txnid, cid: String(click.click_hash) }));
			await storeClicks(click);
			await consume({ format: 1, kind: "look_again", platform: "west", txnid });
			expect(await stored(txnid)).toMatchObject({ stage: "settled" });
		});
	});

	describe("currencies", () => {
		const eur = (fields: Partial<Postback> = {}) => ({ currency: "EUR", salesMicros: 100_000_000, ...fields });

		test("payout and sales convert by the rate of the event's day, rounded half up to four decimals", async () => {
			const { txnid, say } = await clicked();
			await consume(say(eur({ payoutMicros: 10_010_100 })));
			expect(await stored(txnid)).toMatchObject({
				usd_nanos: 1_100_000_000,
				gross_micros: 11_011_100,
				sales_usd_micros: 110_000_000,
				revenue_micros: 8_808_900,
			});
		});

		test("a postback that names no currency is in its platform's", async () => {
			const { txnid, say } = await clicked({ platform: "east" });
			await consume(say());
			expect(await stored(txnid, "east")).toMatchObject({ currency: "EUR", gross_micros: 11_000_000 });
		});

		test("without a rate of that day it is quarantined; an import releases it within a minute", async () => {
			const { click, txnid, say } = await clicked();
			const eventAt = Date.parse("2026-11-09T23:59:59.999Z");
			await consume(say(eur({ eventAt })));
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined", gross_micros: null, revenue_micros: null, publisher_id: "cpa" });
			expect([await sumsOf(click), await callbacksOf(txnid)]).toEqual([[], []]);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined" });
			await importFile({ exchange_rates: [{ currency: "EUR", date: "2026-11-09", usd: "1.2" }] });
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "settled", gross_micros: 12_000_000, revenue_micros: 9_600_000 });
			expect(await kindsOf(txnid)).toEqual(["received", "attributed", "quarantined", "released"]);
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved", payout_micros: 9_600_000 }]);
		});

		test("a currency that nobody knows waits too", async () => {
			const { txnid, say } = await clicked();
			await consume(say({ currency: "DOUBLOON" }));
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined", currency: "DOUBLOON" });
			await consume(say({ currency: "USD" }));
			expect(await stored(txnid)).toMatchObject({ stage: "settled", gross_micros: 10_000_000 });
		});

		test("a settled one whose currency becomes unknown leaves the sums; its cancellation needs no rate", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say());
			await consume(say({ currency: "XYZ" }));
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined" });
			expect(await sumsOf(click)).toEqual([]);
			await consume(say({ currency: "XYZ", status: "void" }));
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved" }, { status: "cancelled", payout_micros: 8_000_000 }]);
		});

		test("what names none is in the currency that the platform had when the conversion was first reported", async () => {
			const { click, txnid, say } = await clicked();
			const setCurrency = (currency: string) => env.DB.prepare("UPDATE platforms SET currency = ? WHERE id = 'west'").bind(currency).run();
			await consume(say({}, NOW));
			await setCurrency("EUR");
			await consume(say({ payoutMicros: 12_000_000 }, NOW + 1), say({ status: "void" }, NOW + 2), say({}, NOW + 3));
			expect(await stored(txnid)).toMatchObject({ currency: "USD", status: "cancelled" });
			await consume(say({ payoutMicros: 13_000_000 }, NOW + 4));
			expect(await stored(txnid)).toMatchObject({ currency: "USD", gross_micros: 13_000_000, status: "approved" });
			expect(await sumsOf(click)).toMatchObject([{ gross: 13_000_000 }]);
			await setCurrency("USD");
		});

		test("a credit that loses its rate is told of as one that needs a person", async () => {
			const log = vi.spyOn(console, "log");
			const { txnid, say } = await clicked();
			const lines = () => log.mock.calls.map(([line]) => String(line)).filter((line) => line.includes("conversion.credit_without_rate"));
			await consume(say({}, NOW));
			await consume(say({ currency: "XYZ" }, NOW + 1));
			await consume(say({ currency: "XYZ", s2: "again" }, NOW + 2));
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined", held_for: "no_rate", credited: 1 });
			expect(lines().map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ platform: "west", txnid, publisher: "cpa" })]);
			await consume(say({ currency: "XYZ", status: "void" }, NOW + 3));
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined", status: "cancelled", credited: 0 });
			const other = await clicked();
			await consume(other.say({ currency: "XYZ" }, NOW));
			expect(await stored(other.txnid)).toMatchObject({ held_for: "no_rate", credited: 0 });
			expect(lines()).toHaveLength(1);
		});

		test("a rate that was applied stays, as long as currency and day do", async () => {
			const { txnid, say } = await clicked();
			const eventAt = Date.parse("2026-11-08T00:00:00Z");
			await importFile({ exchange_rates: [{ currency: "EUR", date: "2026-11-08", usd: "1.5" }] });
			await consume(say(eur({ eventAt })));
			await importFile({ exchange_rates: [{ currency: "EUR", date: "2026-11-08", usd: "2" }] });
			await consume(say(eur({ eventAt, payoutMicros: 20_000_000 })));
			expect(await stored(txnid)).toMatchObject({ gross_micros: 30_000_000 });
		});
	});

	describe("what a conversion earns", () => {
		test("a CPC publisher nothing, without a callback; it counts", async () => {
			const { click, txnid, say } = await clicked({ publisher_id: "cpc" });
			await consume(say());
			expect(await stored(txnid)).toMatchObject({ stage: "settled", revenue_micros: 0, gross_micros: 10_000_000, pricing_model: "CPC" });
			expect(await callbacksOf(txnid)).toEqual([]);
			expect(await sumsOf(click)).toEqual([{ date: "2026-11-10", n: 1, revenue: 0, gross: 10_000_000, sales: 0 }]);
		});

		test("on a test click nothing, and it counts nowhere: settled and marked", async () => {
			const { click, txnid, say } = await clicked({ reason: "test" });
			await consume(say());
			expect(await stored(txnid)).toMatchObject({ stage: "settled", test: 1, revenue_micros: 0 });
			expect([await callbacksOf(txnid), await sumsOf(click)]).toEqual([[], []]);
		});

		test.each(["bot", "no_user_agent", "prefetch", "embedded", "head"])(
			"nothing on the click of a test bid that is unpaid as %s",
			async (reason) => {
				const { click, txnid, say } = await clicked({ kind: "openrtb", bid_micros: 0, reason });
				await consume(say());
				expect(await stored(txnid)).toMatchObject({ stage: "settled", test: 1, revenue_micros: 0 });
				expect([await callbacksOf(txnid), await sumsOf(click)]).toEqual([[], []]);
			},
		);

		test("nothing where the payout is zero, and the publisher is told of it", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say({ payoutMicros: 0 }));
			expect(await sumsOf(click)).toEqual([{ date: "2026-11-10", n: 1, revenue: 0, gross: 0, sales: 0 }]);
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved", payout_micros: 0 }]);
		});

		test("sales below zero are none, and lower nothing", async () => {
			const { click, say } = await clicked();
			await consume(say({ salesMicros: -5_000_000 }));
			expect(await sumsOf(click)).toMatchObject([{ n: 1, gross: 10_000_000, sales: 0 }]);
		});

		test("a negative payout takes the conversion back, and is never a debit", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say());
			await consume(say({ payoutMicros: -10_000_000 }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", payout_micros: -10_000_000 });
			expect(await sumsOf(click)).toEqual([]);
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved" }, { status: "cancelled", payout_micros: 8_000_000 }]);
		});

		test("the share and pricing model of the day it was attributed, whatever an import changes", async () => {
			const { txnid, say } = await clicked();
			await consume(say());
			await env.DB.prepare("UPDATE publishers SET revenue_share_ppm = 100000, pricing_model = 'CPC' WHERE id = 'cpa'").run();
			await consume(say({ payoutMicros: 20_000_000 }));
			expect(await stored(txnid)).toMatchObject({ revenue_micros: 16_000_000, revenue_share_ppm: 800_000 });
			await env.DB.prepare("UPDATE publishers SET revenue_share_ppm = 800000, pricing_model = 'CPA' WHERE id = 'cpa'").run();
		});
	});

	describe("what the publisher is told", () => {
		test("a credit when first approved, a cancellation, a credit again when reopened; pending says nothing", async () => {
			const { txnid, say } = await clicked();
			for (const status of ["pending", "paid", "confirmed", "pending", "paid", "void", "rejected", "pending", "open", "paid"])
				await consume(say({ status }));
			expect(await callbacksOf(txnid)).toEqual([
				{ seq: 1, status: "approved", payout_micros: 8_000_000, state: "due" },
				{ seq: 2, status: "cancelled", payout_micros: 8_000_000, state: "due" },
				{ seq: 3, status: "approved", payout_micros: 8_000_000, state: "due" },
			]);
		});

		test("nothing of one that is cancelled before it was approved", async () => {
			const { txnid, say } = await clicked();
			await consume(say({ status: "pending" }));
			await consume(say({ status: "rejected" }));
			expect(await callbacksOf(txnid)).toEqual([]);
		});

		test("no second credit where only the payout changes; the cancellation takes back what was credited", async () => {
			const { txnid, say } = await clicked();
			await consume(say());
			await hear(txnid);
			await consume(say({ payoutMicros: 20_000_000 }));
			expect(await callbacksOf(txnid)).toHaveLength(1);
			await consume(say({ payoutMicros: 0, status: "void" }));
			expect(await callbacksOf(txnid)).toMatchObject([{ payout_micros: 8_000_000 }, { status: "cancelled", payout_micros: 8_000_000 }]);
		});

		test("what it cannot have heard of carries the present amount, also where it has no address", async () => {
			for (const publisher_id of ["cpa", "quiet"]) {
				const { txnid, say } = await clicked({ publisher_id });
				await consume(say());
				await consume(say({ payoutMicros: 20_000_000, eventAt: Date.parse("2026-11-11T00:00:00Z") }));
				expect(await callbacksOf(txnid)).toMatchObject([{ seq: 1, status: "approved", payout_micros: 16_000_000 }]);
				expect(await readAll("SELECT event_at FROM callbacks WHERE txnid = ?", txnid)).toEqual([
					{ event_at: Date.parse("2026-11-11T00:00:00Z") },
				]);
				await consume(say({ payoutMicros: 5_000_000 }), say({ payoutMicros: 6_000_000 }), say({ status: "void" }));
				expect(await callbacksOf(txnid)).toMatchObject([
					{ status: "approved", payout_micros: 4_800_000 },
					{ status: "cancelled", payout_micros: 4_800_000 },
				]);
			}
		});

		test("another amount than it was credited with: by a cancellation and a credit, where it asks for that", async () => {
			const { txnid, say } = await clicked();
			await consume(say());
			await hear(txnid);
			await setAmendments("pair");
			await consume(say({ payoutMicros: 20_000_000 }));
			await consume(say({ payoutMicros: 20_000_000, s2: "x" }));
			const pair = [
				{ seq: 1, status: "approved", payout_micros: 8_000_000 },
				{ seq: 2, status: "cancelled", payout_micros: 8_000_000 },
				{ seq: 3, status: "approved", payout_micros: 16_000_000 },
			];
			expect(await callbacksOf(txnid)).toMatchObject(pair);
			await consume(say({ payoutMicros: 30_000_000 }));
			expect(await callbacksOf(txnid)).toMatchObject([...pair.slice(0, 2), { seq: 3, status: "approved", payout_micros: 24_000_000 }]);
			await hear(txnid);
			await consume(say({ payoutMicros: 40_000_000, status: "pending" }));
			expect(await callbacksOf(txnid)).toHaveLength(3);
			await consume(say({ payoutMicros: 40_000_000, status: "void" }));
			expect((await callbacksOf(txnid)).slice(3)).toMatchObject([{ seq: 4, status: "cancelled", payout_micros: 24_000_000 }]);
			await setAmendments("none");
		});

		test("what is owed to a publisher without an address is kept as such", async () => {
			const { txnid, say } = await clicked({ publisher_id: "quiet" });
			await consume(say());
			expect(await callbacksOf(txnid)).toMatchObject([{ state: "no_url" }]);
		});

		test("its own click id, or nothing where it gave none", async () => {
			const { txnid, say } = await clicked({ publisher_click_id: null });
			await consume(say());
			expect(await readAll("SELECT cid FROM callbacks WHERE txnid = ?", txnid)).toEqual([{ cid: "" }]);
		});
	});

	describe("payouts that change", () => {
		const adjust = (mode: "adjust" | "cancel") =>
			env.DB.prepare("UPDATE platforms SET negative_payout = ? WHERE id = 'west'").bind(mode).run();
		const credited = [{ status: "approved", payout_micros: 8_000_000 }];
		const takenBack = [...credited, { status: "cancelled", payout_micros: 8_000_000 }];

		test("zero after one above zero cancels, and what was credited is taken back; said again, the old one approves nothing", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say({}, NOW));
			await hear(txnid);
			await consume(say({ payoutMicros: 0 }, NOW + 1));
			expect(await stored(txnid)).toMatchObject({ stage: "settled", status: "cancelled", payout_micros: 0 });
			expect(await sumsOf(click)).toEqual([]);
			expect(await callbacksOf(txnid)).toMatchObject(takenBack);
			await consume(say({}, NOW + 2), say({ payoutMicros: 0 }, NOW + 3));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
			await consume(say({ payoutMicros: 9_000_000 }, NOW + 4));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 9_000_000 });
			expect(await callbacksOf(txnid)).toMatchObject([...takenBack, { status: "approved", payout_micros: 7_200_000 }]);
		});

		test("zero cancels also where the one above zero, older, comes after it", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say({ payoutMicros: 0 }, NOW + 1));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 0 });
			await consume(say({}, NOW));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", payout_micros: 0 });
			expect(await sumsOf(click)).toEqual([]);
			expect(await kindsOf(txnid)).toEqual(["received", "attributed", "late"]);
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved", payout_micros: 0 }, { status: "cancelled" }]);
			await consume(say({}, NOW + 2));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
		});

		test("zero after what an earlier version stored cancels", async () => {
			const { txnid, say } = await clicked();
			await consume(say());
			await env.DB.prepare("UPDATE conversions SET payouts = '', approval_hashes = '' WHERE txnid = ?").bind(txnid).run();
			await consume(say({ payoutMicros: 0 }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
		});

		/** As 0.1.0 writes a conversion beside this version: without the columns that came after it. */
		async function writeAsBefore(txnid: string, { intake, postback }: Message): Promise<void> {
			const micros = postback?.payoutMicros ?? 0;
			await env.DB.prepare(`UPDATE conversions SET payout_micros = CAST(?1 AS BIGINT), gross_micros = CAST(?1 AS BIGINT),
				revenue_micros = CAST(?2 AS BIGINT), last_intake_id = ?3, version = version + 1 WHERE txnid = ?4`)
				.bind(micros, (micros * 8) / 10, intake.id, txnid)
				.run();
		}

		test("what an earlier version wrote over this one's stands, whatever older comes, and is what corrections correct", async () => {
			await adjust("adjust");
			const { txnid, say } = await clicked();
			await consume(say({}, NOW));
			await writeAsBefore(txnid, say({ payoutMicros: 20_000_000 }, NOW + 2));
			await consume(say({ payoutMicros: 15_000_000 }, NOW + 1));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 20_000_000, revenue_micros: 16_000_000 });
			await consume(say({ payoutMicros: -1_000_000 }, NOW + 3));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 19_000_000, revenue_micros: 15_200_000 });
		});

		test("what an earlier version wrote over this one's reopens nothing when it is said again", async () => {
			const { txnid, say } = await clicked();
			const again = { payoutMicros: 20_000_000 };
			await consume(say({}, NOW));
			await writeAsBefore(txnid, say(again, NOW + 1));
			await consume(say({ ...again, status: "void" }, NOW + 2));
			await consume(say(again, NOW + 3));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
		});

		test("one below zero is a correction where the platform's setting says so, told like another amount", async () => {
			await adjust("adjust");
			const { click, txnid, say } = await clicked();
			const base = say({ salesMicros: 50_000_000 }, NOW);
			const correction = { payoutMicros: -1_000_000, status: "reversed", eventAt: Date.parse("2026-11-15T00:00:00Z") };
			await consume(base);
			await consume(say(correction, NOW + 1));
			expect(await stored(txnid)).toMatchObject({
				status: "approved",
				network_status: null,
				payout_micros: 9_000_000,
				event_at: Date.parse("2026-11-10T12:00:00Z"),
			});
			expect(await sumsOf(click)).toEqual([{ date: "2026-11-10", n: 1, revenue: 7_200_000, gross: 9_000_000, sales: 50_000_000 }]);
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved", payout_micros: 7_200_000 }]);
			const events = await kindsOf(txnid);
			expect(events).toEqual(["received", "attributed", "changed"]);
			await consume(say(correction, NOW + 2), say({ salesMicros: 50_000_000 }, NOW + 3), say(correction, NOW + 4));
			expect(await stored(txnid)).toMatchObject({ payout_micros: 9_000_000 });
			expect(await kindsOf(txnid)).toEqual(events);
			await consume(...Array.from({ length: 45 }, () => say({ salesMicros: 50_000_000 }, NOW + 4)));
			expect(await stored(txnid)).toMatchObject({ payout_micros: 9_000_000 });
			await consume(say({ payoutMicros: -9_000_000 }, NOW + 5));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", payout_micros: 0 });
			await consume(say({ salesMicros: 50_000_000 }, NOW + 6));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
			await consume(say({ payoutMicros: 20_000_000 }, NOW + 7));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 20_000_000 });
			await adjust("cancel");
		});

		test("a correction that comes before what it corrects, or after what replaced that", async () => {
			await adjust("adjust");
			const { click, txnid, say } = await clicked();
			const older = say({ payoutMicros: -2_000_000 }, NOW + 1);
			await consume(say({ payoutMicros: -1_000_000 }, NOW + 2));
			expect(await stored(txnid)).toMatchObject({ stage: "settled", status: "cancelled", payout_micros: -1_000_000 });
			expect([await sumsOf(click), await callbacksOf(txnid)]).toEqual([[], []]);
			await consume(say({}, NOW));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 9_000_000 });
			await consume(older);
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 7_000_000 });
			await consume(say({ payoutMicros: 5_000_000 }, NOW + 4));
			await consume(say({ payoutMicros: -3_000_000 }, NOW + 3));
			expect(await stored(txnid)).toMatchObject({ payout_micros: 5_000_000 });
			await adjust("cancel");
		});

		test("a correction lifts no cancellation", async () => {
			await adjust("adjust");
			const { txnid, say } = await clicked();
			await consume(say(), say({ status: "void" }), say({ payoutMicros: -1_000_000 }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
			await adjust("cancel");
		});

		test("a correction in another currency than the sale cancels", async () => {
			await adjust("adjust");
			const { txnid, say } = await clicked();
			await consume(say(), say({ payoutMicros: -1_000_000, currency: "EUR" }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", currency: "USD" });
			await adjust("cancel");
		});
	});

	describe("what is held", () => {
		const setPublisher = (status: string) => env.DB.prepare("UPDATE publishers SET status = ? WHERE id = 'cpa'").bind(status).run();

		test("an amount above the ceiling is credited to nobody until it is released, or corrected", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say({ payoutMicros: 10_000_000_100 }));
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined", held_for: "amount", status: "approved", revenue_micros: null });
			expect([await sumsOf(click), await callbacksOf(txnid)]).toEqual([[], []]);
			await runCron();
			expect(await stored(txnid)).toMatchObject({ held_for: "amount" });
			expect(await judge(txnid, "released")).toMatchObject({
				changed: true,
				previous: null,
				publisherRevenueMicros: 8_000_000_100,
				grossMicros: 10_000_000_100,
			});
			expect(await stored(txnid)).toMatchObject({ stage: "settled", held_for: null, revenue_micros: 8_000_000_100 });
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved", payout_micros: 8_000_000_100 }]);
			const other = await clicked();
			await consume(other.say({ payoutMicros: 9_000_000_000_000_000 }), other.say({ payoutMicros: 9_000_000 }));
			expect(await stored(other.txnid)).toMatchObject({ stage: "settled", revenue_micros: 7_200_000 });
		});

		test("a settled one whose payout is raised above the ceiling leaves the sums, and its cancellation is told", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say());
			await consume(say({ payoutMicros: 9_000_000_000_000_000 }));
			expect(await sumsOf(click)).toEqual([]);
			await consume(say({ payoutMicros: 9_000_000_000_000_000, status: "void" }));
			expect(await stored(txnid)).toMatchObject({ stage: "settled", held_for: null, status: "cancelled" });
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved" }, { status: "cancelled", payout_micros: 8_000_000 }]);
		});

		test.each(["embedded", "prefetch"])(
			"of a click that was %s: pending, whatever the platform says, until it is released",
			async (reason) => {
				const { click, txnid, say } = await clicked({ reason });
				await consume(say({ status: "paid" }));
				await consume(say({ status: "confirmed" }));
				await runCron();
				expect(await stored(txnid)).toMatchObject({ stage: "quarantined", held_for: "review", status: "pending" });
				expect([await sumsOf(click), await callbacksOf(txnid)]).toEqual([[], []]);
				const events = (await kindsOf(txnid)).length;
				await consume(say({ status: "confirmed" }));
				expect(await kindsOf(txnid)).toHaveLength(events);
				await judge(txnid, "released");
				expect(await stored(txnid)).toMatchObject({ stage: "settled", held_for: null, status: "approved" });
				expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved", payout_micros: 8_000_000 }]);
				await judge(txnid, null);
				expect(await stored(txnid)).toMatchObject({ held_for: "review", status: "pending", credited: 0 });
				expect(await sumsOf(click)).toEqual([]);
				expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved" }, { status: "cancelled", payout_micros: 8_000_000 }]);
			},
		);

		test("of a paid click whose bid was embedded, too: one click of one's own pays for no stuffed page", async () => {
			const { click, txnid, say } = await clicked();
			const others = Array.from({ length: 20 }, () => clickRow({ click_hash: String(click.click_hash), reason: "duplicate" }));
			await storeClicks(...others, clickRow({ click_hash: String(click.click_hash), reason: "embedded" }));
			await consume(say());
			await consume(say({ payoutMicros: 11_000_000 }));
			expect(await stored(txnid)).toMatchObject({ click_id: click.id, stage: "quarantined", held_for: "review", status: "pending" });
			expect(await callbacksOf(txnid)).toEqual([]);
			await judge(txnid, "released");
			expect(await stored(txnid)).toMatchObject({ stage: "settled", status: "approved" });
		});

		test.each(["bot", "no_user_agent", "data_centre"])("of a program's click (%s) whose bid was prefetched once", async (reason) => {
			const hash = crypto.randomUUID().replaceAll("-", "");
			const own = clickRow({ click_hash: hash, reason, pricing_model: "CPA" });
			await storeClicks(own);
			await consume(postbackMessage("west", { txnid: `${reason}-alone`, cid: hash }));
			expect(await stored(`${reason}-alone`)).toMatchObject({ click_id: own.id, stage: "settled" });
			await storeClicks(clickRow({ click_hash: hash, reason: "prefetch", pricing_model: "CPA" }));
			await consume(postbackMessage("west", { txnid: `${reason}-beside`, cid: hash }));
			expect(await stored(`${reason}-beside`)).toMatchObject({ click_id: own.id, stage: "quarantined", held_for: "review" });
		});

		test("of a paid click whose bid was prefetched more than twenty times, by visitors of whom nothing is kept", async () => {
			for (const [times, stage] of [
				[20, "settled"],
				[21, "quarantined"],
			] as const) {
				const { click, txnid, say } = await clicked();
				await storeClicks(...Array.from({ length: times }, () => clickRow({ click_hash: String(click.click_hash), reason: "prefetch" })));
				await consume(say());
				expect([times, (await stored(txnid))?.stage]).toEqual([times, stage]);
			}
		});

		test("of a paid click whose bid more than three visitors prefetched; fewer are an ad server, and the browser of the user", async () => {
			const prefetchOf = (hash: unknown) => (visitor: number) =>
				clickRow({
					...{ click_hash: String(hash), reason: "prefetch", pricing_model: "CPA" },
					...{ ip_prefix: `203.0.${visitor >> 1}.0/24`, user_agent_hash: `browser-${visitor % 2}` },
				});
			for (const [visitors, expected] of [
				[[0, 1, 2, 3], { stage: "quarantined", held_for: "review", status: "pending" }],
				// Who calls again is no other visitor, and of one that nobody knows nothing is told.
				[[0, 1, 2, 2, 2], { stage: "settled", held_for: null, status: "approved" }],
			] as const) {
				const { click, txnid, say } = await clicked();
				const unknown = Array.from({ length: 9 }, () => clickRow({ click_hash: String(click.click_hash), reason: "prefetch" }));
				await storeClicks(...visitors.map(prefetchOf(click.click_hash)), ...unknown);
				await consume(say());
				expect(await stored(txnid)).toMatchObject({ click_id: click.id, ...expected });
				expect(await callbacksOf(txnid)).toHaveLength(expected.held_for === null ? 1 : 0);
			}
		});

		test.each([
			[
				"its embedded redirect was removed with old unpaid clicks",
				["embedded"],
				"DELETE FROM clicks WHERE click_hash = ? AND reason IS NOT NULL",
			],
			[
				"who prefetched it was erased",
				["prefetch", "prefetch", "prefetch", "prefetch"],
				"UPDATE clicks SET ip_prefix = NULL, user_agent_hash = NULL WHERE click_hash = ?",
			],
		])("of a paid click whose bid was stuffed, also after %s", async (_, reasons, forget) => {
			const { click, txnid, say } = await clicked();
			const fields = (visitor: number) => ({ ip_prefix: `203.0.${visitor}.0/24`, user_agent_hash: "browser", pricing_model: "CPA" });
			await storeClicks(...reasons.map((reason, at) => clickRow({ click_hash: String(click.click_hash), reason, ...fields(at) })));
			await consume(say());
			await env.DB.prepare(forget).bind(String(click.click_hash)).run();
			await consume(say({ status: "paid", payoutMicros: 11_000_000 }));
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined", held_for: "review", status: "pending" });
			expect([await sumsOf(click), await callbacksOf(txnid)]).toEqual([[], []]);
			await consume(say({ status: "void" }));
			expect(await stored(txnid)).toMatchObject({ stage: "settled", status: "cancelled" });
		});

		const LATER = Date.parse("2026-11-12T12:00:00Z");
		type Clicked = Awaited<ReturnType<typeof clicked>>;
		test.each<[string, (of: Clicked) => Promise<unknown>, (of: Clicked) => Promise<unknown>]>([
			["an operator's void", ({ txnid }) => judge(txnid, "voided"), ({ txnid }) => judge(txnid, null)],
			["a release", ({ txnid }) => judge(txnid, "released"), ({ txnid }) => judge(txnid, null)],
			["a cancellation", ({ say }) => consume(say({ status: "void" })), ({ say }) => consume(say({ status: "paid", eventAt: LATER }))],
			["an amount", ({ say }) => consume(say({ payoutMicros: 10_000_000_100 })), ({ say }) => consume(say({ payoutMicros: 9_000_000 }))],
			["a currency without a rate", ({ say }) => consume(say({ currency: "XAU" })), ({ say }) => consume(say({ payoutMicros: 9_000_000 }))],
		])("for review, though %s comes first or between, and what spoke against its click is gone after it", async (_, begin, end) => {
			for (const isFirst of [false, true]) {
				const of = await clicked();
				const { click, txnid, say } = of;
				await storeClicks(clickRow({ click_hash: String(click.click_hash), reason: "embedded" }));
				// Of what nobody has told of there is nothing to judge.
				if (!isFirst || (await begin(of)) === null) await consume(say());
				await begin(of);
				await env.DB.prepare("DELETE FROM clicks WHERE click_hash = ? AND reason IS NOT NULL").bind(String(click.click_hash)).run();
				await end(of);
				expect(await stored(txnid)).toMatchObject({ stage: "quarantined", held_for: "review", status: "pending", credited: 0 });
				expect(await sumsOf(click)).toEqual([]);
			}
		});

		test("of a suspended publisher: pending until it is active again, then within a minute", async () => {
			const before = await clicked();
			await consume(before.say());
			await setPublisher("suspended");
			const { click, txnid, say } = await clicked();
			await consume(say(), before.say());
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined", held_for: "publisher_suspended", status: "pending" });
			expect([await sumsOf(click), await callbacksOf(txnid)]).toEqual([[], []]);
			expect(await stored(before.txnid)).toMatchObject({ stage: "settled" });
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "quarantined" });
			await setPublisher("active");
			await runCron();
			expect(await stored(txnid)).toMatchObject({ stage: "settled", status: "approved", held_for: null });
			expect(await callbacksOf(txnid)).toMatchObject([{ status: "approved" }]);
		});

		test("those of other clicks that are not paid count", async () => {
			for (const reason of ["bot", "no_user_agent", "repeat", "velocity", "country", "over_budget", "campaign_stopped"]) {
				const { txnid, say } = await clicked({ reason });
				await consume(say());
				expect(await stored(txnid), reason).toMatchObject({ stage: "settled", status: "approved", revenue_micros: 8_000_000 });
			}
		});
	});

	describe("an operator's word", () => {
		test("void: cancelled, whatever the platform says later; taken back, the conversion is what the platform said last", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say());
			expect(await judge(txnid, "voided")).toMatchObject({ changed: true, publisherRevenueMicros: -8_000_000, grossMicros: -10_000_000 });
			expect(await judge(txnid, "voided")).toMatchObject({ changed: false, previous: "voided", publisherRevenueMicros: 0 });
			await consume(say({ status: "paid", payoutMicros: 20_000_000 }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", verdict: "voided" });
			expect(await sumsOf(click)).toEqual([]);
			expect(await judge(txnid, null)).toMatchObject({ previous: "voided", publisherRevenueMicros: 16_000_000, grossMicros: 20_000_000 });
			expect(await stored(txnid)).toMatchObject({ status: "approved", verdict: null });
			expect(await callbacksOf(txnid)).toMatchObject([
				{ status: "approved", payout_micros: 8_000_000 },
				{ status: "cancelled", payout_micros: 8_000_000 },
				{ status: "approved", payout_micros: 16_000_000 },
			]);
			expect(await kindsOf(txnid)).toEqual(["received", "attributed", "judged", "changed", "judged"]);
			const judged = "SELECT details ->> 'adjustment' AS id FROM conversion_events WHERE txnid = ? AND kind = 'judged'";
			expect(await readAll(judged, txnid)).toEqual([{ id: "adjustment-1" }, { id: "adjustment-1" }]);
		});

		test("comes before its click as well", async () => {
			const click = clickRow();
			const txnid = newTxnid();
			await consume(postbackMessage("west", { txnid, cid: String(click.click_hash) }));
			expect(await judge(txnid, "voided")).toMatchObject({ changed: true, publisherRevenueMicros: 0 });
			await storeClicks(click);
			await consume({ format: 1, kind: "look_again", platform: "west", txnid });
			expect(await stored(txnid)).toMatchObject({ stage: "settled", status: "cancelled" });
			expect(await callbacksOf(txnid)).toEqual([]);
		});

		test("that finds the click counts its sales with it, where its publisher is paid by clicks", async () => {
			const click = clickRow({ publisher_id: "cpc", pricing_model: "CPC" });
			const txnid = newTxnid();
			await consume(postbackMessage("west", { txnid, cid: String(click.click_hash), salesMicros: 50_000_000, status: "pending" }));
			await storeClicks(click);
			await judge(txnid, "released");
			expect(await stored(txnid)).toMatchObject({ stage: "settled", pricing_model: "CPC" });
			expect(await sumsOf(click)).toMatchObject([{ n: 1, revenue: 0, gross: 10_000_000, sales: 50_000_000 }]);
		});

		test("of a conversion that is not there is null; a dry run says what would change, and writes nothing", async () => {
			expect(await judge("never", "voided")).toBeNull();
			const { txnid, say } = await clicked();
			await consume(say());
			const before = await stored(txnid);
			expect(await judge(txnid, "voided", { dryRun: true, alongside: note })).toMatchObject({ publisherRevenueMicros: -8_000_000 });
			expect(await stored(txnid)).toEqual(before);
			expect(await readAll("SELECT id FROM adjustments")).toEqual([]);
		});

		test("is written with what goes alongside, or not at all", async () => {
			const { txnid, say } = await clicked();
			await consume(say());
			await judge(txnid, "voided", { alongside: note });
			expect(await readAll("SELECT id, publisher_revenue_micros FROM adjustments")).toEqual([
				{ id: "adjustment-1", publisher_revenue_micros: -8_000_000 },
			]);
			await expect(judge(txnid, null, { alongside: note })).rejects.toThrow("overtaken");
			expect(await stored(txnid)).toMatchObject({ verdict: "voided" });
		});

		test("is not lost between two postbacks that are settled at the same time", async () => {
			const { txnid, say } = await clicked();
			await consume(say());
			await Promise.all([consume(say({ payoutMicros: 1_000_000 })), judge(txnid, "voided"), consume(say({ payoutMicros: 2_000_000 }))]);
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", verdict: "voided", payout_micros: 2_000_000 });
		});
	});

	describe("what was cancelled is not approved again", () => {
		const DAY = Date.parse("2026-11-10T12:00:00Z");

		test("by a repetition of what was said before, even of one that came late", async () => {
			const { click, txnid, say } = await clicked();
			const late = say({ payoutMicros: 3_000_000 }, NOW + 1);
			await consume(say({}, NOW));
			await consume(say({ status: "void" }, NOW + 2));
			await consume(late);
			await consume(say({}, NOW + 3), say({ payoutMicros: 3_000_000 }, NOW + 4));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", payout_micros: 10_000_000 });
			expect(await sumsOf(click)).toEqual([]);
			const told = "SELECT kind, details ->> 'why' AS why FROM conversion_events WHERE txnid = ? ORDER BY seq";
			expect((await readAll(told, txnid)).slice(3)).toEqual([
				{ kind: "late", why: null },
				{ kind: "late", why: "repeated" },
				{ kind: "late", why: "repeated" },
			]);
			await consume(say({ payoutMicros: 4_000_000 }, NOW + 5));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 4_000_000 });
		});

		test("by the same with the click hash in capitals", async () => {
			const { click, txnid, say } = await clicked();
			await consume(say());
			await consume(say({ status: "void" }));
			await consume(say({ cid: String(click.click_hash).toUpperCase() }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
		});

		test("by one about an earlier event; of the same moment or a later one it is", async () => {
			const { txnid, say } = await clicked();
			await consume(say({ eventAt: DAY }));
			await consume(say({ eventAt: DAY, status: "void" }));
			await consume(say({ eventAt: DAY - 1, payoutMicros: 11_000_000 }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled", event_at: DAY });
			await consume(say({ eventAt: DAY, payoutMicros: 11_000_000 }));
			expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 11_000_000 });
		});

		const ORDERS = [
			[0, 1, 2],
			[0, 2, 1],
			[1, 0, 2],
			[1, 2, 0],
			[2, 0, 1],
			[2, 1, 0],
		];
		test.each<[string, Partial<Postback>[]]>([
			["the same again", [{}, { status: "void" }, {}]],
			["an earlier event", [{ eventAt: DAY }, { eventAt: DAY, status: "void" }, { eventAt: DAY - 1, payoutMicros: 11_000_000 }]],
			["the same again after a payout of nothing", [{}, { payoutMicros: 0 }, {}]],
			["the same again after a payout below zero", [{}, { payoutMicros: -10_000_000 }, {}]],
		])("by %s, in whatever order the queue brings them", async (_, said) => {
			for (const order of ORDERS) {
				const { click, txnid, say } = await clicked();
				const messages = said.map((fields, at) => say({ eventAt: DAY, ...fields }, NOW + at));
				for (const at of order) await consume(...messages.slice(at, at + 1));
				expect({ order, ...(await stored(txnid)) }).toMatchObject({ order, status: "cancelled" });
				expect(await sumsOf(click)).toEqual([]);
				expect((await callbacksOf(txnid)).length % 2).toBe(0);
			}
		});

		test("but by what is new, in whatever order the queue brings them", async () => {
			for (const order of ORDERS) {
				const { txnid, say } = await clicked();
				const messages = [{}, { status: "void" }, { payoutMicros: 11_000_000 }].map((fields, at) =>
					say({ eventAt: DAY, ...fields }, NOW + at),
				);
				for (const at of order) await consume(...messages.slice(at, at + 1));
				expect(await stored(txnid)).toMatchObject({ status: "approved", payout_micros: 11_000_000 });
			}
		});

		test("nor made pending again: that would count, too", async () => {
			const { click, txnid, say } = await clicked();
			for (const status of ["pending", "void", "pending"]) await consume(say({ status }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
			expect(await sumsOf(click)).toEqual([]);
		});

		test("nor by what an earlier version had stored", async () => {
			const { txnid, say } = await clicked();
			await consume(say());
			await env.DB.prepare("UPDATE conversions SET approval_hashes = '', payouts = '', default_currency = NULL WHERE txnid = ?")
				.bind(txnid)
				.run();
			await consume(say({ status: "void" }));
			await consume(say());
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
		});

		test("nor by any postback, once it was said to stand in forty ways", async () => {
			const { txnid, say } = await clicked();
			const payouts = Array.from({ length: 40 }, (_, at) => at + 1);
			await consume(...payouts.map((payoutMicros) => say({ payoutMicros })));
			await consume(say({ status: "void" }));
			await consume(say({ payoutMicros: 99 }));
			expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
		});
	});

	test("the platform's status map goes first; an unknown status is pending, and flagged", async () => {
		const { txnid, say } = await clicked();
		await consume(say({ status: "INVOICED" }));
		expect(await stored(txnid)).toMatchObject({ status: "approved", network_status: "INVOICED", status_unknown: 0 });
		await consume(say({ status: "disputed" }));
		expect(await stored(txnid)).toMatchObject({ status: "cancelled" });
		await consume(say({ status: "on the moon" }));
		expect(await stored(txnid)).toMatchObject({ status: "pending", status_unknown: 1 });
	});

	test("what a later postback leaves out stays: sales, s2, s3, surl; not so status and currency, which have defaults", async () => {
		const { txnid, say } = await clicked();
		await consume(say({ salesMicros: 5_000_000, s2: "a", s3: "b", surl: "https://shop.example/", status: "pending" }));
		await consume(say({ payoutMicros: 11_000_000 }));
		expect(await stored(txnid)).toMatchObject({
			sales_micros: 5_000_000,
			s2: "a",
			s3: "b",
			surl: "https://shop.example/",
			status: "approved",
		});
	});

	test("the history tells the whole present state", async () => {
		const { txnid, say } = await clicked();
		await consume(say({ status: "pending", currency: "GBP" }));
		await consume(say({ status: "paid", s2: "x" }));
		await consume(say({ status: "void", payoutMicros: 3_000_000 }));
		const events = await readAll<{ set: string }>(
			"SELECT details -> 'set' AS \"set\" FROM conversion_events WHERE txnid = ? ORDER BY seq",
			txnid,
		);
		const told: Partial<Conversion> = Object.assign({}, ...events.map(({ set }) => JSON.parse(set)));
		const row = await stored(txnid);
		expect(told).toMatchObject({
			stage: row?.stage,
			status: row?.status,
			payoutMicros: row?.payout_micros,
			revenueMicros: row?.revenue_micros,
			clickId: row?.click_id,
			currency: row?.currency,
			s2: "x",
		});
	});
});

test.runIf(ON_D1)("the minute's look for rates that have come goes by no conversion that is held for anything else", async () => {
	const held = "SEARCH v USING INDEX conversions_held (held_for=?)";
	expect((await planOf(WITH_RATE_BY_NOW)).filter((step) => / v\b/.test(step))).toEqual([held, held]);
});
