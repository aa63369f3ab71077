/** Conversions are valued anew once exchange rates were corrected: deliberately, exactly once, and with all that follows. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AdjustmentDeps } from "../../../src/adjustments/deps.ts";
import { chooseValuedOtherwise, revalue as revalueBy } from "../../../src/adjustments/revalue.ts";
import { revalueConversions } from "../../../src/conversions/revalue-conversions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { checkLedger } from "../../../src/ledger-check/check-ledger.ts";
import { ACTOR } from "../../support/actor.ts";
import { listAdjustments, postAdjustment } from "../../support/adjustments.ts";
import { rowsOf } from "../../support/click-messages.ts";
import { clickRow, consume, importConversionNetwork, postbackMessage, storeClicks } from "../../support/conversions.ts";
import { ON_D1 } from "../../support/engine.ts";
import { TRAFFIC_TABLES } from "../../support/forget-traffic.ts";
import { keepRows } from "../../support/kept-rows.ts";
import { importUnpublished } from "../../support/network-import.ts";
import { planOf } from "../../support/plan-of.ts";
import { reconcileDay } from "../../support/reconcile-day.ts";
import { postRevalue, revalue } from "../../support/revalue.ts";

const db = openDatabase(env.DB);
const AT = Date.parse("2026-11-10T12:00:00Z");
const run = (query: string) => env.DB.prepare(query).run();
const setRate = (usd: string, date = "2026-11-10") => importUnpublished({ exchange_rates: [{ currency: "EUR", date, usd }] });
const click = clickRow({ platform: "east", campaign_id: 12, brand_id: 2 });

const say = (txnid: string, fields: object = {}) =>
	consume(postbackMessage("east", { txnid, cid: String(click.click_hash), eventAt: AT, payoutMicros: 10_000_000, ...fields }));
const valued = () => rowsOf("SELECT txnid, gross_micros, revenue_micros FROM conversions WHERE stage = 'settled' ORDER BY txnid");
const callbacks = () => rowsOf("SELECT txnid, status, payout_micros FROM callbacks ORDER BY txnid, seq");
const revenue = async () => (await rowsOf("SELECT sum(conversion_revenue_micros) AS micros FROM daily_publishers"))[0]?.micros;
/** What differs of sums, history and callbacks. */
async function differing(): Promise<object[]> {
	const keys = (await rowsOf("SELECT platform, txnid FROM conversions")) as { platform: string; txnid: string }[];
	const ledger = await checkLedger({ db, now: Date.now }, keys);
	const sums = await Promise.all(
		["2026-11-09", "2026-11-10", "2026-11-11", "2026-11-12"].map((day) => reconcileDay({ db, now: Date.now }, day)),
	);
	// The click was written without its sums.
	const ofConversions = sums.flat().filter(({ column }) => /^(conversion|gross|sales)/.test(column));
	return [...ledger.differences, ...ofConversions.filter(({ counter }) => counter.startsWith("daily_"))];
}

let restore: () => Promise<void>;

beforeAll(async () => {
	await importConversionNetwork();
	await run("UPDATE publishers SET amendments = 'none', status = 'active'");
	await setRate("1.1");
	await setRate("1.1", "2026-11-12");
	await storeClicks(click);
	await say("approved", { salesMicros: 50_000_000 });
	await say("pending", { status: "pending" });
	await say("cancelled", { status: "cancelled" });
	await say("usd", { currency: "USD" });
	await say("later", { eventAt: AT + 2 * 86_400_000 });
	restore = await keepRows([...TRAFFIC_TABLES, "exchange_rates", "publishers"]);
});

beforeEach(() => restore());

