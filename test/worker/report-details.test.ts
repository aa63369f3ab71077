/** Approved and pending revenue apart, where the publisher asks; and where sales of a publisher paid by clicks count. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { adjust } from "../support/adjustments.ts";
import { capDeps, clickMessage, letters } from "../support/click-messages.ts";
import { consume, postbackMessage } from "../support/conversions.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import {
	askReport,
	CPA_KEY,
	CPC_KEY,
	clickRow,
	conversionRow,
	importReportNetwork,
	postReport,
	setPublisher,
	store,
} from "../support/report-rows.ts";

const PERIOD = { start_date: "2026-11-10", end_date: "2026-11-12" };
const REPORTS = [
	["daywise", "revenue-share", { report_type: "daywise", ...PERIOD }],
	["source_level", "revenue-share", { report_type: "source_level", ...PERIOD }],
	["clickid_level", "revenue-share", { report_type: "clickid_level", ...PERIOD }],
	["clicklevel", "clicklevel", PERIOD],
] as const;
const ADDED = ["approved_revenue", "pending_revenue"];
/** Reports of single rows tell of credits, too. */
const addedTo = (name: string) => (name === "clickid_level" || name === "clicklevel" ? [...ADDED, "credited_revenue"] : ADDED);

beforeAll(importReportNetwork);
beforeEach(() => forgetTraffic());

describe("worker: detail=1", () => {
	beforeEach(async () => {
		const click = clickRow({ publisher_id: "pa", pricing_model: "CPA" });
		await store([click], [conversionRow(click), conversionRow(click, { status: "pending", revenue_micros: 1_250_000 })]);
	});

	it.each(REPORTS)("%s: each record has what is approved and what is pending behind its revenue", async (name, path, fields) => {
		const { data } = await askReport(path, CPA_KEY, { ...fields, detail: 1 });
		const shown = data.map(({ publisher_revenue, revenue, approved_revenue, pending_revenue }) => [
			...[publisher_revenue ?? revenue, approved_revenue, pending_revenue],
		]);
		const apart = [
			["1.2500", "0.0000", "1.2500"],
			["5.0000", "5.0000", "0.0000"],
		];
		expect(shown.sort()).toEqual(name === "clickid_level" ? apart : [["6.2500", "5.0000", "1.2500"]]);
	});

	it.each(REPORTS)("%s: without it the answer is the same, but for these", async (name, path, fields) => {
		const plain = await askReport(path, CPA_KEY, fields);
		const detailed = await askReport(path, CPA_KEY, { ...fields, detail: 1 });
		expect(await askReport(path, CPA_KEY, { ...fields, detail: 0 })).toEqual(plain);
		expect(Object.keys(plain.data[0] ?? {})).toEqual(Object.keys(detailed.data[0] ?? {}).filter((key) => !addedTo(name).includes(key)));
		expect(Object.keys(detailed.data[0] ?? {})).toEqual(expect.arrayContaining(addedTo(name)));
	});

	it.each(REPORTS)("%s: CSV has them behind the revenue", async (name, path, fields) => {
		const header = async (more: object) => {
			const body = new URLSearchParams(Object.entries({ ...fields, ...more }).map(([name, value]) => [name, String(value)]));
			const response = await postReport(path, { key: CPA_KEY, body, headers: { accept: "text/csv" } });
			return (await response.text()).split("\r\n", 1)[0];
		};
		expect(await header({ detail: 1 })).toBe((await header({}))?.replace(/(publisher_revenue|revenue)/, `$1,${addedTo(name).join(",")}`));
	});

	it("clicks and amounts are approved", async () => {
		await store([clickRow({ source_id: "s" })]);
		await adjust({ kind: "amount", publisher: "pc", date: "2026-11-10", amount: "-2" });
		const { data } = await askReport("revenue-share", CPC_KEY, { report_type: "clickid_level", detail: 1, ...PERIOD });
		expect(data.map(({ approved_revenue, pending_revenue }) => [approved_revenue, pending_revenue])).toEqual([
			["0.2000", "0.0000"],
			["-2.0000", "0.0000"],
		]);
		const [days] = (await askReport("revenue-share", CPC_KEY, { report_type: "daywise", detail: 1, ...PERIOD })).data;
		expect(days).toMatchObject({ publisher_revenue: "-1.8000", approved_revenue: "-1.8000", pending_revenue: "0.0000" });
	});
});

