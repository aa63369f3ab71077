/** GET /api/days on real D1: the digest is what a publisher computes of clickid_level, and follows late changes. */

import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { computeDigest } from "../../src/days/compute-digest.ts";
import { type ClosedDays, closedDaysSchema } from "../../src/days/days-answer.ts";
import { addToDigest, NO_RECORDS } from "../../src/days/digest.ts";
import { BEGINNING, queryOf } from "../../src/days/read-records.ts";
import { sweepDays } from "../../src/days/sweep-days.ts";
import { openDatabase } from "../../src/db/client.ts";
import { leastIdAt } from "../../src/lib/ids.ts";
import { parseMicros } from "../../src/lib/money.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, utcDay } from "../../src/lib/time.ts";
import { adjust } from "../support/adjustments.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { consume, postbackMessage } from "../support/conversions.ts";
import { ON_D1 } from "../support/engine.ts";
import { TRAFFIC_TABLES } from "../support/forget-traffic.ts";
import { keepRows } from "../support/kept-rows.ts";
import { planOf } from "../support/plan-of.ts";
import { askReport, CPA_KEY, CPC_KEY, importReportNetwork, setPublisher } from "../support/report-rows.ts";

const db = openDatabase(env.DB);
/** A day that is over. */
const AT = Date.parse(utcDay(Date.now() - 3 * DAY_MS)) + 12 * HOUR_MS;
const DAY = utcDay(AT);
const run = (query: string) => env.DB.prepare(query).run();

const click = (fields: Partial<ClickMessage> = {}) => clickMessage({ at: AT, publisher: "identity-pc", campaignId: 11, ...fields });
const count = (...clicks: ClickMessage[]) => consumeClicks(capDeps(), letters(...clicks));

function get(query: string, key: string | null = CPC_KEY): Promise<Response> {
	return exports.default.fetch(`https://base.example/api/days?${query}`, { headers: key === null ? {} : { AccessKey: key } });
}

async function list(query: string, key?: string): Promise<ClosedDays> {
	const response = await get(query, key);
	expect(response.status).toBe(200);
	return v.parse(closedDaysSchema, await response.json());
}

const dayOf = async (key?: string) => (await list(`from=${DAY}&to=${DAY}`, key)).data[0];

/** What a publisher computes of all pages of its report. */
async function ownDigest(key: string): Promise<string> {
	const fields = { report_type: "clickid_level", start_date: DAY, end_date: DAY, limit: 2 };
	let digest = NO_RECORDS;
	for (let page = 1, pages = 1; page <= pages; page++) {
		const { data, total_pages } = await askReport("revenue-share", key, { ...fields, page });
		pages = total_pages;
		const records = data.map(({ date, rev_type, transaction_id, click_id, publisher_revenue }) => ({
			...{ date: String(date), revType: String(rev_type), transactionId: String(transaction_id), clickId: String(click_id) },
			revenueMicros: parseMicros(String(publisher_revenue)) ?? Number.NaN,
		}));
		digest = await addToDigest(digest, records);
	}
	return digest;
}

let clock = Date.now() + HOUR_MS;
/** An hour later: which days are due, and their digests. */
const sweep = async () => {
	clock += HOUR_MS;
	await sweepDays({ db, now: () => clock });
};

const sold = click({ publisher: "identity-pa", texts: { clickid: "sold-1" } });
const sell = (txnid: string, fields: object = {}) =>
	consume(postbackMessage("northwind", { txnid, cid: sold.hash, eventAt: AT + HOUR_MS, ...fields }, Date.now()));

let restore = async () => {};

beforeAll(async () => {
	await importReportNetwork();
	await run("DELETE FROM day_digest_state");
	await run("INSERT INTO day_digest_state (id, selected_at) VALUES (1, 0)");
	await count(click({ texts: { clickid: "c-1" } }), click({ texts: { clickid: "c-2" } }), click(), sold);
	await sell("t-1");
	await sell("t-2", { payoutMicros: 3_330_000, status: "pending" });
	await sell("t-3", { status: "cancelled" });
	await adjust({ kind: "amount", publisher: "pc", date: DAY, amount: "-0.05" });
	await adjust({ kind: "void_clicks", publisher: "pc", from: new Date(AT).toISOString(), to: new Date(AT + 1).toISOString() });
	await count(click({ texts: { clickid: "c-4" }, at: AT + 5 }), click({ texts: { clickid: "c-5" }, at: AT + 5 }));
	restore = await keepRows([...TRAFFIC_TABLES, "retention", "day_digests", "day_digest_state"]);
});