describe("worker: conversions are valued by corrected rates", () => {
	it("an import alone changes nothing; a dry run says how much it would be, and the adjustment does it once", async () => {
		const before = await valued();
		await setRate("1.2");
		expect(await valued()).toEqual(before);
		const change = { kind: "revalue", clicks: 0, conversions: 3, publisher_revenue: "1.6000", gross_revenue: "2.0000", complete: true };
		expect(await revalue({}, "?dry_run=1")).toEqual({ id: null, ...change, alike: null, dry_run: true });
		expect([await valued(), (await listAdjustments()).data]).toEqual([before, []]);
		const done = await revalue();
		expect(done).toMatchObject({ ...change, dry_run: false });
		expect(await valued()).toEqual([
			{ txnid: "approved", gross_micros: 12_000_000, revenue_micros: 9_600_000 },
			{ txnid: "cancelled", gross_micros: 12_000_000, revenue_micros: 9_600_000 },
			{ txnid: "later", gross_micros: 11_000_000, revenue_micros: 8_800_000 },
			{ txnid: "pending", gross_micros: 12_000_000, revenue_micros: 9_600_000 },
			{ txnid: "usd", gross_micros: 10_000_000, revenue_micros: 8_000_000 },
		]);
		expect(await revenue()).toBe(9_600_000 * 2 + 8_800_000 + 8_000_000);
		expect(await rowsOf("SELECT sales_usd_micros FROM conversions WHERE txnid = 'approved'")).toEqual([{ sales_usd_micros: 60_000_000 }]);
		expect(await differing()).toEqual([]);
		expect(await revalue()).toMatchObject({ conversions: 0, publisher_revenue: "0.0000", complete: true });
	});

	it("is listed by its kind and by when it was made", async () => {
		await setRate("1.2");
		const { id } = await revalue();
		const [{ at = "" } = {}] = (await listAdjustments()).data;
		const later = new Date(Date.parse(at) + 1).toISOString();
		const idsOf = async (query: string) => (await listAdjustments(query)).data.map((one) => one.id);
		for (const query of ["?kind=revalue", `?from=${at}`, `?to=${later}`, `?from=${at.slice(0, 10)}&to=${at.slice(0, 10)}`]) {
			expect([query, await idsOf(query)]).toEqual([query, [id]]);
		}
		for (const query of ["?kind=undo", `?from=${later}`, `?to=${at}`]) expect([query, await idsOf(query)]).toEqual([query, []]);
	});

	it("is an adjustment with its text, and an event of each conversion that names it", async () => {
		await setRate("1.2");
		const { id } = await revalue({ id: "revalue-1", text: "the bank erred" });
		expect((await listAdjustments()).data).toMatchObject([
			{ id, kind: "revalue", actor: "operator", text: "the bank erred", conversions: 3, publisher_revenue: "1.6000", complete: true },
		]);
		expect((await listAdjustments()).data[0]?.request).toEqual({ currency: "EUR", from: "2026-11-10", to: "2026-11-11" });
		const events = await rowsOf("SELECT txnid, details FROM conversion_events WHERE kind = 'revalued' ORDER BY txnid");
		expect(events.map(({ txnid }) => txnid)).toEqual(["approved", "cancelled", "pending"]);
		expect(JSON.parse(String(events[2]?.details))).toEqual({
			set: { usdNanos: 1_200_000_000, grossMicros: 12_000_000, revenueMicros: 9_600_000 },
			adjustment: "revalue-1",
		});
		expect(await revalue({ id: "revalue-1", text: "the bank erred" })).toMatchObject({ id, conversions: 3 });
		expect((await postRevalue({ id: "revalue-1", to: "2026-11-10" })).status).toBe(412);
	});

	it("what was credited is told as the publisher asks; what was not sent yet has the new amount", async () => {
		await run("UPDATE callbacks SET state = 'delivered', exposures = 1, next_attempt_at = NULL WHERE txnid = 'approved'");
		await run("UPDATE publishers SET amendments = 'pair'");
		await say("unsent");
		await setRate("1.2");
		await revalue();
		expect((await callbacks()).filter(({ txnid }) => txnid === "approved" || txnid === "unsent")).toEqual([
			{ txnid: "approved", status: "approved", payout_micros: 8_800_000 },
			{ txnid: "approved", status: "cancelled", payout_micros: 8_800_000 },
			{ txnid: "approved", status: "approved", payout_micros: 9_600_000 },
			{ txnid: "unsent", status: "approved", payout_micros: 9_600_000 },
		]);
		expect(await differing()).toEqual([]);
	});

	it("is undone by the rates of before, and by no undo", async () => {
		const before = await valued();
		await setRate("1.3");
		const { id } = await revalue();
		const response = await postAdjustment({ kind: "undo", adjustment: id });
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({
			faults: [{ path: "adjustment", message: "is a revaluation: import the rates of before, and revalue again" }],
		});
		await setRate("1.1");
		expect(await revalue()).toMatchObject({ conversions: 3, publisher_revenue: "-3.2000" });
		expect(await valued()).toEqual(before);
		expect(await differing()).toEqual([]);
	});

	it("a publisher's suspension takes nothing from what was settled; a ceiling holds what is now above it", async () => {
		await run("UPDATE publishers SET status = 'suspended'");
		await setRate("1.2");
		expect(await revalue()).toMatchObject({ conversions: 3, publisher_revenue: "1.6000" });
		await setRate("2000");
		expect(await revalue()).toMatchObject({ conversions: 3, publisher_revenue: "-19.2000" });
		expect(await rowsOf("SELECT txnid, held_for FROM conversions WHERE stage = 'quarantined' ORDER BY txnid")).toEqual([
			{ txnid: "approved", held_for: "amount" },
			{ txnid: "pending", held_for: "amount" },
		]);
		expect(await differing()).toEqual([]);
	});

	it("is undone by the rates of before, what they put above its ceiling included; a suspension then holds what was held already", async () => {
		const rows = () =>
			rowsOf(
				"SELECT txnid, stage, status, held_for, usd_nanos, gross_micros, sales_usd_micros, revenue_micros FROM conversions ORDER BY txnid",
			);
		const before = [await rows(), await revenue(), await callbacks()];
		for (const wrong of ["2000", "3000"]) {
			await setRate(wrong);
			expect(await revalue()).toMatchObject({ conversions: 3 });
			expect(await rowsOf("SELECT gross_micros FROM conversions WHERE held_for = 'amount'")).toEqual([
				{ gross_micros: Number(wrong) * 10_000_000 },
				{ gross_micros: Number(wrong) * 10_000_000 },
			]);
		}
		expect(await differing()).toEqual([]);
		await setRate("1.1");
		expect(await revalue({}, "?dry_run=1")).toMatchObject({ conversions: 3, publisher_revenue: "17.6000" });
		expect(await revalue()).toMatchObject({ conversions: 3, publisher_revenue: "17.6000" });
		expect([await rows(), await revenue(), await callbacks()]).toEqual(before);
		expect(await differing()).toEqual([]);
		await setRate("2000");
		await revalue();
		await run("UPDATE publishers SET status = 'suspended'");
		await setRate("1.1");
		await revalue();
		expect(await rowsOf("SELECT txnid, status FROM conversions WHERE held_for = 'publisher_suspended' ORDER BY txnid")).toEqual([
			{ txnid: "approved", status: "pending" },
			{ txnid: "pending", status: "pending" },
		]);
		expect(await differing()).toEqual([]);
	});

	it.each(["1.2", "80", "2000"])("a release stays one for that payout: at a rate of %s, and by the rates of before", async (rate) => {
		await say("big", { payoutMicros: 10_000_000_000 });
		expect((await postAdjustment({ kind: "release_conversion", platform: "east", txnid: "big", text: "it is right" })).status).toBe(200);
		const row = () => rowsOf("SELECT stage, status, verdict, held_for, gross_micros, revenue_micros FROM conversions WHERE txnid = 'big'");
		const before = await row();
		expect(before).toMatchObject([{ stage: "settled", verdict: "released" }]);
		await setRate(rate);
		await revalue();
		// No release passes a million.
		expect(await row()).toMatchObject([{ stage: rate === "2000" ? "quarantined" : "settled", verdict: "released" }]);
		expect(await differing()).toEqual([]);
		await setRate("1.1");
		await revalue();
		expect(await row()).toEqual(before);
		await say("big", { payoutMicros: 11_000_000_000 });
		expect(await row()).toMatchObject([{ stage: "quarantined", verdict: null, held_for: "amount" }]);
	});

	it("nor does a review: what was settled stays so, though its link was embedded since", async () => {
		await storeClicks(clickRow({ ...click, id: `${String(click.id)}-embedded`, reason: "embedded" }));
		await setRate("1.2");
		expect(await revalue()).toMatchObject({ conversions: 3, publisher_revenue: "1.6000" });
		expect(await rowsOf("SELECT txnid FROM conversions WHERE stage <> 'settled'")).toEqual([]);
		expect(await differing()).toEqual([]);
	});

	it("one that has ended meanwhile changes nothing more", async () => {
		const before = await valued();
		await setRate("1.2");
		const deps: AdjustmentDeps = {
			db,
			now: Date.now,
			actor: ACTOR,
			judge: async () => null,
			attach: async () => null,
			detach: async () => null,
			onSpendChanged: async () => {},
			revalue: async (...chunk) => {
				await run("UPDATE adjustments SET cursor = NULL");
				return revalueConversions({ db, callbacks: undefined, now: Date.now }, ...chunk);
			},
		};
		const request = { kind: "revalue", currency: "EUR", from: "2026-11-10", to: "2026-11-11", text: "corrected" } as const;
		expect(await revalueBy(deps, request)).toMatchObject({ conversions: 0, complete: true });
		expect(await valued()).toEqual(before);
	});

	it("sales of a paid click follow on the day of the click", async () => {
		const paid = clickRow({ platform: "east", campaign_id: 12, brand_id: 2, publisher_id: "cpc", clicked_at: AT - 86_400_000 });
		await storeClicks(paid);
		await say("paid", { cid: String(paid.click_hash), salesMicros: 50_000_000 });
		const sales = () => rowsOf("SELECT date, sales_micros FROM daily_publishers WHERE publisher_id = 'cpc' AND sales_micros <> 0");
		expect(await sales()).toEqual([{ date: "2026-11-09", sales_micros: 55_000_000 }]);
		await setRate("1.2");
		expect(await revalue()).toMatchObject({ conversions: 4, publisher_revenue: "1.6000", gross_revenue: "3.0000" });
		expect(await sales()).toEqual([{ date: "2026-11-09", sales_micros: 60_000_000 }]);
		expect(await differing()).toEqual([]);
	});

	it("a later postback keeps the new rate", async () => {
		await setRate("1.2");
		await revalue();
		await setRate("9");
		await say("approved", { payoutMicros: 20_000_000 });
		expect((await valued())[0]).toMatchObject({ txnid: "approved", gross_micros: 24_000_000 });
	});

	it.each([
		[{ currency: "USD" }, "currency", "must not be USD, which is worth itself"],
		[{ currency: "eur" }, "currency", "must be a currency's code such as EUR"],
		[{ currency: "CHF" }, "currency", "has no exchange rate of these days"],
		[{ from: "2026-11-12" }, "to", "must not be before from"],
		[{ from: "2025-11-01" }, "to", "must leave at most 366 days, both included"],
		[{ from: "2026-02-30" }, "from", "must be a day of the calendar"],
		[{ text: " " }, "text", "must not be blank"],
	])("refuses %j", async (body, path, message) => {
		for (const query of ["", "?dry_run=1"]) {
			const response = await postRevalue(body, query);
			expect(response.status).toBe(422);
			expect(await response.json()).toMatchObject({ faults: [{ path, message }] });
		}
		expect((await listAdjustments()).data).toEqual([]);
	});
});

