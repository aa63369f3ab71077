/** Counters against the rows they were made of, on real D1: sound ones are found sound, wrong ones are found and written right. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import d1Migration from "../../drizzle/network/0033_network_reports.sql?raw";
import d1Campaigns from "../../drizzle/network/0045_campaigns_of_network_sums.sql?raw";
import d1PendingGross from "../../drizzle/network/0057_pending_gross.sql?raw";
import postgresMigration from "../../drizzle/postgres/0011_network_reports.sql?raw";
import postgresCampaigns from "../../drizzle/postgres/0025_campaigns_of_network_sums.sql?raw";
import postgresPendingGross from "../../drizzle/postgres/0040_pending_gross.sql?raw";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/time.ts";
import { changedDays } from "../../src/reconcile/changed-days.ts";
import { dailyDifferences } from "../../src/reconcile/daily-sums.ts";
import { networkDifferences } from "../../src/reconcile/network-sums.ts";
import { FIRST_PART, type Part, readPart, writePart } from "../../src/reconcile/parts.ts";
import { type ReconcileAnswer, reconcileAnswerSchema } from "../../src/reconcile/reconcile-answers.ts";
import { reconcileRoutes } from "../../src/reconcile/reconcile-routes.ts";
import { reconcilePart } from "../../src/reconcile/reconcile-sums.ts";
import { repairSums } from "../../src/reconcile/repair-sums.ts";
import { sweepSums } from "../../src/reconcile/sweep-sums.ts";
import { ACTOR, actedBy } from "../support/actor.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { consume, postbackMessage } from "../support/conversions.ts";
import { ON_D1 } from "../support/engine.ts";
import { TRAFFIC_TABLES } from "../support/forget-traffic.ts";
import { keepRows } from "../support/kept-rows.ts";
import { brandEntry, importFile, OPERATOR_HEADERS } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";
import { lookAtPublishers } from "../support/reconcile-day.ts";
import { importReportNetwork } from "../support/report-rows.ts";

const db = openDatabase(env.DB);
const DAY = "2026-11-18";
const AT = Date.parse(`${DAY}T15:00:00Z`);
/** 08:30 of the 19th in Tokyo. */
const LATE = Date.parse(`${DAY}T23:30:00Z`);
const TOKYO = 77;
const COUNTERS = ["daily_publishers", "daily_sources", "daily_network", "campaign_days", "campaign_totals"];

const click = (fields: Partial<ClickMessage> = {}) => clickMessage({ at: AT, publisher: "identity-pc", campaignId: 11, ...fields });
const count = (...clicks: ClickMessage[]) => consumeClicks(capDeps(), letters(...clicks));

async function ask(body: object): Promise<ReconcileAnswer> {
	const response = await exports.default.fetch("https://base.example/operator/reconcile-sums", {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify(body),
	});
	expect(response.status).toBe(200);
	return v.parse(reconcileAnswerSchema, await response.json());
}

/** What differs on the days around, and in totals. */
const compared = async (repair = false) => (await ask({ from: "2026-11-17", to: "2026-11-20", repair })).differences;
const run = (query: string) => env.DB.prepare(query).run();
const stored = async () => {
	const tables = await env.DB.batch(COUNTERS.map((table) => env.DB.prepare(`SELECT * FROM ${table}`)));
	// As texts, in an order of their own: PostgreSQL moves a row that is changed.
	return Object.fromEntries(COUNTERS.map((table, at) => [table, tables[at]?.results.map((row) => JSON.stringify(row)).sort()]));
};

const FURTHER_TABLES = ["retention", "campaign_clocks", "reconciliation_days", "sum_differences", "click_sequence", "reconciliation"];

let restore = async () => {};

