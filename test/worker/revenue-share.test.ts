/** POST /api/reporting/revenue-share on real D1: which fields a record has, in which types, and in which order records come. */
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { offerIdOf } from "../../src/lib/md5-ids.ts";
import { askReport, CPA_KEY, CPC_KEY, clickRow, conversionRow, importReportNetwork, setPublisher, store } from "../support/report-rows.ts";

const NOVEMBER = { start_date: "2026-11-01", end_date: "2026-11-30" };
const at = (text: string) => Date.parse(text);

const ask = (reportType: string, key = CPA_KEY, fields = {}) =>
	askReport("revenue-share", key, { report_type: reportType, ...NOVEMBER, ...fields });

beforeAll(importReportNetwork);
beforeEach(() => store([]));

const cpaClick = (fields = {}) => clickRow({ publisher_id: "pa", pricing_model: "CPA", ...fields });

describe("worker: clickid_level", () => {
	it("a conversion is a CPA record with every field that applies, in its type", async () => {
		const click = cpaClick({
			kind: "openrtb",
			publisher_click_id: "my-click",
			source_id: "placement-9",
			uid: "user-7",
			atag: "acme-20",
			subid1: "one",
			subid5: "five",
			clicked_at: at("2026-11-09T23:59:59.999Z"),
		});
		const conversion = conversionRow(click, { txnid: "T-1", event_at: at("2026-11-10T00:00:00Z") });
		await store([click], [conversion]);
		expect(await ask("clickid_level")).toEqual({
			data: [
				{
					transaction_id: "T-1",
					click_id: "my-click",
					publisher_revenue: "5.0000",
					gross_revenue: "10.0000",
					user_id: "user-7",
					date: "2026-11-10",
					brand_name: "shoes.example",
					source_id: "placement-9",
					sub_id: "placement-9",
					offer_id: offerIdOf("shoes.example"),
					atag: "acme-20",
					rev_type: "CPA",
					conversion_count: 1,
					sales_amount: "100.0000",
					campaign_id: "11",
					click_count: 1,
					subid1: "one",
					subid2: "",
					subid3: "",
					subid4: "",
					subid5: "five",
				},
			],
			page: 1,
			limit: 1000,
			total_records: 1,
			total_pages: 1,
			as_of: expect.any(Number),
		});
	});

	it("a click of a CPC publisher is a CPC record, without gross_revenue", async () => {
		const click = clickRow({ publisher_click_id: "c-1", source_id: "s", clicked_at: at("2026-11-10T23:59:59.999Z") });
		await store([click], [conversionRow(click, { sales_usd_micros: 7_500_000 }), conversionRow(click, { sales_usd_micros: null })]);
		const { data } = await ask("clickid_level", CPC_KEY);
		expect(data).toEqual([
			{
				transaction_id: click.click_hash,
				click_id: "c-1",
				publisher_revenue: "0.2000",
				date: "2026-11-10",
				brand_name: "shoes.example",
				source_id: "s",
				sub_id: "s",
				offer_id: offerIdOf("shoes.example"),
				rev_type: "CPC",
				conversion_count: 0,
				sales_amount: "7.5000",
				campaign_id: "11",
				click_count: 1,
				...{ subid1: "", subid2: "", subid3: "", subid4: "", subid5: "" },
			},
		]);
	});

	it("user_id is only on clicks of OpenRTB, null where the bid request had none", async () => {
		const clicks = [
			clickRow({ kind: "openrtb", uid: "u", clicked_at: at("2026-11-10T01:00:00Z") }),
			clickRow({ kind: "openrtb", clicked_at: at("2026-11-10T02:00:00Z") }),
			clickRow({ kind: "serving-engine", clicked_at: at("2026-11-10T03:00:00Z") }),
			clickRow({ kind: "link", clicked_at: at("2026-11-10T04:00:00Z") }),
		];
		await store(clicks);
		const { data } = await ask("clickid_level", CPC_KEY);
		expect(data.map((record) => ("user_id" in record ? record.user_id : "absent"))).toEqual(["u", null, "absent", "absent"]);
	});

	it("text that the publisher sent none of is empty", async () => {
		await store([clickRow({ publisher_click_id: null, source_id: null })]);
		expect((await ask("clickid_level", CPC_KEY)).data[0]).toMatchObject({ click_id: "", source_id: "", sub_id: "", subid1: "" });
	});

	it("clicks that are not billed, tests, cancelled and unsettled conversions are in no report", async () => {
		const click = cpaClick();
		await store(
			[
				clickRow({ reason: "duplicate", revenue_micros: 0 }),
				clickRow({ reason: "test", revenue_micros: 0 }),
				clickRow({ publisher_id: null, pricing_model: null }),
				click,
			],
			[
				conversionRow(click, { status: "cancelled" }),
				conversionRow(click, { test: 1 }),
				conversionRow(click, { stage: "quarantined" }),
				conversionRow(click, { status: "pending", revenue_micros: 1_250_000 }),
			],
		);
		expect((await ask("clickid_level", CPC_KEY)).total_records).toBe(0);
		const { data, total_records } = await ask("clickid_level");
		expect(total_records).toBe(1);
		expect(data[0]).toMatchObject({ publisher_revenue: "1.2500" });
		expect((await ask("daywise")).data).toEqual([
			{ date: "2026-11-10", publisher_revenue: "1.2500", gross_revenue: "10.0000", sales_amount: "100.0000", click_count: 1 },
		]);
	});

	it("a publisher that changed its pricing model has records of both kinds, by time", async () => {
		const earlier = cpaClick({ clicked_at: at("2026-11-01T00:00:00Z") });
		const paid = clickRow({ publisher_id: "pa", clicked_at: at("2026-11-05T00:00:00Z") });
		await store(
			[earlier, paid],
			[
				conversionRow(earlier, { txnid: "before", event_at: at("2026-11-04T00:00:00Z") }),
				conversionRow(earlier, { txnid: "after", event_at: at("2026-11-06T00:00:00Z") }),
			],
		);
		const { data, total_records } = await ask("clickid_level");
		expect(total_records).toBe(3);
		expect(data.map(({ transaction_id, rev_type }) => [transaction_id, rev_type])).toEqual([
			["before", "CPA"],
			[paid.click_hash, "CPC"],
			["after", "CPA"],
		]);
		expect(data.map(({ gross_revenue }) => gross_revenue)).toEqual(["10.0000", "0.0000", "10.0000"]);
		expect((await ask("daywise")).data.map(({ publisher_revenue }) => publisher_revenue)).toEqual(["0.0000", "5.0000", "0.2000", "5.0000"]);
	});

	it("a conversion whose brand or click is gone still has its record", async () => {
		const click = cpaClick({ brand_id: 999 });
		await store([], [conversionRow(click, { txnid: "T-9" })]);
		expect((await ask("clickid_level")).data[0]).toMatchObject({
			transaction_id: "T-9",
			brand_name: "",
			offer_id: "",
			publisher_revenue: "5.0000",
		});
	});
});