describe("worker: many conversions", () => {
	/** More than the 3,000 that one request does. */
	const COUNT = 3_150;

	async function addMany(count: number): Promise<void> {
		await run(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
			INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, usd_nanos, gross_micros,
				revenue_micros, click_id, clicked_at, publisher_id, brand_id, campaign_id, pricing_model, revenue_share_ppm, event_count, first_received_at, updated_at)
			SELECT 'east', 'bulk-' || i, '', 'settled', 'pending', 0, 0, ${AT} + i % 9, 1000000, 'EUR', 1100000000, 1100000,
				880000, 'gone', 0, 'cpa', 2, 12, 'CPA', 800000, 1, 0, 0 FROM n`);
		await run(`UPDATE daily_publishers SET conversion_count = conversion_count + ${count}, conversion_revenue_micros = conversion_revenue_micros + ${count * 880_000},
			gross_micros = gross_micros + ${count * 1_100_000} WHERE date = '2026-11-10'`);
		await setRate("1.2");
	}

	it("are done in slices: what was cut off goes on under its id, or under another", async () => {
		const total = COUNT + 3;
		const growth = ((COUNT * 80_000 + 1_600_000) / 1_000_000).toFixed(4);
		await addMany(COUNT);
		const before = Number(await revenue());
		const first = await revalue({ id: "revalue-many" });
		expect(first).toMatchObject({ conversions: 3_000, complete: false });
		expect((await listAdjustments()).data).toMatchObject([{ conversions: 3_000, complete: false }]);
		expect(await revalue({ id: "revalue-many" })).toMatchObject({ conversions: total, publisher_revenue: growth, complete: true });
		expect(Number(await revenue()) - before).toBe(COUNT * 80_000 + 1_600_000);
		await setRate("1.1");
		await revalue({ id: "revalue-back-1" });
		expect(await revalue({ id: "revalue-back-2" })).toMatchObject({ conversions: total - 3_000, complete: true });
		expect(Number(await revenue())).toBe(before);
	});

	it("of two requests at once nothing is done twice", async () => {
		// Eight chunks, each of which they contend for.
		const count = 750;
		await addMany(count);
		const before = Number(await revenue());
		const both = [revalue({ id: "revalue-many" }), revalue({ id: "revalue-many" }), revalue({ id: "revalue-other" })];
		await Promise.allSettled(both);
		for (const id of ["revalue-many", "revalue-other"]) {
			for (let answer = await revalue({ id }); !answer.complete; ) answer = await revalue({ id });
		}
		const { data } = await listAdjustments();
		expect(data.map(({ conversions }) => conversions).reduce((sum, each) => sum + each, 0)).toBe(count + 3);
		expect(Number(await revenue()) - before).toBe(count * 80_000 + 1_600_000);
		expect(
			await rowsOf("SELECT max(n) AS most FROM (SELECT count(*) AS n FROM conversion_events WHERE kind = 'revalued' GROUP BY txnid)"),
		).toEqual([{ most: 1 }]);
	});

	it.runIf(ON_D1)("are found in an index", async () => {
		const period = { currency: "EUR", from: "2026-11-01", to: "2026-11-02" };
		const plan = await planOf(chooseValuedOtherwise(period, { eventAt: 1, platform: "", txnid: "" }));
		const steps = plan.join("\n");
		expect(steps).toMatch(
			/conversions_foreign_by_event.*\n(.*\n)*.*conversions_quarantined \(currency=\? AND event_at>\? AND event_at<\?\)/,
		);
		// Those of one moment alone are put into order.
		expect(steps.match(/TEMP B-TREE.*/g)).toEqual(["TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY"]);
	});
});