beforeAll(async () => {
	await importReportNetwork();
	await importFile({ brands: [brandEntry("fans.example", TOKYO, {}, { timezone: "Asia/Tokyo" })] });
	await run("DELETE FROM campaign_clocks");
	await run(`UPDATE campaigns SET total_budget_micros = 1000000000000 WHERE campaign_id IN (11, ${TOKYO})`);
	await run(
		`INSERT INTO campaign_totals (campaign_id) SELECT campaign_id FROM campaigns WHERE campaign_id IN (11, ${TOKYO}) ON CONFLICT DO NOTHING`,
	);
	const converted = click({ publisher: "identity-pa", texts: { subi: "a" } });
	await count(
		...[
			click(),
			click({ texts: { subi: "a" } }),
			click({ texts: { psorc: "b" }, bidMicros: 310_000 }),
			click({ reason: "bot" }),
			converted,
		],
		...[click({ campaignId: TOKYO, brandId: 3 }), click({ campaignId: TOKYO, brandId: 3, at: LATE }), click({ at: LATE + DAY_MS })],
	);
	const sale = { cid: converted.hash, eventAt: AT + HOUR_MS, salesMicros: 90_000_000 };
	await consume(
		postbackMessage("northwind", { ...sale, txnid: "kept" }),
		postbackMessage("northwind", { ...sale, txnid: "pending", status: "pending", payoutMicros: 4_000_000, eventAt: AT + DAY_MS }),
		postbackMessage("northwind", { ...sale, txnid: "cancelled", status: "cancelled" }),
	);
	await run(
		`INSERT INTO adjustments (id, kind, actor, at, text, request, publisher_id, date, amount_micros, undoes) VALUES
			('019f0001', 'amount', 'o', 0, '', '{}', 'pa', '${DAY}', 2500000, NULL), ('019f0002', 'amount', 'o', 0, '', '{}', 'pa', '${DAY}', 700000, NULL),
			('019f0003', 'undo', 'o', 0, '', '{}', NULL, NULL, NULL, '019f0002')`,
	);
	await run(`UPDATE daily_publishers SET adjustment_micros = 2500000 WHERE publisher_id = 'pa' AND date = '${DAY}'`);
	restore = await keepRows([...TRAFFIC_TABLES, ...FURTHER_TABLES, "brands", "campaigns"]);
});

beforeEach(() => restore());

