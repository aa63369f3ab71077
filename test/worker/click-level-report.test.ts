/** POST /api/reporting/clicklevel on real D1. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askReport, CPA_KEY, CPC_KEY, clickRow, conversionRow, importReportNetwork, store } from "../support/report-rows.ts";

const at = (text: string) => Date.parse(text);
const ask = (key = CPA_KEY, fields = {}) => askReport("clicklevel", key, { start_date: "2026-11-09", end_date: "2026-11-11", ...fields });
const cpaClick = (fields = {}) => clickRow({ publisher_id: "pa", pricing_model: "CPA", ...fields });

beforeAll(importReportNetwork);
beforeEach(() => store([]));

describe("worker: the click-level report", () => {
	it("a record is click_id, revenue as text and click_date, in an envelope of numbers", async () => {
		const click = cpaClick({ publisher_click_id: "c-1", clicked_at: at("2026-11-11T23:59:59.999Z") });
		await store([click], [conversionRow(click, { event_at: at("2026-12-01T00:00:00Z") })]);
		expect(await ask()).toEqual({
			data: [{ click_id: "c-1", revenue: "5.0000", click_date: "2026-11-11" }],
			page: 1,
			limit: 1000,
			total_records: 1,
			total_pages: 1,
			as_of: expect.any(Number),
		});
	});

	it("two conversions of a click are one record with the sum", async () => {
		const click = cpaClick();
		await store(
			[click],
			[conversionRow(click), conversionRow(click, { revenue_micros: 1_000_100 }), conversionRow(click, { status: "cancelled" })],
		);
		const { data, total_records } = await ask();
		expect(total_records).toBe(1);
		expect(data[0]?.revenue).toBe("6.0001");
	});

	it("clicks of the same millisecond are records of their own", async () => {
		const clicks = ["x", "y"].map((publisher_click_id) => cpaClick({ publisher_click_id, clicked_at: at("2026-11-10T00:00:00Z") }));
		await store(
			clicks,
			clicks.map((click) => conversionRow(click)),
		);
		const { data, total_records } = await ask();
		expect([data.map(({ click_id }) => click_id), total_records]).toEqual([["x", "y"], 2]);
	});

	it("a click of a CPC publisher is there with what it earned, once, whatever it converted", async () => {
		const click = clickRow({});
		await store([click], [conversionRow(click), conversionRow(click)]);
		const { data, total_records } = await ask(CPC_KEY);
		expect([data.map(({ revenue }) => revenue), total_records]).toEqual([["0.2000"], 1]);
	});

	it("clicks without revenue and without a conversion are not there; with a conversion they are", async () => {
		const idle = clickRow({ revenue_micros: 0 });
		const converted = clickRow({ revenue_micros: 0, publisher_click_id: "converted" });
		const cancelled = cpaClick();
		await store([idle, converted, cancelled, cpaClick()], [conversionRow(converted), conversionRow(cancelled, { status: "cancelled" })]);
		expect((await ask(CPC_KEY)).data.map(({ click_id, revenue }) => [click_id, revenue])).toEqual([["converted", "0.0000"]]);
		expect(await ask()).toMatchObject({ data: [], total_records: 0 });
	});

	it("clicks that are not billed, and conversions of tests, are not there", async () => {
		const click = cpaClick({ reason: "test" });
		await store([clickRow({ reason: "bot" }), click], [conversionRow(click, { test: 1, revenue_micros: 0 })]);
		expect([(await ask()).total_records, (await ask(CPC_KEY)).total_records]).toEqual([0, 0]);
	});

	it("clicks come by their time, and pages follow one another", async () => {
		const clicks = Array.from({ length: 7 }, (_, n) =>
			cpaClick({ publisher_click_id: `c${n}`, clicked_at: at("2026-11-09T00:00:00Z") + n * 3_600_000 }),
		);
		await store(
			clicks,
			clicks.toReversed().map((click, n) => conversionRow(click, { event_at: at("2026-11-12T00:00:00Z") + n })),
		);
		const pages = await Promise.all([1, 2, 3].map((page) => ask(CPA_KEY, { page, limit: 3 })));
		expect(pages.map(({ data }) => data.map(({ click_id }) => click_id))).toEqual([["c0", "c1", "c2"], ["c3", "c4", "c5"], ["c6"]]);
		expect(pages.every(({ total_records, total_pages }) => total_records === 7 && total_pages === 3)).toBe(true);
	});

	it("the days are UTC, both included", async () => {
		const times = ["2026-11-08T23:59:59.999Z", "2026-11-09T00:00:00Z", "2026-11-11T23:59:59.999Z", "2026-11-12T00:00:00Z"];
		await store(times.map((time) => clickRow({ clicked_at: at(time) })));
		expect((await ask(CPC_KEY)).data.map(({ click_date }) => click_date)).toEqual(["2026-11-09", "2026-11-11"]);
	});
});