beforeEach(() => restore());

describe("worker: GET /api/days", () => {
	it("before the digest is computed: the sums, and that it is not current", async () => {
		expect(await dayOf(CPA_KEY)).toEqual({
			day: DAY,
			publisher_revenue: "6.6650",
			gross_revenue: "13.3300",
			click_count: 1,
			...{ record_count: null, digest: null, computed_at: null, current: false },
		});
	});

	it.each([
		["clicks", CPC_KEY, 6],
		["conversions", CPA_KEY, 2],
	])("of a publisher paid by %s: the digest of clickid_level, and the sums of daywise", async (_, key, records) => {
		await sweep();
		const day = await dayOf(key);
		const { data } = await askReport("revenue-share", key, { report_type: "daywise", start_date: DAY, end_date: DAY });
		const { publisher_revenue, gross_revenue, click_count } = day ?? {};
		expect({ ...(gross_revenue !== undefined && { gross_revenue }), publisher_revenue, click_count }).toEqual(
			Object.fromEntries(Object.entries(data[0] ?? {}).filter(([name]) => !["date", "sales_amount"].includes(name))),
		);
		expect(day).toMatchObject({
			digest: await ownDigest(key),
			record_count: records,
			computed_at: new Date(clock).toISOString(),
			current: true,
		});
	});

	it("gross revenue is for whom reports show it", async () => {
		expect(await dayOf(CPC_KEY)).not.toHaveProperty("gross_revenue");
	});

	it("a late conversion, a void and its undoing are told as changes, and then are in the digest", async () => {
		await sweep();
		const first = await dayOf(CPA_KEY);
		await sell("t-4", { payoutMicros: 1_000_000 });
		expect(await dayOf(CPA_KEY)).toMatchObject({ digest: first?.digest, publisher_revenue: "7.1650", current: false });
		await sweep();
		expect(await dayOf(CPA_KEY)).toMatchObject({ digest: await ownDigest(CPA_KEY), record_count: 3, current: true });
		const { id } = await adjust({ kind: "void_clicks", publisher: "pc" });
		expect(await dayOf(CPC_KEY)).toMatchObject({ current: false });
		await sweep();
		expect(await dayOf(CPC_KEY)).toMatchObject({ digest: await ownDigest(CPC_KEY), current: true });
		await adjust({ kind: "undo", adjustment: id });
		await sweep();
		expect(await dayOf(CPC_KEY)).toMatchObject({ digest: await ownDigest(CPC_KEY), current: true });
	});

	it.each([
		["is cancelled", { status: "cancelled" }],
		["is another day's since", { eventAt: AT - DAY_MS }],
	])("a change that leaves every sum as it was is told, and found all the same: a conversion %s, and another comes", async (_, fields) => {
		await sweep();
		const before = await dayOf(CPA_KEY);
		expect(before).toMatchObject({ digest: await ownDigest(CPA_KEY), current: true });
		await sell("t-5");
		await sell("t-1", fields);
		expect(await dayOf(CPA_KEY)).toEqual({ ...before, current: false });
		await run(`UPDATE conversions SET updated_at = ${clock}`);
		await run(`UPDATE conversion_changes SET at = ${clock}`);
		await sweep();
		expect(await dayOf(CPA_KEY)).toMatchObject({ digest: await ownDigest(CPA_KEY), current: true });
	});

	it("so are two days of which conversions have changed places", async () => {
		await sell("t-6", { eventAt: AT - DAY_MS });
		await sweep();
		await sell("t-1", { eventAt: AT - DAY_MS });
		await sell("t-6");
		expect(await dayOf(CPA_KEY)).toMatchObject({ current: false });
		expect((await list(`from=${utcDay(AT - DAY_MS)}&to=${utcDay(AT - DAY_MS)}`, CPA_KEY)).data).toMatchObject([{ current: false }]);
	});

	it.each([
		["an amount", () => ({ kind: "amount", publisher: "pc", date: DAY, amount: "-0.02" })],
		["clicks taken back", (at: number) => ({ kind: "void_clicks", from: new Date(at).toISOString(), to: new Date(at + 1).toISOString() })],
	])("so is %s that is undone, and another of as much in its place", async (_, adjustment) => {
		await count(click({ at: AT + 7, texts: { clickid: "c-7" } }), click({ at: AT + 8, texts: { clickid: "c-8" } }));
		const { id } = await adjust(adjustment(AT + 7));
		await sweep();
		const before = await dayOf(CPC_KEY);
		expect(before).toMatchObject({ digest: await ownDigest(CPC_KEY), current: true });
		await adjust({ kind: "undo", adjustment: id });
		await adjust(adjustment(AT + 8));
		expect(await dayOf(CPC_KEY)).toEqual({ ...before, current: false });
		// Before days are looked for again.
		await sweepDays({ db, now: () => clock });
		const after = await dayOf(CPC_KEY);
		expect(after).toMatchObject({ digest: await ownDigest(CPC_KEY), current: true });
		expect(after?.digest).not.toBe(before?.digest);
	});

	it("a click that comes late is in the digest within hours, however far back a platform has dated a sale", async () => {
		await sweep();
		await sell("t-old", { eventAt: Date.parse("2001-02-03T00:00:00Z") });
		await run("UPDATE day_digest_state SET turn_day = NULL");
		await sweep();
		const late = AT - 20 * DAY_MS;
		await count(click({ at: late }));
		for (let hour = 0; hour < 3; hour++) await sweep();
		const { data } = await list(`from=${utcDay(late)}&to=${utcDay(late)}`);
		expect(data).toMatchObject([{ record_count: 1, current: true }]);
	});

	it("today has no row; a day without activity neither", async () => {
		await count(click({ at: Date.now() }));
		await sell("t-1", { status: "cancelled" });
		await sell("t-2", { status: "cancelled" });
		const { data } = await list(`from=${DAY}&to=${utcDay(Date.now() + DAY_MS)}`);
		expect(data.map(({ day }) => day)).toEqual([DAY]);
		await run("UPDATE daily_publishers SET click_count = 0 WHERE publisher_id = 'pa'");
		expect(await dayOf(CPA_KEY)).toBeUndefined();
	});

	it("comes in pages", async () => {
		await count(click({ at: AT - DAY_MS }), click({ at: AT - 2 * DAY_MS }));
		const first = await list("limit=2");
		expect(first).toMatchObject({ data: [{ day: utcDay(AT - 2 * DAY_MS) }, { day: utcDay(AT - DAY_MS) }], limit: 2 });
		expect(await list(`limit=2&cursor=${first.next_cursor}`)).toMatchObject({ data: [{ day: DAY }], next_cursor: null });
	});

	it("has nothing yet of what follows the last closed day", async () => {
		expect(await list(`from=${utcDay(Date.now())}`)).toMatchObject({ data: [], next_cursor: null });
	});

	it.each([
		[`from=${utcDay(Date.now() + 2 * DAY_MS)}`, "from"],
		["from=2026-02-30", "from"],
		["to=soon", "to"],
		["from=2026-11-02&to=2026-11-01", "to"],
		["limit=0", "limit"],
		["limit=1001", "limit"],
		["cursor=x", "cursor"],
	])("refuses %s", async (query, path) => {
		const response = await get(query);
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ faults: [{ path }] });
	});

	it("needs a key, and is each publisher's own", async () => {
		expect((await get("", null)).status).toBe(401);
		await run("DELETE FROM daily_publishers WHERE publisher_id = 'pa'");
		expect((await list("", CPA_KEY)).data).toEqual([]);
		await setPublisher("pc", "pricing_model", "CPA");
		expect(await dayOf(CPC_KEY)).toHaveProperty("gross_revenue");
		await setPublisher("pc", "pricing_model", "CPC");
	});
});