describe("worker: comparing counters with their rows", () => {
	it("counters that the consumers wrote differ in nothing", async () => {
		expect((await rowsOf("SELECT * FROM daily_publishers WHERE conversion_count > 0")).length).toBe(2);
		expect((await rowsOf("SELECT * FROM campaign_days")).length).toBe(3);
		expect(await ask({ from: DAY, to: "2026-11-20" })).toEqual({
			days: 3,
			from: DAY,
			to: "2026-11-20",
			of_days: 3,
			campaigns: 2,
			clicks_gone: [],
			difference_count: 0,
			differences: [],
			repaired: false,
			next_cursor: null,
		});
	});

	const tampered: [counter: string, column: string, where: string, by: number, shown: object][] = [
		["daily_publishers", "click_count", `publisher_id = 'pc' AND date = '${DAY}'`, 1, { publisher: "pc", stored: 6, counted: 5 }],
		["daily_publishers", "click_revenue_micros", "publisher_id = 'pc'", -100, { publisher: "pc", column: "click_revenue" }],
		["daily_publishers", "conversion_count", `publisher_id = 'pa' AND date = '${DAY}'`, -1, { publisher: "pa", stored: 0, counted: 1 }],
		["daily_publishers", "conversion_revenue_micros", "date = '2026-11-19' AND publisher_id = 'pa'", 5, { day: "2026-11-19" }],
		["daily_publishers", "gross_micros", "publisher_id = 'pa'", 5, { column: "gross" }],
		["daily_publishers", "sales_micros", "publisher_id = 'pa'", 5, { column: "sales" }],
		["daily_publishers", "adjustment_micros", `publisher_id = 'pa' AND date = '${DAY}'`, 700_000, { stored: "3.2000", counted: "2.5000" }],
		["daily_sources", "click_revenue_micros", "source_id = 'b'", 10_000, { source: "b", stored: "0.3200", counted: "0.3100" }],
		["daily_sources", "conversion_revenue_micros", "source_id = 'a' AND publisher_id = 'pa'", 1, { source: "a", publisher: "pa" }],
		[
			"daily_network",
			"click_count",
			`campaign_id = ${TOKYO}`,
			3,
			{ campaign_id: TOKYO, publisher: "pc", brand: 3, kind: "openrtb", country: "US", stored: 5, counted: 2 },
		],
		["daily_network", "gross_micros", "publisher_id = 'pa' AND approved_count = 1", 1, { campaign_id: 11, publisher: "pa" }],
		["daily_network", "click_gross_micros", "publisher_id = 'pc'", 5, { column: "click_gross", reason: "" }],
		["daily_network", "approved_count", "publisher_id = 'pa'", 1, { column: "approved_count", platform: "northwind" }],
		["daily_network", "cancelled_count", "publisher_id = 'pa'", 1, { column: "cancelled_count", counted: 0 }],
		["campaign_days", "spend_micros", `campaign_id = 11 AND day = '${DAY}'`, 1_000_000, { day: DAY, campaign_id: 11, column: "spend" }],
		["campaign_days", "gross_micros", `campaign_id = 11 AND day = '${DAY}'`, 1_000_000, { day: DAY, campaign_id: 11, column: "gross" }],
		["campaign_totals", "click_count", "campaign_id = 11", 1, { day: null, campaign_id: 11, column: "click_count" }],
		["campaign_totals", "spend_micros", `campaign_id = ${TOKYO}`, -1, { day: null, campaign_id: TOKYO, column: "spend" }],
		["campaign_totals", "gross_micros", `campaign_id = ${TOKYO}`, -1, { day: null, campaign_id: TOKYO, column: "gross" }],
	];
	it.each(tampered)("%s: a wrong %s of %s is found, and written right", async (counter, column, where, by, shown) => {
		const before = await stored();
		await run(`UPDATE ${counter} SET ${column} = ${column} + ${by} WHERE ${where}`);
		const found = await compared();
		expect(found).toContainEqual(expect.objectContaining({ counter, ...shown }));
		expect(found.every((difference) => difference.counter === counter)).toBe(true);
		expect(await compared(true)).toEqual(found);
		// In which nothing differed.
		expect(await stored()).toEqual(before);
	});

	it.each(COUNTERS)("%s: rows that are not there are found, and written anew", async (counter) => {
		// In any order: no counter's key is the same columns.
		const stored = async () => (await rowsOf(`SELECT * FROM ${counter}`)).map((row) => JSON.stringify({ ...row, source_count: 0 })).sort();
		const before = await stored();
		await run(`DELETE FROM ${counter}`);
		expect((await compared()).length).toBeGreaterThan(0);
		await compared(true);
		expect(await stored()).toEqual(before);
		expect(await compared()).toEqual([]);
	});

	it("a migration's sums of clicks and conversions that there were are what they give", async () => {
		await count(click({ publisher: "identity-pa", kind: "link" }));
		await run("UPDATE clicks SET country = NULL, gross_micros = NULL WHERE kind = 'link'");
		await run("UPDATE clicks SET publisher_id = NULL, platform = NULL WHERE source_id = 'b'");
		await run("UPDATE clicks SET reason = 'voided' WHERE id = (SELECT min(id) FROM clicks WHERE reason IS NULL)");
		await run("UPDATE conversions SET click_id = NULL WHERE txnid = 'pending'");
		await run("DELETE FROM daily_network");
		const ofNetwork = async () => (await compared()).filter(({ counter }) => counter === "daily_network");
		expect((await ofNetwork()).length).toBeGreaterThan(10);
		const migrations = ON_D1 ? [d1Migration, d1PendingGross] : [postgresMigration, postgresPendingGross];
		const statements = migrations.flatMap((text) => text.match(/^INSERT INTO daily_network [^;]+/gm) ?? []);
		expect(statements).toHaveLength(3);
		for (const statement of statements) await run(statement);
		expect(await ofNetwork()).toEqual([]);
	});

	it("a migration brings what sums of campaigns alone knew, paid clicks that are removed, once, and the sums of others differ in nothing", async () => {
		const migrate = async () => {
			const statements = (ON_D1 ? d1Campaigns : postgresCampaigns).match(/^(INSERT|DELETE) [^;]+/gm) ?? [];
			expect(statements).toHaveLength(2);
			for (const statement of statements) await run(statement);
		};
		// As earlier versions counted.
		await run(`INSERT INTO daily_campaigns (campaign_id, brand_id, publisher_id, date, click_count, click_revenue_micros, conversion_count)
			SELECT campaign_id, brand_id, publisher_id, date, sum(click_count), sum(click_revenue_micros), sum(approved_count + pending_count)
			FROM daily_network WHERE reason = '' AND publisher_id <> '' GROUP BY 1, 2, 3, 4`);
		const before = await stored();
		await migrate();
		expect(await stored()).toEqual(before);
		const old = (day: string, clicks: number, micros: number, conversions: number) =>
			run(`INSERT INTO daily_campaigns (campaign_id, brand_id, publisher_id, date, click_count, click_revenue_micros, conversion_count)
				VALUES (11, 1, 'pc', '${day}', ${clicks}, ${micros}, ${conversions})`);
		await old("2025-01-01", 5, 500_000, 0);
		await old("2025-01-02", 7, 700_000, 2);
		await old("2025-01-03", 0, 0, 1);
		const kept = (reason: string, clicks: number, micros: number) =>
			run(`INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, click_count, click_gross_micros,
					click_revenue_micros) VALUES ('2025-01-02', 11, 'pc', 1, 'northwind', 'US', 'link', '${reason}', ${clicks}, ${micros}, ${micros})`);
		await kept("", 2, 200_000);
		await kept("bot", 9, 0);
		await run(`INSERT INTO sum_differences (counter, day, key, column_name, stored, counted, found_at)
			VALUES ('daily_campaigns', '2025-01-02', '{}', 'clickCount', 1, 2, 0)`);
		await migrate();
		const rows = () =>
			rowsOf(`SELECT date, platform, country, kind, reason, click_count, click_gross_micros AS gross, click_revenue_micros AS revenue
				FROM daily_network WHERE date < '2026-01-01' ORDER BY 1, 2, 5`);
		const brought = { platform: "", country: "", kind: "", reason: "" };
		const kind = { platform: "northwind", country: "US", kind: "link" };
		const moved = [
			{ date: "2025-01-01", ...brought, click_count: 5, gross: 500_000, revenue: 500_000 },
			{ date: "2025-01-02", ...brought, click_count: 5, gross: 500_000, revenue: 500_000 },
			{ date: "2025-01-02", ...kind, reason: "", click_count: 2, gross: 200_000, revenue: 200_000 },
			{ date: "2025-01-02", ...kind, reason: "bot", click_count: 9, gross: 0, revenue: 0 },
		];
		expect(await rows()).toEqual(moved);
		await migrate();
		expect(await rows()).toEqual(moved);
		expect(await rowsOf("SELECT * FROM sum_differences")).toEqual([]);
		expect(await compared()).toEqual([]);
	});

	it("of sums of publishers, which are many, what differs is all that is read", async () => {
		const read = async () => Object.values((await lookAtPublishers({ db }, DAY)).state.sides).map(({ stored }) => stored.length);
		expect(await rowsOf(`SELECT * FROM daily_network WHERE date = '${DAY}'`)).not.toEqual([]);
		expect(await read()).toEqual([0, 0, 0]);
		await run("UPDATE daily_network SET sales_micros = sales_micros + 3 WHERE approved_count > 0");
		await run("UPDATE daily_sources SET click_count = click_count + 3 WHERE source_id = 'b'");
		expect(await read()).toEqual([0, 1, 1]);
	});

	it("clicks of a publisher whom nobody knows differ in nothing, paid or not", async () => {
		await count(click({ publisher: "identity-of-nobody" }), click({ publisher: "identity-of-nobody", reason: "bot" }));
		expect(await rowsOf("SELECT reason, pricing_model FROM clicks WHERE publisher_id IS NULL ORDER BY id")).toHaveLength(2);
		expect(await rowsOf("SELECT reason FROM daily_network WHERE publisher_id = ''")).toHaveLength(2);
		expect(await compared()).toEqual([]);
		await run("UPDATE daily_network SET click_count = click_count + 1 WHERE publisher_id = '' AND reason = 'bot'");
		expect(await compared()).toMatchObject([{ counter: "daily_network", publisher: "", reason: "bot", stored: 2, counted: 1 }]);
	});

	it("a day of a campaign on other clocks is compared by those", async () => {
		const days = `SELECT day, click_count FROM campaign_days WHERE campaign_id = ${TOKYO} ORDER BY day`;
		const sound = [{ day: "2026-11-19", click_count: 2 }];
		expect(await rowsOf(days)).toEqual(sound);
		await run(`UPDATE campaign_days SET click_count = 5 WHERE campaign_id = ${TOKYO} AND day = '2026-11-19'`);
		expect(await ask({ from: "2026-11-19", to: "2026-11-19", repair: true })).toMatchObject({
			differences: [{ counter: "campaign_days", day: "2026-11-19", campaign_id: TOKYO, stored: 5, counted: 2 }],
			repaired: true,
		});
		expect(await rowsOf(days)).toEqual(sound);
	});

	it("days before a campaign's clocks changed are left alone", async () => {
		await importFile({ brands: [brandEntry("fans.example", TOKYO, {}, { timezone: "America/Los_Angeles" })] });
		expect(await rowsOf("SELECT campaign_id FROM campaign_clocks")).toEqual([{ campaign_id: TOKYO }]);
		await run(`UPDATE campaign_clocks SET changed_at = ${LATE + HOUR_MS}`);
		expect(await compared()).toEqual([]);
		await run("DELETE FROM campaign_clocks");
		expect((await compared()).map(({ counter }) => counter)).toContain("campaign_days");
	});

	it("an import that changes no clocks notes none", async () => {
		await importFile({ brands: [brandEntry("fans.example", TOKYO, {}, { timezone: "Asia/Tokyo", daily_click_cap: 7 })] });
		expect(await rowsOf("SELECT campaign_id FROM campaign_clocks")).toEqual([]);
	});

	it("where clicks were removed, their sums are not compared, and that is said; all others are", async () => {
		await run("INSERT INTO retention (name, cursor) VALUES ('clicks', (SELECT max(id) FROM clicks))");
		await run("DELETE FROM clicks WHERE NOT EXISTS (SELECT 1 FROM conversions v WHERE v.click_id = clicks.id)");
		await run(`UPDATE daily_publishers SET gross_micros = gross_micros + 1 WHERE publisher_id = 'pa' AND date = '${DAY}'`);
		const answer = await ask({ from: DAY, to: "2026-11-21" });
		expect(answer.differences).toMatchObject([{ counter: "daily_publishers", column: "gross" }]);
		expect(answer.clicks_gone).toEqual([DAY, "2026-11-19", "2026-11-20"]);
	});

	it("ends with the last day that a date can tell", async () => {
		const last = "9999-12-31";
		expect(await ask({ from: last, to: last })).toMatchObject({ days: 1, from: last, to: last, next_cursor: null });
	});

	it("goes on with a cursor until all is compared, totals last", async () => {
		await run("UPDATE campaign_totals SET click_count = click_count + 1 WHERE campaign_id = 11");
		// The time of a request stands still: only its days are bounded.
		const routes = actedBy(reconcileRoutes({ db, now: () => LATE }));
		const askIn = async (body: object) =>
			v.parse(reconcileAnswerSchema, await (await routes.request("/", { method: "POST", body: JSON.stringify(body) })).json());
		const first = await askIn({ from: "2026-10-01", to: "2026-11-20" });
		expect(first).toMatchObject({
			days: 30,
			from: "2026-10-01",
			to: "2026-10-30",
			of_days: 51,
			difference_count: 0,
			next_cursor: "day 2026-10-31",
		});
		const second = await askIn({ from: "2026-10-01", to: "2026-11-20", cursor: first.next_cursor });
		expect(second).toMatchObject({ days: 21, to: "2026-11-20", campaigns: 2, difference_count: 1, next_cursor: null });
		// Within a day, too, behind any publisher that an import takes.
		const parts = ["publishers pa", `publishers ${"p".repeat(255)}`, "publishers p\na", "campaigns", "campaigns 11"];
		for (const part of parts) {
			expect(readPart(part)).not.toBeNull();
			const asked = { to: "2026-11-20", cursor: `day 2026-11-20 ${part}` };
			expect(await askIn(asked)).toMatchObject({ days: 1, difference_count: 1, next_cursor: null });
		}
	});

	it("goes on with a cursor before an invocation's statements are used up, however many publishers each day has", async () => {
		await run(`INSERT INTO publishers (id, name, publisher_id, publisher_identity, serving_engine_enabled, openrtb_enabled,
				revenue_share_ppm, pricing_model, cashback_enabled, sales_data_enabled, campaign_id_enabled, blocked_brands)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4100)
			SELECT 'many-' || i, 'many', 'many-' || i, 'many-' || i, 0, 0, 800000, 'CPA', 0, 0, 0, '[]' FROM n`);
		let statements = 0;
		const counted = openDatabase(
			wrapD1(env.DB, ({ length }) => {
				statements += length;
			}),
		);
		const routes = actedBy(reconcileRoutes({ db: counted, now: () => LATE }));
		const asked: number[] = [];
		let days = 0;
		for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
			statements = 0;
			const body = JSON.stringify({ from: "2026-10-20", to: "2026-11-18", ...(cursor !== null && { cursor }) });
			const answer: ReconcileAnswer = v.parse(reconcileAnswerSchema, await (await routes.request("/", { method: "POST", body })).json());
			expect(answer.difference_count).toBe(0);
			days += answer.days;
			cursor = answer.next_cursor;
			asked.push(statements);
		}
		// Fewer than D1 lets an invocation have: what asks for them has some, too.
		expect(asked.length).toBeGreaterThan(1);
		expect(Math.max(...asked)).toBeLessThan(900);
		expect(days).toBe(30);
		await run("DELETE FROM publishers WHERE id LIKE 'many-%'");
	}, 60_000);

	it.each([
		[{ from: "2026-02-30" }, "from"],
		[{ to: "soon" }, "to"],
		[{ from: "2026-11-02", to: "2026-11-01" }, "to"],
		[{ cursor: "x" }, "cursor"],
		[{ cursor: "day 2026-10-32" }, "cursor"],
		[{ mend: true }, "mend"],
	])("refuses %j", async (body, path) => {
		const response = await exports.default.fetch("https://base.example/operator/reconcile-sums", {
			method: "POST",
			headers: OPERATOR_HEADERS,
			body: JSON.stringify(body),
		});
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ faults: [{ path }] });
	});
});

