/** GET /api/clicks on real D1: a publisher sees what became of each of its clicks, and nobody else's. */

import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/lib/time.ts";
import { type PublisherClicks, publisherClicksSchema } from "../../src/publisher-api/clicks-answer.ts";
import { readClicksQuery } from "../../src/publisher-api/clicks-request.ts";
import { lookAtClicks } from "../../src/publisher-api/read-clicks.ts";
import { ON_D1 } from "../support/engine.ts";
import { planOf } from "../support/plan-of.ts";
import { CPA_KEY, CPC_KEY, clickRow, conversionRow, importReportNetwork, setPublisher } from "../support/report-rows.ts";

const DAY = "from=2026-11-10&to=2026-11-10";
const at = (time: string) => Date.parse(`2026-11-10T${time}Z`);

function get(query: string, key: string | null = CPC_KEY): Promise<Response> {
	return exports.default.fetch(`https://base.example/api/clicks?${query}`, { headers: key === null ? {} : { AccessKey: key } });
}

async function list(query: string, key?: string): Promise<PublisherClicks> {
	const response = await get(query, key);
	expect(response.status).toBe(200);
	return v.parse(publisherClicksSchema, await response.json());
}

const idsOf = ({ data }: PublisherClicks) => data.map(({ click_id }) => click_id);

const store = (...rows: Record<string, string | number | null>[]) => storeIn("clicks", ...rows);

async function storeIn(table: string, ...rows: Record<string, string | number | null>[]): Promise<void> {
	await env.DB.batch(
		rows.map((row) =>
			env.DB.prepare(
				`INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row)
					.map(() => "?")
					.join(", ")})`,
			).bind(...Object.values(row)),
		),
	);
}

async function storeMany(rows: readonly Record<string, string | number | null>[]): Promise<void> {
	const columns = Object.keys(rows[0] ?? {});
	const cells = Object.values(rows[0] ?? {}).map((cell, n) =>
		typeof cell === "number" ? `CAST(value ->> ${n} AS BIGINT)` : `value ->> ${n}`,
	);
	for (let start = 0; start < rows.length; start += 5_000) {
		await env.DB.prepare(`INSERT INTO clicks (${columns.join(", ")}) SELECT ${cells.join(", ")} FROM json_each(?)`)
			.bind(JSON.stringify(rows.slice(start, start + 5_000).map((row) => Object.values(row))))
			.run();
	}
}

const named = (publisher_click_id: string, time: string, fields: Record<string, string | number | null> = {}) =>
	clickRow({ publisher_click_id, clicked_at: at(time), ...fields });

beforeAll(async () => {
	await importReportNetwork();
	await store(
		named("paid", "08:00:00", {
			source_id: "a",
			country: "US",
			keyword: "shoes",
			flags: "other_device data_centre",
			subid1: "x",
			subid3: "",
		}),
		named("bot", "09:00:00", { reason: "bot", revenue_micros: 0, source_id: "a" }),
		named("void", "10:00:00", { reason: "voided" }),
		named("repeat", "11:00:00", { reason: "repeat", revenue_micros: 0, publisher_click_id: null }),
		named("next-day", "00:00:00", { clicked_at: at("00:00:00") + DAY_MS }),
		named("cpa-paid", "08:30:00", { publisher_id: "pa", pricing_model: "CPA", revenue_micros: 0 }),
		named("cpa-bot", "08:40:00", { publisher_id: "pa", pricing_model: "CPA", revenue_micros: 0, reason: "bot" }),
		named("nobody", "08:40:00", { publisher_id: null, pricing_model: null, revenue_micros: 0, reason: "bot" }),
	);
});