describe("worker: daywise and source_level", () => {
	it("daywise has one record a UTC day with activity, by day", async () => {
		const click = cpaClick({ clicked_at: at("2026-11-02T00:00:00Z") });
		await store(
			[click, cpaClick({ clicked_at: at("2026-11-02T23:59:59.999Z") }), cpaClick({ clicked_at: at("2026-11-01T23:59:59.999Z") })],
			[
				conversionRow(click, { event_at: at("2026-11-20T00:00:00Z") }),
				conversionRow(click, { event_at: at("2026-11-20T12:00:00Z"), revenue_micros: 100 }),
				conversionRow(click, { event_at: at("2026-11-25T12:00:00Z"), status: "cancelled" }),
			],
		);
		const sums = { publisher_revenue: "0.0000", gross_revenue: "0.0000", sales_amount: "0.0000" };
		expect(await ask("daywise")).toEqual({
			data: [
				{ date: "2026-11-01", ...sums, click_count: 1 },
				{ date: "2026-11-02", ...sums, click_count: 2 },
				{ date: "2026-11-20", publisher_revenue: "5.0001", gross_revenue: "20.0000", sales_amount: "200.0000", click_count: 0 },
			],
			...{ page: 1, limit: 1000, total_records: 3, total_pages: 1 },
		});
	});

	it("source_level has one record a source over the whole period, by source", async () => {
		const click = cpaClick({ source_id: "b", clicked_at: at("2026-11-02T00:00:00Z") });
		await store(
			[
				click,
				cpaClick({ source_id: "b", clicked_at: at("2026-11-03T00:00:00Z") }),
				cpaClick({ source_id: "a" }),
				cpaClick({ source_id: null }),
			],
			[conversionRow(click)],
		);
		const { data, total_records } = await ask("source_level");
		expect(total_records).toBe(3);
		expect(data.map(({ source_id, click_count, publisher_revenue }) => [source_id, click_count, publisher_revenue])).toEqual([
			["", 1, "0.0000"],
			["a", 1, "0.0000"],
			["b", 2, "5.0000"],
		]);
		expect(Object.keys(data[2] ?? {})).toEqual(["source_id", "publisher_revenue", "gross_revenue", "sales_amount", "click_count"]);
	});

	it("a day or source whose counters have gone back to zero has no record", async () => {
		await env.DB.batch([
			env.DB.prepare("INSERT INTO daily_publishers (publisher_id, date) VALUES ('pa', '2026-11-10')"),
			env.DB.prepare("INSERT INTO daily_sources (publisher_id, date, source_id) VALUES ('pa', '2026-11-10', 's')"),
		]);
		expect((await ask("daywise")).total_records).toBe(0);
		expect((await ask("source_level")).total_records).toBe(0);
	});

	it("both read the daily sums, not the clicks", async () => {
		await store([clickRow({ source_id: "s" })]);
		await env.DB.prepare("DELETE FROM clicks").run();
		expect((await ask("daywise", CPC_KEY)).data).toMatchObject([{ publisher_revenue: "0.2000", click_count: 1 }]);
		expect((await ask("source_level", CPC_KEY)).data).toMatchObject([{ publisher_revenue: "0.2000", click_count: 1 }]);
	});
});