describe("worker: credited_revenue", () => {
	const AT = Date.parse("2026-11-10T12:00:00Z");
	const hash = "c".repeat(32);
	const say = (payoutMicros: number, status: string | null = null, fields = {}) =>
		consume(postbackMessage("northwind", { txnid: "t-1", cid: hash, eventAt: AT, payoutMicros, status, ...fields }, Date.now()));
	const hear = () => env.DB.prepare("UPDATE callbacks SET state = 'delivered', exposures = 1, next_attempt_at = NULL").run();

	/** Of the only record of either report: `[revenue, credited]`. */
	async function told(more = {}): Promise<unknown[]> {
		const records = await askReport("revenue-share", CPA_KEY, { report_type: "clickid_level", detail: 1, ...PERIOD, ...more });
		const clicks = await askReport("clicklevel", CPA_KEY, { detail: 1, ...PERIOD, ...more });
		expect([records.data.length, clicks.data.length]).toEqual([1, 1]);
		const [record, click] = [records.data[0] ?? {}, clicks.data[0] ?? {}];
		expect([click.revenue, click.credited_revenue]).toEqual([record.publisher_revenue, record.credited_revenue]);
		return [record.publisher_revenue, record.credited_revenue];
	}

	beforeEach(async () => {
		await setPublisher("pa", "amendments", "none");
		await consumeClicks(capDeps(), letters(clickMessage({ hash, at: AT, publisher: "identity-pa", brandId: 1, campaignId: 11 })));
	});

	it("is what was told, where the amount changed later and the publisher asks to hear of no change", async () => {
		await say(80_000_000);
		await hear();
		expect(await told()).toEqual(["40.0000", "40.0000"]);
		await say(70_000_000);
		expect(await told()).toEqual(["35.0000", "40.0000"]);
		await say(70_000_000, "pending");
		expect(await told()).toEqual(["35.0000", "40.0000"]);
		await say(60_000_000, "cancelled");
		await say(60_000_000, "approved", { eventAt: AT + 1 });
		expect(await told()).toEqual(["30.0000", "30.0000"]);
	});

	it("follows the amount where the publisher cannot have heard of the old one, or asks for pairs", async () => {
		await say(80_000_000);
		await say(70_000_000);
		expect(await told()).toEqual(["35.0000", "35.0000"]);
		await hear();
		await setPublisher("pa", "amendments", "pair");
		await say(60_000_000);
		expect(await told()).toEqual(["30.0000", "30.0000"]);
	});

	it("is nothing before anything was told, and 0 of clicks and amounts", async () => {
		await say(80_000_000, "pending");
		expect(await told()).toEqual(["40.0000", "0.0000"]);
		await store([clickRow({})]);
		await adjust({ kind: "amount", publisher: "pc", date: "2026-11-10", amount: "-2" });
		const { data } = await askReport("revenue-share", CPC_KEY, { report_type: "clickid_level", detail: 1, ...PERIOD });
		expect(data.map(({ credited_revenue }) => credited_revenue)).toEqual(["0.0000", "0.0000"]);
	});

	it("stands still with the page: also where a credit changes and nothing else that reports show", async () => {
		await say(80_000_000);
		await hear();
		await say(70_000_000);
		const { as_of } = await askReport("clicklevel", CPA_KEY, { detail: 1, ...PERIOD });
		await setPublisher("pa", "amendments", "pair");
		await say(70_000_000, null, { cid: "another" });
		expect(await told()).toEqual(["35.0000", "35.0000"]);
		expect(await told({ as_of })).toEqual(["35.0000", "40.0000"]);
	});

	it("sums all conversions of a click, in CSV too", async () => {
		await say(80_000_000);
		await say(20_000_000, null, { txnid: "t-2" });
		const body = new URLSearchParams({ detail: "1", ...PERIOD });
		const csv = await (await postReport("clicklevel", { key: CPA_KEY, body, headers: { accept: "text/csv" } })).text();
		expect(csv.split("\r\n")[0]).toBe("click_id,revenue,approved_revenue,pending_revenue,credited_revenue,click_date");
		expect(csv.split("\r\n")[1]).toMatch(/,50\.0000,50\.0000,0\.0000,50\.0000,2026-11-10$/);
	});
});

describe("worker: sales of a publisher paid by clicks", () => {
	const AT = Date.parse("2026-11-10T12:00:00Z");
	const click = (fields = {}) =>
		clickMessage({ at: AT, publisher: "identity-pc", brandId: 1, campaignId: 11, texts: { subi: "s" }, ...fields });
	const say = (txnid: string, cid: string, salesMicros: number, status: string | null = null) =>
		consume(postbackMessage("northwind", { txnid, cid, salesMicros, status, eventAt: Date.parse("2026-11-12T01:00:00Z") }));

	/** Of each report `[day or source, sales]`. */
	async function sales(): Promise<Record<string, unknown[]>> {
		const read = async (report_type: string, key: string) => {
			const { data } = await askReport("revenue-share", CPC_KEY, { report_type, ...PERIOD });
			return data.map((record) => [record[key], record.sales_amount]);
		};
		return {
			days: await read("daywise", "date"),
			sources: await read("source_level", "source_id"),
			records: await read("clickid_level", "date"),
		};
	}

	it("count on the day and with the source of the click, also once it is taken back", async () => {
		const paid = click();
		await consumeClicks(capDeps(), letters(paid));
		await say("t-1", paid.hash, 90_000_000);
		const there = { days: [["2026-11-10", "90.0000"]], sources: [["s", "90.0000"]], records: [["2026-11-10", "90.0000"]] };
		expect(await sales()).toEqual(there);
		const { id } = await adjust({ kind: "void_clicks", publisher: "pc" });
		expect(await sales()).toEqual(there);
		await say("t-2", paid.hash, 5_000_000);
		expect((await sales()).days).toEqual([["2026-11-10", "95.0000"]]);
		await adjust({ kind: "undo", adjustment: id });
		await say("t-1", paid.hash, 90_000_000, "cancelled");
		expect(await sales()).toEqual({ days: [["2026-11-10", "5.0000"]], sources: [["s", "5.0000"]], records: [["2026-11-10", "5.0000"]] });
	});

	it("of unpaid clicks count in no report of the publisher, and for the campaign all the same", async () => {
		const unpaid = click({ reason: "bot" });
		await consumeClicks(capDeps(), letters(unpaid));
		await say("t-1", unpaid.hash, 90_000_000);
		expect(await sales()).toEqual({ days: [], sources: [], records: [] });
		const row = await env.DB.prepare(
			"SELECT date, publisher_id, approved_count, sales_micros FROM daily_network WHERE reason = ''",
		).first();
		expect(row).toEqual({ date: "2026-11-12", publisher_id: "pc", approved_count: 1, sales_micros: 90_000_000 });
	});
});