describe("worker: GET /api/clicks", () => {
	it("shows a click with what it promised and earns, and every rule that flagged it", async () => {
		const { data, limit, next_cursor } = await list(DAY);
		expect(data[0]).toEqual({
			id: expect.stringMatching(/^[0-9a-f-]+$/),
			transaction_id: expect.stringMatching(/^[0-9a-f]{32}$/),
			click_id: "paid",
			at: "2026-11-10T08:00:00.000Z",
			kind: "link",
			brand: "shoes.example",
			campaign_id: "11",
			source_id: "a",
			subid1: "x",
			subid3: "",
			country: "US",
			keyword: "shoes",
			price: "0.2000",
			revenue: "0.2000",
			reason: null,
			flags: ["other_device", "data_centre"],
		});
		expect(data.map(({ click_id, reason, revenue }) => [click_id, reason, revenue])).toEqual([
			["paid", null, "0.2000"],
			["bot", "bot", "0.0000"],
			["void", "voided", "0.0000"],
			[null, "repeat", "0.0000"],
		]);
		expect([limit, next_cursor]).toEqual([100, null]);
	});

	it("is each publisher's own, whatever it is paid for", async () => {
		expect(idsOf(await list(DAY, CPA_KEY))).toEqual(["cpa-paid", "cpa-bot"]);
		expect(idsOf(await list(`${DAY}&source=a`, CPA_KEY))).toEqual([]);
	});

	it("names campaigns only where that is enabled", async () => {
		await setPublisher("pc", "campaign_id_enabled", 0);
		expect((await list(DAY)).data[0]).not.toHaveProperty("campaign_id");
		await setPublisher("pc", "campaign_id_enabled", 1);
	});

	it.each([
		["reason=paid", ["paid"]],
		["reason=unpaid", ["bot", "void", null]],
		["reason=bot", ["bot"]],
		["reason=voided", ["void"]],
		["reason=country", []],
		["source=a", ["paid", "bot"]],
		["source=a&reason=unpaid", ["bot"]],
		["source=", ["paid", "bot", "void", null]],
	])("%s chooses", async (filter, ids) => {
		expect(idsOf(await list(`${DAY}&${filter}`))).toEqual(ids);
	});

	it("finds all clicks of an id in all time, and those of other publishers never", async () => {
		const [paid] = (await list(`${DAY}&reason=paid`)).data;
		for (const id of ["paid", paid?.id, paid?.transaction_id, paid?.transaction_id.toUpperCase()]) {
			expect(idsOf(await list(`id=${id}`))).toEqual(["paid"]);
			expect(idsOf(await list(`id=${id}`, CPA_KEY))).toEqual([]);
		}
		expect(idsOf(await list("id=paid&from=2026-11-11"))).toEqual([]);
		expect(idsOf(await list("id=next-day&reason=unpaid"))).toEqual([]);
	});

	it("finds the click of a conversion by its transaction, and that of another publisher's never", async () => {
		const sold = named("sold", "08:00:00", { clicked_at: at("08:00:00") - 30 * DAY_MS, publisher_id: "pa", pricing_model: "CPA" });
		await store(sold);
		await storeIn("conversions", conversionRow(sold, { txnid: "T-sold" }));
		expect(idsOf(await list("id=T-sold", CPA_KEY))).toEqual(["sold"]);
		expect(idsOf(await list("id=T-sold&reason=unpaid", CPA_KEY))).toEqual([]);
		expect(idsOf(await list("id=T-sold"))).toEqual([]);
		expect(idsOf(await list("id=t-sold", CPA_KEY))).toEqual([]);
	});

	it("chooses by brand", async () => {
		expect(idsOf(await list(`${DAY}&brand=https://www.Shoes.example/x`))).toHaveLength(4);
		expect(idsOf(await list(`${DAY}&brand=hats.example`))).toEqual([]);
		expect((await get(`${DAY}&brand=no`)).status).toBe(422);
	});

	it("takes dates, both included, and times, of which the last is not", async () => {
		expect(idsOf(await list("from=2026-11-10T09:00:00Z&to=2026-11-10T10:00:00Z"))).toEqual(["bot"]);
		expect(idsOf(await list("from=2026-11-10&to=2026-11-11"))).toHaveLength(5);
		expect(idsOf(await list("from=2026-11-11T00:00:00%2B01:00&to=2026-11-11"))).toEqual(["next-day"]);
	});

	it("without a period it is the last day", async () => {
		const now = Date.now();
		await store(
			clickRow({ publisher_click_id: "new", clicked_at: now - 1_000, publisher_id: "pa", pricing_model: "CPA" }),
			clickRow({ publisher_click_id: "old", clicked_at: now - DAY_MS - 60_000, publisher_id: "pa", pricing_model: "CPA" }),
		);
		expect(idsOf(await list("", CPA_KEY))).toEqual(["new"]);
	});

	it.each(["", "&reason=unpaid", "&source=b"])("page by page it is the same list%s, also among clicks of one moment", async (filter) => {
		const moment = Date.parse("2026-10-05T10:00:00Z");
		if (filter === "") {
			await store(
				...Array.from({ length: 23 }, (_, n) =>
					clickRow({
						publisher_click_id: `n${n}`,
						clicked_at: moment + Math.floor(n / 9),
						source_id: n % 4 === 0 ? "b" : "c",
						reason: n % 3 === 0 ? null : "bot",
					}),
				),
			);
		}
		const period = `from=2026-10-05&to=2026-10-05${filter}`;
		const whole = await list(period);
		expect(whole.data.length).toBeGreaterThan(5);
		for (const order of ["oldest", "newest"]) {
			for (const limit of [1, 2, 7]) {
				const pages: (string | null)[] = [];
				for (let cursor: string | null = ""; cursor !== null; ) {
					const page: PublisherClicks = await list(`${period}&order=${order}&limit=${limit}&cursor=${cursor}`);
					pages.push(...idsOf(page));
					cursor = page.next_cursor;
				}
				expect(pages).toEqual(order === "newest" ? idsOf(whole).toReversed() : idsOf(whole));
			}
		}
	});

	it("where a filter finds little, a request ends after this many clicks, and the cursor goes on", async () => {
		const from = Date.parse("2026-09-01T00:00:00Z");
		const rows = Array.from({ length: 20_005 }, (_, n) => clickRow({ clicked_at: from + n, source_id: n === 20_001 ? "rare" : "b" }));
		await storeMany(rows);
		const first = await list("from=2026-09-01&to=2026-09-01&source=rare");
		expect([first.data, first.next_cursor]).toEqual([[], expect.any(String)]);
		const second = await list(`from=2026-09-01&to=2026-09-01&source=rare&cursor=${first.next_cursor}`);
		expect([second.data.length, second.next_cursor]).toEqual([1, null]);
	});

	it("finds the click of a conversion though very many clicks have the id that is its transaction", async () => {
		const sold = named("of-many", "08:00:00", { clicked_at: at("08:00:00") - 40 * DAY_MS, publisher_id: "pa", pricing_model: "CPA" });
		await store(sold);
		await storeIn("conversions", conversionRow(sold, { txnid: "T-many" }));
		await storeMany(Array.from({ length: 2_001 }, (_, n) => named("T-many", "12:00:00", { clicked_at: at("12:00:00") - 90 * DAY_MS + n })));
		expect(idsOf(await list("id=T-many", CPA_KEY))).toEqual(["of-many"]);
		expect(idsOf(await list("id=T-many&limit=2"))).toEqual(["T-many", "T-many"]);
	});

	it("needs a key, and is not kept by anyone", async () => {
		expect((await get(DAY, null)).status).toBe(401);
		expect((await get(DAY, "access-key-nobody")).status).toBe(401);
		expect((await get(DAY)).headers.get("cache-control")).toBe("no-store");
		const post = await exports.default.fetch("https://base.example/api/clicks", { method: "POST" });
		expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
	});

	it.runIf(ON_D1).each(["oldest", "newest"])("reads no click but those it looks at, in indexes: the %s first", async (order) => {
		const query = readClicksQuery({ from: "2026-11-10", to: "2026-11-10", order, cursor: "1762776000000_a" }, 0);
		const steps = await planOf(lookAtClicks("pc", query, 100));
		expect(steps.filter((step) => /^(SCAN|SEARCH)/.test(step))).toEqual([
			expect.stringMatching(/^SEARCH clicks USING COVERING INDEX clicks_paid_by_publisher \(publisher_id=\? AND clicked_at>/),
			expect.stringMatching(/^SEARCH clicks USING COVERING INDEX clicks_other_by_publisher \(publisher_id=\? AND clicked_at>/),
		]);
		expect(steps.join()).not.toContain("TEMP B-TREE");
	});

	it.runIf(ON_D1)("finds the click of a transaction by that alone, however many the publisher's conversions are", async () => {
		const steps = await planOf(lookAtClicks("pc", readClicksQuery({ id: "T-1" }, 0), 100));
		expect(steps.filter((step) => /^SEARCH v/.test(step))).toEqual([expect.stringMatching(/\(platform=\? AND txnid=\?\)$/)]);
	});
});