describe("worker: repairs while clicks are counted", () => {
	const wrong = () => run(`UPDATE daily_publishers SET click_count = click_count + 40 WHERE publisher_id = 'pc' AND date = '${DAY}'`);
	const clickCount = async () =>
		(await rowsOf(`SELECT click_count FROM daily_publishers WHERE publisher_id = 'pc' AND date = '${DAY}'`))[0]?.click_count;

	it("a click that is counted between the look and the repair is not lost", async () => {
		await wrong();
		const { version, differences } = await lookAtPublishers({ db }, DAY);
		await count(click(), click({ texts: { subi: "a" } }));
		await repairSums(db, version, differences);
		expect(await clickCount()).toBe(7);
		expect(await compared()).toEqual([]);
	});

	it("of two repairs that saw the same, one is made", async () => {
		await wrong();
		const { version, differences } = await lookAtPublishers({ db }, DAY);
		await repairSums(db, version, differences);
		await expect(repairSums(db, version, differences)).rejects.toThrow("meanwhile");
		expect(await clickCount()).toBe(5);
	});

	it("whatever comes together, the counters are right in the end", async () => {
		await wrong();
		await Promise.all([
			...Array.from({ length: 6 }, () => count(click(), click({ publisher: "identity-pa" }))),
			...Array.from({ length: 3 }, () => compared(true)),
			consume(postbackMessage("northwind", { txnid: "kept", cid: "c", eventAt: AT, status: "cancelled" })),
		]);
		expect(await clickCount()).toBe(11);
		expect(await compared()).toEqual([]);
	});
});