describe("worker: what is for which publisher's eyes", () => {
	const keysOf = async (type: string, key: string) => Object.keys((await ask(type, key)).data[0] ?? {});

	it.each(["daywise", "source_level", "clickid_level"])("%s omits gross_revenue for CPC publishers", async (type) => {
		const click = cpaClick();
		await store([click, clickRow({})], [conversionRow(click)]);
		expect(await keysOf(type, CPA_KEY)).toContain("gross_revenue");
		expect(await keysOf(type, CPC_KEY)).not.toContain("gross_revenue");
	});

	it.each(["daywise", "source_level", "clickid_level"])("%s has sales_amount only with sales data enabled", async (type) => {
		await store([clickRow({})]);
		expect(await keysOf(type, CPC_KEY)).toContain("sales_amount");
		await setPublisher("pc", "sales_data_enabled", 0);
		expect(await keysOf(type, CPC_KEY)).not.toContain("sales_amount");
		await setPublisher("pc", "sales_data_enabled", 1);
	});

	it("clickid_level has campaign_id only where it is enabled", async () => {
		await store([clickRow({})]);
		expect(await keysOf("clickid_level", CPC_KEY)).toContain("campaign_id");
		await setPublisher("pc", "campaign_id_enabled", 0);
		expect(await keysOf("clickid_level", CPC_KEY)).not.toContain("campaign_id");
		await setPublisher("pc", "campaign_id_enabled", 1);
	});

	it("fields of clickid_level alone are in no other report", async () => {
		const click = cpaClick({ atag: "t", uid: "u", kind: "openrtb" });
		await store([click], [conversionRow(click)]);
		const alone = [
			"transaction_id",
			"click_id",
			"brand_name",
			"sub_id",
			"offer_id",
			"atag",
			"rev_type",
			"conversion_count",
			"campaign_id",
			"user_id",
		];
		for (const type of ["daywise", "source_level"]) {
			const keys = await keysOf(type, CPA_KEY);
			expect(keys).toContain("gross_revenue");
			expect(keys.filter((key) => alone.includes(key) || key.startsWith("subid"))).toEqual([]);
		}
	});

	it("another publisher's clicks are in none", async () => {
		const click = cpaClick();
		await store([click], [conversionRow(click)]);
		for (const type of ["daywise", "source_level", "clickid_level"]) {
			expect((await ask(type, CPA_KEY)).data).not.toEqual([]);
			expect((await ask(type, CPC_KEY)).data).toEqual([]);
		}
	});
});

describe("worker: pages", () => {
	it("follow one another without gap or overlap, with the same total on each", async () => {
		const clicks = Array.from({ length: 25 }, (_, at) =>
			clickRow({ publisher_click_id: `c${at}`, clicked_at: Date.parse("2026-11-10T00:00:00Z") + (at >> 1) }),
		);
		await store(clicks.toReversed());
		const pages = await Promise.all([1, 2, 3, 4].map((page) => ask("clickid_level", CPC_KEY, { page, limit: 10 })));
		expect(pages.map(({ page, limit, total_records, total_pages }) => [page, limit, total_records, total_pages])).toEqual([
			[1, 10, 25, 3],
			[2, 10, 25, 3],
			[3, 10, 25, 3],
			[4, 10, 25, 3],
		]);
		expect(pages.flatMap(({ data }) => data.map(({ click_id }) => click_id))).toEqual(
			clicks.map(({ publisher_click_id }) => publisher_click_id),
		);
	});

	it("do not shift when new clicks arrive", async () => {
		const first = Array.from({ length: 5 }, (_, at) => clickRow({ clicked_at: Date.parse("2026-11-10T00:00:00Z") + at }));
		await store(first);
		const before = (await ask("clickid_level", CPC_KEY, { limit: 3 })).data;
		await store([...first, clickRow({ clicked_at: Date.parse("2026-11-10T00:00:01Z") })]);
		expect((await ask("clickid_level", CPC_KEY, { limit: 3 })).data).toEqual(before);
		expect((await ask("clickid_level", CPC_KEY, { limit: 3, page: 2 })).data).toHaveLength(3);
	});

	it.each(["daywise", "source_level", "clickid_level"])("%s: a page behind the last is empty, whatever its number", async (type) => {
		await store([clickRow({})]);
		const { data, total_records, total_pages } = await ask(type, CPC_KEY, { page: 1_000_000_000, limit: 5000 });
		expect([data, total_records, total_pages]).toEqual([[], 1, 1]);
	});

	it("no records are no pages", async () => {
		expect(await ask("daywise")).toEqual({ data: [], page: 1, limit: 1000, total_records: 0, total_pages: 0 });
	});
});