describe("worker: computing digests", () => {
	const deps = { db, now: () => clock };
	const of = { publisherId: "pc", day: DAY };
	const due = () => rowsOf("SELECT publisher_id, day FROM day_digests WHERE due = 1");

	it("in slices, it is the same", async () => {
		await env.DB.batch(
			Array.from({ length: 3 }, (_, part) =>
				env.DB.prepare(
					`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
					INSERT INTO clicks (id, click_hash, kind, reason, clicked_at, publisher_id, brand_id, campaign_id, publisher_click_id, bid_micros, revenue_micros, pricing_model, written_by)
					SELECT '${leastIdAt(AT)}-${part}' || (1000000 + i), '0000000000000000000000' || (${1_000_000_000 + part * 10_000} + i), 'link', NULL, ${AT} + i % 7, 'pc', 1, 11, 'bulk-' || i, 100000, 100000, 'CPC', '' FROM n`,
				),
			),
		);
		await run(`INSERT INTO day_digests (publisher_id, day, due) VALUES ('pc', '${DAY}', 1)`);
		expect(await computeDigest(deps, of, 1)).toBe(5_000);
		expect(await dayOf()).toMatchObject({ digest: null });
		expect(await computeDigest(deps, of, 1)).toBe(1_006);
		const { results } = await env.DB.prepare(
			`SELECT click_hash, publisher_click_id, reason, revenue_micros FROM clicks WHERE publisher_id = 'pc'`,
		).all<{ click_hash: string; publisher_click_id: string | null; reason: string | null; revenue_micros: number }>();
		const clicks = results.map(({ click_hash, publisher_click_id, reason, revenue_micros }) => ({
			...{ date: DAY, revType: reason === null ? "CPC" : "VOID", transactionId: click_hash, clickId: publisher_click_id ?? "" },
			revenueMicros: reason === null ? revenue_micros : 0,
		}));
		const [amount] = await rowsOf("SELECT id FROM adjustments WHERE kind = 'amount'");
		const adjustment = { date: DAY, revType: "ADJUSTMENT", transactionId: String(amount?.id), clickId: "", revenueMicros: -50_000 };
		expect(await dayOf()).toMatchObject({ record_count: 6_006, digest: await addToDigest(NO_RECORDS, [...clicks, adjustment]) });
	});

	it("where the day changes meanwhile, it begins anew", async () => {
		await run(`INSERT INTO day_digests (publisher_id, day, due, progress) VALUES ('pc', '${DAY}', 1,
			'{"startedAt":0,"sums":"of before","position":{"type":3,"at":-1,"first":"","second":""},"digest":"${"f".repeat(64)}","recordCount":9}')`);
		await computeDigest(deps, of, 1);
		expect(await dayOf()).toMatchObject({ digest: await ownDigest(CPC_KEY), record_count: 6, current: true });
	});

	it("of two at once, one counts", async () => {
		await run(`INSERT INTO day_digests (publisher_id, day, due) VALUES ('pc', '${DAY}', 1)`);
		await Promise.all([computeDigest(deps, of, 1), computeDigest(deps, of, 1)]);
		expect(await rowsOf("SELECT version, due FROM day_digests")).toEqual([{ version: 1, due: 0 }]);
	});

	it("a day whose clicks were removed keeps its digest", async () => {
		await sweep();
		const before = await dayOf();
		await run("INSERT INTO retention (name, cursor) VALUES ('clicks', (SELECT max(id) FROM clicks))");
		await run("DELETE FROM clicks WHERE publisher_id = 'pc'");
		await adjust({ kind: "amount", publisher: "pc", date: DAY, amount: "1" });
		await sweep();
		expect(await dayOf()).toMatchObject({ digest: before?.digest, record_count: 6, current: false });
		expect(await due()).toEqual([]);
		await adjust({ kind: "amount", publisher: "pc", date: DAY, amount: "-1" });
		await sweep();
		// The sums are as they were, but not its records.
		expect(await dayOf()).toMatchObject({ digest: before?.digest, publisher_revenue: before?.publisher_revenue, current: false });
	});

	it("days are looked at once an hour, and at once when a day has ended", async () => {
		await sweep();
		await run("DELETE FROM day_digests");
		await sweepDays({ db, now: () => (clock + 59 * MINUTE_MS > Date.parse(utcDay(clock)) + DAY_MS ? clock : clock + 59 * MINUTE_MS) });
		expect(await rowsOf("SELECT * FROM day_digests")).toEqual([]);
		await sweepDays({ db, now: () => Date.parse(utcDay(clock)) + DAY_MS });
		expect(await dayOf()).toMatchObject({ current: true });
	});

	describe("a day of which they cannot be computed", () => {
		/** Every record of that day fails, as if its digest could never be computed. */
		let isPoisoned = true;
		let logged: unknown[] = [];
		const text = new TextDecoder();
		const poisoned = utcDay(AT - DAY_MS);
		const failed = () => rowsOf("SELECT publisher_id, day FROM day_digests WHERE due = 1 AND progress LIKE '{\"failedAt\":%' ORDER BY day");

		beforeEach(async () => {
			isPoisoned = true;
			logged = [];
			const digest = crypto.subtle.digest.bind(crypto.subtle);
			vi.spyOn(crypto.subtle, "digest").mockImplementation((algorithm, data) => {
				if (isPoisoned && text.decode(data).startsWith(poisoned)) throw new Error("poisoned");
				return digest(algorithm, data);
			});
			vi.spyOn(console, "error").mockImplementation((line: string) => logged.push(JSON.parse(line)));
			await count(click({ at: AT - DAY_MS }), click({ at: AT - 2 * DAY_MS }));
		});
		afterEach(() => {
			vi.restoreAllMocks();
		});

		it("holds up none before it or behind it, is told of, and tried again until it can be", async () => {
			await expect(sweep()).rejects.toThrow(`no digest could be computed of pc ${poisoned}`);
			expect(logged).toMatchObject([{ event: "days.digest_failed", publisher: "pc", day: poisoned, message: "poisoned" }]);
			expect(await failed()).toEqual(await due());
			expect(await rowsOf(`SELECT day FROM day_digests WHERE publisher_id = 'pc' AND digest IS NOT NULL ORDER BY day`)).toEqual([
				{ day: utcDay(AT - 2 * DAY_MS) },
				{ day: DAY },
			]);
			await expect(sweepDays({ db, now: () => clock })).rejects.toThrow("no digest could be computed of pc");
			isPoisoned = false;
			await sweepDays({ db, now: () => clock });
			expect(await due()).toEqual([]);
			expect((await list(`from=${poisoned}&to=${poisoned}`)).data).toMatchObject([{ record_count: 1, current: true }]);
		});

		it("comes after all others, however many have failed, and those that have waited longest come first", async () => {
			await run(`INSERT INTO day_digests (publisher_id, day, due)
				WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT 'pc', '${poisoned}-' || (1000 + i), 1 FROM n`);
			await run(`UPDATE day_digest_state SET selected_at = ${clock}`);
			const parse = Date.parse;
			vi.spyOn(Date, "parse").mockImplementation((day) => {
				if (/^[\d-]{10}-/.test(day)) throw new Error("no such day");
				return parse(day);
			});
			const at = (run: number) => sweepDays({ db, now: () => clock + run });
			const runs = 30;
			for (let n = 0; n < runs; n++) await expect(at(n)).rejects.toThrow("no digest could be computed of pc");
			expect(await rowsOf("SELECT count(DISTINCT day) AS days, min(version) AS least, max(version) AS most FROM day_digests")).toEqual([
				{ days: 100, least: 1, most: 2 },
			]);
			await run(`INSERT INTO day_digests (publisher_id, day, due) VALUES ('pc', '${DAY}', 1)`);
			await expect(at(runs)).rejects.toThrow();
			expect(await dayOf()).toMatchObject({ current: true });
		});

		it("has a turn again after an hour, however many others are due, and leaves them the rest of it", async () => {
			await expect(sweep()).rejects.toThrow("no digest could be computed of pc");
			const days = Array.from({ length: 200 }, (_, at) => new Date(Date.UTC(2000, 0, 2 + at)).toISOString().slice(0, 10));
			const addDue = () =>
				rowsOf(
					`INSERT INTO day_digests (publisher_id, day, due) SELECT 'pc', atom, 1 FROM json_each(?)
						WHERE true ON CONFLICT (publisher_id, day) DO UPDATE SET due = 1`,
					JSON.stringify(days),
				);
			const isOld = "day < '2001-01-01'";
			await addDue();
			const sweepAt = async (at: number) => {
				await run(`UPDATE day_digest_state SET selected_at = ${at}`);
				await sweepDays({ db, now: () => at });
			};
			await sweepAt(clock + HOUR_MS - MINUTE_MS);
			expect(await rowsOf(`SELECT count(*) AS count FROM day_digests WHERE due = 1 AND ${isOld}`)).toEqual([{ count: 160 }]);
			await expect(sweepAt(clock + HOUR_MS + MINUTE_MS)).rejects.toThrow(`no digest could be computed of pc ${poisoned}`);
			expect(await rowsOf(`SELECT count(*) AS count FROM day_digests WHERE due = 1 AND ${isOld}`)).toEqual([{ count: 121 }]);
			isPoisoned = false;
			await sweepAt(clock + HOUR_MS + 2 * MINUTE_MS);
			expect(await failed()).toHaveLength(1);
			await sweepAt(clock + 2 * HOUR_MS + 2 * MINUTE_MS);
			expect((await list(`from=${poisoned}&to=${poisoned}`)).data).toMatchObject([{ record_count: 1, current: true }]);
		});
	});

	it.runIf(ON_D1).each(["CPC", "VOID", "CPA", "ADJUSTMENT"] as const)("%s: its records are found in an index", async (type) => {
		const plan = await planOf(queryOf(type, of, BEGINNING, 10));
		expect(plan.join("\n")).toMatch(/^SEARCH \w+ USING (COVERING )?INDEX/);
		if (type !== "ADJUSTMENT") expect(plan).toHaveLength(1);
	});
});