describe("worker: a day that has more than one transaction takes", () => {
	/** One publisher, one campaign and three clicks each. */
	const LIMITS = { publishers: 1, rows: 1, campaigns: 1, clicksAStatement: 3 };

	/** @param between runs between two parts */
	async function partsOf(day: string, repair: typeof ACTOR | false = false, between = async () => {}) {
		const parts: string[] = [];
		const differences: object[] = [];
		for (let part: Part | null = FIRST_PART; part !== null; ) {
			parts.push(writePart(part));
			expect(readPart(writePart(part))).toEqual(part);
			const result: Awaited<ReturnType<typeof reconcilePart>> = await reconcilePart({ db, now: Date.now }, day, part, repair, LIMITS);
			differences.push(
				...result.differences.map(({ counter, key, column, stored, counted }) => ({ counter, ...key, column, stored, counted })),
			);
			part = result.next;
			await between();
		}
		return { parts, differences };
	}

	it("is compared part by part: what differs is found, kept and written right, whichever part it is in", async () => {
		await count(...Array.from({ length: 7 }, () => click({ texts: { subi: "many" } })));
		const sound = await stored();
		expect((await partsOf("2026-11-19")).differences).toEqual([]);
		const { parts, differences: none } = await partsOf(DAY);
		expect(none).toEqual([]);
		expect(parts.filter((part) => part.startsWith("publishers")).length).toBeGreaterThan(2);
		expect(parts.filter((part) => part.startsWith("campaigns")).length).toBeGreaterThan(2);
		expect(parts.slice(0, 2)).toEqual(["publishers", "publishers pa"]);

		await run(`UPDATE daily_sources SET click_count = click_count + 2 WHERE source_id = 'many' AND date = '${DAY}'`);
		await run(
			`UPDATE daily_network SET gross_micros = gross_micros + 3 WHERE publisher_id = 'pa' AND date = '${DAY}' AND approved_count = 1`,
		);
		await run(`UPDATE campaign_days SET click_count = click_count + 4 WHERE campaign_id = 11 AND day = '${DAY}'`);
		const { differences } = await partsOf(DAY);
		expect(differences).toMatchObject([
			{ counter: "daily_network", publisherId: "pa", column: "grossMicros" },
			{ counter: "daily_sources", publisherId: "pc", sourceId: "many", column: "clickCount", stored: 9, counted: 7 },
			{ counter: "campaign_days", campaignId: 11, column: "clickCount" },
		]);
		const kept = () => rowsOf("SELECT counter FROM sum_differences ORDER BY counter");
		expect(await kept()).toEqual(
			differences
				.map(({ counter }: { counter?: string }) => ({ counter }))
				.sort((a, b) => (String(a.counter) < String(b.counter) ? -1 : 1)),
		);
		await partsOf(DAY, ACTOR);
		expect(await stored()).toEqual(sound);
		expect(await kept()).toEqual([]);
	});

	it.runIf(ON_D1)("is read by publisher, and no further than the part goes", async () => {
		const page = { after: "a", upTo: "b" };
		for (const statement of [
			dailyDifferences(DAY, page),
			networkDifferences(DAY, page),
			networkDifferences(DAY, { after: "", upTo: "b" }),
		]) {
			const plan = (await planOf(statement)).filter((detail) => /^(SEARCH|SCAN) [^krs(] /.test(detail));
			expect(plan.filter((step) => / c /.test(step)).length).toBeGreaterThan(1);
			const isBounded = (step: string) => /\((publisher_id=\? AND \w+[>=]|id[>=]|undoes=|name=)/.test(step);
			expect(plan.filter((step) => !isBounded(step))).toEqual([]);
		}
	});

	it("is not called wrong for what is counted meanwhile", async () => {
		await count(...Array.from({ length: 4 }, () => click()));
		const more = () => count(click(), click({ publisher: "identity-pa", campaignId: TOKYO, brandId: 3 }));
		expect((await partsOf(DAY, false, more)).differences).toEqual([]);
		// One of an hour before comes with each statement.
		let late = 0;
		const interrupted = openDatabase(wrapD1(env.DB, () => (late < 12 ? count(click({ at: AT - ++late * HOUR_MS })) : undefined)));
		const parts = { ...LIMITS, campaigns: 100 };
		const { differences } = await reconcilePart({ db: interrupted, now: Date.now }, DAY, { of: "campaigns", after: 0 }, false, parts);
		expect(late).toBeGreaterThan(4);
		expect(differences).toEqual([]);
		expect(await compared()).toEqual([]);
	});
});

describe("worker: the hourly comparison", () => {
	const NOW = LATE + DAY_MS + HOUR_MS;
	const sweepAll = async (now: number) => {
		for (let runs = 0; runs < 10; runs++) await sweepSums({ db, now: () => now });
	};
	const differing = () => rowsOf("SELECT day, counter, column_name, stored, counted FROM sum_differences ORDER BY day, counter");

	it("finds what differs of today and yesterday, keeps it for the status, and forgets it once it is right", async () => {
		await run(`UPDATE daily_sources SET click_count = click_count + 1 WHERE source_id = 'b' AND date = '2026-11-18'`);
		await run("UPDATE campaign_totals SET click_count = click_count + 2 WHERE campaign_id = 11");
		await sweepAll(LATE + HOUR_MS / 4);
		const found = await differing();
		expect(found).toEqual([
			expect.objectContaining({ day: "", counter: "campaign_totals", column_name: "clickCount" }),
			{ day: DAY, counter: "daily_sources", column_name: "clickCount", stored: 2, counted: 1 },
		]);
		await compared(true);
		expect(await differing()).toEqual([]);
	});

	it("what still differs has differed since it was first found", async () => {
		const found = () => rowsOf("SELECT counter, stored, found_at FROM sum_differences ORDER BY counter");
		await run(`UPDATE daily_sources SET click_count = click_count + 1 WHERE source_id = 'b' AND date = '2026-11-18'`);
		await sweepAll(LATE + HOUR_MS / 4);
		await run(`UPDATE daily_sources SET click_count = click_count + 1 WHERE source_id = 'b' AND date = '2026-11-18'`);
		await run("UPDATE campaign_totals SET click_count = click_count + 2 WHERE campaign_id = 11");
		await sweepAll(NOW);
		expect(await found()).toEqual([
			{ counter: "campaign_totals", stored: expect.any(Number), found_at: NOW },
			{ counter: "daily_sources", stored: 3, found_at: LATE + HOUR_MS / 4 },
		]);
		await compared(true);
	});

	it("looks once an hour, and a run compares few days", async () => {
		await sweepSums({ db, now: () => NOW });
		const due = () => rowsOf("SELECT day FROM reconciliation_days");
		const waiting = (await due()).length;
		await sweepAll(NOW);
		expect(await due()).toEqual([]);
		expect(waiting).toBeLessThan(4);
		await sweepSums({ db, now: () => NOW + HOUR_MS / 2 });
		expect(await rowsOf("SELECT selected_at FROM reconciliation")).toEqual([{ selected_at: NOW }]);
		await sweepSums({ db, now: () => NOW + HOUR_MS });
		expect(await rowsOf("SELECT selected_at FROM reconciliation")).toEqual([{ selected_at: NOW + HOUR_MS }]);
	});

	it("compares days of conversions and adjustments that were written since, however long ago the days are", async () => {
		const later = Date.now() + 30 * DAY_MS;
		await sweepAll(later);
		const old = Date.parse("2026-09-03T10:00:00Z");
		await consume(
			postbackMessage("northwind", {
				txnid: "old",
				cid: (await rowsOf("SELECT click_hash FROM clicks WHERE reason IS NULL ORDER BY id LIMIT 1"))[0]?.click_hash as string,
				eventAt: old,
			}),
		);
		await run(`UPDATE conversions SET updated_at = ${later + 1} WHERE txnid = 'old'`);
		await run("UPDATE daily_network SET gross_micros = gross_micros + 5 WHERE date = '2026-09-03'");
		await sweepAll(later + HOUR_MS);
		expect((await differing()).map(({ day }) => day)).toEqual(["2026-09-03"]);
	});

	it("takes adjustments by their time, whatever their ids, however many there were before", async () => {
		const now = Date.parse("2026-11-21T12:00:00Z");
		const book = (id: string, at: number, date: string) =>
			env.DB.prepare(
				`INSERT INTO adjustments (id, kind, actor, at, text, request, publisher_id, date, amount_micros)
				VALUES (?, 'amount', 'ada', ?, 't', '{}', 'acme', ?, 100)`,
			).bind(id, at, date);
		const before = Array.from({ length: 401 }, (_, n) => book(`claim-${String(n).padStart(4, "0")}`, now - 300 * DAY_MS, "2026-01-25"));
		await env.DB.batch([...before, book("claim-01a2", now, "2026-11-20"), book("00-outage", now, "2026-11-19")]);
		const days = await changedDays(db, now - HOUR_MS);
		expect(days).toEqual(expect.arrayContaining(["2026-11-19", "2026-11-20"]));
		expect(days).not.toContain("2026-01-25");
	});

	it("compares days of clicks that publishers are paid for and whose conversions were written since", async () => {
		const later = Date.now() + 30 * DAY_MS;
		const old = click({ at: Date.parse("2026-09-02T10:00:00Z") });
		await count(old);
		await sweepAll(later);
		await consume(postbackMessage("northwind", { txnid: "old", cid: old.hash, eventAt: Date.parse("2026-09-05T10:00:00Z") }));
		await run(`UPDATE conversions SET updated_at = ${later + 1} WHERE txnid = 'old'`);
		await run("UPDATE daily_publishers SET gross_micros = gross_micros + 5 WHERE date = '2026-09-02'");
		await sweepAll(later + HOUR_MS);
		expect((await differing()).map(({ day }) => day)).toEqual(["2026-09-02"]);
	});

	it("gives days their turn however far back a platform has dated a sale", async () => {
		await sweepAll(NOW);
		await count(click({ at: Date.parse("2026-09-02T10:00:00Z") }));
		await run("INSERT INTO daily_publishers (publisher_id, date) VALUES ('acme', '2001-02-03')");
		await run("UPDATE reconciliation SET turn_day = NULL");
		await run("UPDATE daily_publishers SET sales_micros = sales_micros + 5 WHERE date = '2026-09-02'");
		for (let hour = 1; hour <= 40 && (await differing()).length === 0; hour++) await sweepAll(NOW + 10 * DAY_MS + hour * HOUR_MS);
		expect((await differing()).map(({ day }) => day)).toEqual(["2026-09-02"]);
	});

	it.each([
		["wrong", "UPDATE daily_network SET gross_micros = gross_micros + 5 WHERE date = '2026-09-05'"],
		["lost", "DELETE FROM daily_network WHERE date = '2026-09-05'"],
	])("gives a day its turn whose only sums are those of a sale of a publisher paid by clicks, and %s", async (_, spoil) => {
		await sweepAll(NOW);
		const old = click({ at: Date.parse("2026-09-02T10:00:00Z") });
		await count(old);
		await consume(postbackMessage("northwind", { txnid: "old", cid: old.hash, eventAt: Date.parse("2026-09-05T10:00:00Z") }));
		await run("UPDATE conversions SET updated_at = 1 WHERE txnid = 'old'");
		await run("UPDATE reconciliation SET turn_day = NULL");
		await run(spoil);
		for (let hour = 1; hour <= 60 && (await differing()).length === 0; hour++) await sweepAll(NOW + 10 * DAY_MS + hour * HOUR_MS);
		expect(new Set((await differing()).map(({ day }) => day))).toEqual(new Set(["2026-09-05"]));
	});

	it("gives every day its turn", async () => {
		await sweepAll(NOW);
		await run("UPDATE daily_publishers SET click_count = click_count + 1 WHERE date = '2026-11-18'");
		for (let hour = 1; hour <= 40 && (await differing()).length === 0; hour++) await sweepAll(NOW + 10 * DAY_MS + hour * HOUR_MS);
		expect((await differing()).map(({ day }) => day)).toEqual(["2026-11-18", "2026-11-18"]);
	});
});
