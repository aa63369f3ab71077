/** Every report over a period gives the sum of the ledger, whatever came in, how often and in which order, and whatever operators said. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { parseMicros } from "../../src/lib/money.ts";
import { readNetworkReport } from "../../src/network-reports/read-report.ts";
import { REPORT_GROUPS, type ReportTotal } from "../../src/network-reports/report-answer.ts";
import { readNetworkReportQuery } from "../../src/network-reports/report-request.ts";
import { clickFacts } from "../../src/origin-deps.ts";
import { readClicksQuery } from "../../src/publisher-api/clicks-request.ts";
import { readConversionsQuery } from "../../src/publisher-api/conversions-request.ts";
import { readEarningsQuery } from "../../src/publisher-api/earnings-request.ts";
import { readClicks } from "../../src/publisher-api/read-clicks.ts";
import { readConversions } from "../../src/publisher-api/read-conversions.ts";
import { readEarnings } from "../../src/publisher-api/read-earnings.ts";
import { consume, postbackMessage } from "../support/conversions.ts";
import { ON_D1 } from "../support/engine.ts";
import { TRAFFIC_TABLES } from "../support/forget-traffic.ts";
import { keepRows } from "../support/kept-rows.ts";
import { importExactly, NORTHWIND } from "../support/network-import.ts";
import { reconcileDay } from "../support/reconcile-day.ts";
import {
	DAY_MS,
	deliver,
	deliveriesOf,
	FIRST_DAY,
	hashOf,
	history,
	intervene,
	PUBLISHERS,
	type PublisherId,
} from "../support/report-histories.ts";
import { askReport, CPA_KEY, importReportNetwork, setPublisher } from "../support/report-rows.ts";

/** Holds every click and event that is made here. */
const PERIOD = { start_date: "2026-11-05", end_date: "2026-11-25" };
/** Holds every click, and some days around them. */
const CLICKED = { start_date: "2026-11-08", end_date: "2026-11-16" };

let restore = async () => {};

/** The network as it was, and no traffic. */
async function forgetAll(): Promise<void> {
	await restore();
	// The consumer keeps what it knows of publishers for seconds.
	clickFacts.forget();
}

const RATES = Array.from({ length: 30 }, (_, n) => new Date(FIRST_DAY + (n - 10) * DAY_MS).toISOString().slice(0, 10))
	.filter((_, n) => n % 3 !== 0)
	.map((date) => ({ currency: "EUR", date, usd: "1.0837" }));

type Record_ = Record<string, unknown>;

/** All records of a report, page by page. */
async function readPages(
	path: "revenue-share" | "clicklevel",
	key: string,
	fields: Record<string, string>,
	limit: number,
): Promise<Record_[]> {
	const records: Record_[] = [];
	for (let page = 1; ; page++) {
		const answer = await askReport(path, key, { ...fields, page, limit });
		records.push(...answer.data);
		if (page >= answer.total_pages) {
			expect(records).toHaveLength(answer.total_records);
			return records;
		}
	}
}

type Question = { path: "revenue-share" | "clicklevel"; key: string; fields: Record<string, string> };

/** Reports of single rows, of both publishers; each period holds some rows. */
const STILL: readonly Question[] = Object.values(PUBLISHERS).flatMap((key) => [
	{ path: "revenue-share", key, fields: { report_type: "clickid_level", detail: "1", ...PERIOD } },
	{ path: "clicklevel", key, fields: { detail: "1", start_date: "2026-11-10", end_date: "2026-11-12" } },
]);

/** Reads the whole report, and the same as of that moment page by page. */
async function startReading({ path, key, fields }: Question, limit: number) {
	const { data: wanted, as_of, total_records } = await askReport(path, key, { ...fields, limit: 5_000 });
	expect(total_records).toBe(wanted.length);
	const records: Record_[] = [];
	let page = 0;
	const readNext = async (): Promise<boolean> => {
		const answer = await askReport(path, key, { ...fields, page: ++page, limit, as_of: Number(as_of) });
		expect([answer.total_records, answer.as_of]).toEqual([wanted.length, as_of]);
		records.push(...answer.data);
		return page < answer.total_pages;
	};
	const readRest = async () => {
		while (await readNext());
		return records;
	};
	return { wanted, readNext, readRest };
}

/** The sum of a money field, micro-dollars; every value has exactly four decimals. */
function sumOf(records: readonly Record_[], field: string): number {
	return records.reduce((sum, record) => {
		const text = String(record[field] ?? "0.0000");
		expect(text).toMatch(/^-?\d+\.\d{4}$/);
		return sum + (parseMicros(text) ?? Number.NaN);
	}, 0);
}

function sumsBy(records: readonly Record_[], key: string, field: string): Record<string, number> {
	const groups = Object.entries(Object.groupBy(records, (record) => String(record[key])));
	return Object.fromEntries(groups.map(([name, of = []]) => [name, sumOf(of, field)] as const).filter(([, sum]) => sum !== 0));
}

/** What the ledger owes a publisher, from its rows alone. */
async function ledgerOf(
	publisher: PublisherId,
): Promise<{ clicks: number; revenue: number; pending: number; credited: number; amounts: number; gross: number; sales: number }> {
	const counted = "FROM conversions WHERE publisher_id = ?1 AND stage = 'settled' AND status IN ('approved', 'pending') AND test = 0";
	// Of a publisher paid by clicks, what came of clicks that were billed.
	const shown = `${counted} AND (pricing_model = 'CPA' OR EXISTS (SELECT 1 FROM clicks WHERE id = click_id AND (reason IS NULL OR reason = 'voided')))`;
	const row = await env.DB.prepare(
		`SELECT (SELECT COUNT(*) FROM clicks WHERE publisher_id = ?1 AND reason IS NULL) AS clicks,
			(SELECT COALESCE(SUM(revenue_micros), 0) FROM clicks WHERE publisher_id = ?1 AND reason IS NULL) + (SELECT COALESCE(SUM(revenue_micros), 0) ${counted}) AS revenue,
			(SELECT COALESCE(SUM(revenue_micros), 0) ${counted} AND status = 'pending') AS pending,
			(SELECT COALESCE(SUM(CASE k.status WHEN 'approved' THEN k.payout_micros ELSE -k.payout_micros END), 0) FROM callbacks k
				WHERE EXISTS (SELECT 1 ${counted} AND conversions.platform = k.platform AND conversions.txnid = k.txnid)) AS credited,
			(SELECT COALESCE(SUM(amount_micros), 0) FROM adjustments WHERE publisher_id = ?1) AS amounts,
			(SELECT COALESCE(SUM(gross_micros), 0) ${shown}) AS gross, (SELECT COALESCE(SUM(sales_usd_micros), 0) ${shown}) AS sales`,
	)
		.bind(publisher)
		.first<{ clicks: number; revenue: number; pending: number; credited: number; amounts: number; gross: number; sales: number }>();
	return row ?? { clicks: 0, revenue: 0, pending: 0, credited: 0, amounts: 0, gross: 0, sales: 0 };
}

/** Paid clicks that were taken back: each stands in the report that lists clicks. */
async function countVoided(publisher: PublisherId): Promise<number> {
	const row = await env.DB.prepare(
		"SELECT COUNT(*) AS count FROM clicks WHERE publisher_id = ? AND reason = 'voided' AND pricing_model = 'CPC'",
	)
		.bind(publisher)
		.first<{ count: number }>();
	return row?.count ?? 0;
}

/** @returns the reports of days and of single rows */
async function checkSums(publisher: PublisherId, limit: number): Promise<{ days: Record_[]; records: Record_[] }> {
	const key = PUBLISHERS[publisher];
	const read = (report_type: string) => readPages("revenue-share", key, { report_type, detail: "1", ...PERIOD }, limit);
	const [ledger, days, sources, records] = await Promise.all([
		ledgerOf(publisher),
		read("daywise"),
		read("source_level"),
		read("clickid_level"),
	]);
	const clicks: Record_[] = [];
	for (let at = Date.parse(CLICKED.start_date); at <= Date.parse(CLICKED.end_date); at += 3 * DAY_MS) {
		const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
		const period = { start_date: dayOf(at), end_date: dayOf(at + 2 * DAY_MS) };
		clicks.push(...(await readPages("clicklevel", key, { ...period, detail: "1" }, limit)));
	}
	const revenues = [days, sources, records].map((report) => sumOf(report, "publisher_revenue"));
	const owed = ledger.revenue + ledger.amounts;
	expect([...revenues, sumOf(clicks, "revenue")]).toEqual([owed, owed, owed, ledger.revenue]);
	expect(records.filter(({ rev_type }) => rev_type === "VOID")).toHaveLength(await countVoided(publisher));
	// By the day, and so for any period.
	for (const field of ["publisher_revenue", "approved_revenue", "pending_revenue", "gross_revenue", "sales_amount"]) {
		expect([field, sumsBy(records, "date", field)]).toEqual([field, sumsBy(days, "date", field)]);
		expect([field, sumsBy(records, "source_id", field)]).toEqual([field, sumsBy(sources, "source_id", field)]);
	}
	for (const report of [days, sources, records, clicks]) expect(sumOf(report, "pending_revenue")).toBe(ledger.pending);
	for (const report of [records, clicks]) expect(sumOf(report, "credited_revenue")).toBe(ledger.credited);
	for (const report of [days, sources, records]) {
		expect(sumOf(report, "approved_revenue")).toBe(owed - ledger.pending);
		expect(sumOf(report, "sales_amount")).toBe(ledger.sales);
		if (report.some((record) => "gross_revenue" in record)) expect(sumOf(report, "gross_revenue")).toBe(ledger.gross);
	}
	for (const report of [days, sources]) expect(report.reduce((sum, record) => sum + Number(record.click_count), 0)).toBe(ledger.clicks);
	return { days, records };
}

const GROUPS = [
	...["day", "source", "day,source", "brand", "day,brand", "campaign", "brand,country", "day,campaign,country"],
	// Of the rows.
	...["source,brand", "brand,source,country", "day,brand,source,country", "campaign,source"],
];
/** What a record of `clickid_level` has for a group. */
const GROUP_FIELDS: Record<string, string> = { day: "date", source_id: "source_id", brand: "brand_name", campaign_id: "campaign_id" };

/** All rows of a list that the publisher's API answers page by page. */
async function readAll<Row>(read: (cursor: string) => Promise<{ data: Row[]; next_cursor: string | null } | null>): Promise<Row[]> {
	const rows: Row[] = [];
	for (let cursor: string | null = ""; cursor !== null; ) {
		const page: { data: Row[]; next_cursor: string | null } | null = await read(cursor);
		rows.push(...(page?.data ?? []));
		cursor = page?.next_cursor ?? null;
	}
	return rows;
}

/** What the publisher's API tells is what the reports do, however it is grouped. */
async function checkEarnings(
	publisher: PublisherId,
	limit: number,
	{ days, records }: Awaited<ReturnType<typeof checkSums>>,
): Promise<void> {
	const db = openDatabase(env.DB);
	const now = Date.parse(`${PERIOD.end_date}T23:59:59Z`);
	const period = { from: PERIOD.start_date, to: PERIOD.end_date, limit: String(limit + 3) };
	const fields = ["publisher_revenue", "approved_revenue", "pending_revenue", "gross_revenue", "sales_amount"];
	const bySource = await readEarnings(
		{ db, dataThrough: async () => null },
		publisher,
		readEarningsQuery({ ...period, group: "source", limit: "1000" }, now),
	);
	const countsBySource = (rows: readonly Record_[]) => {
		const counts: Record<string, number> = {};
		for (const { source_id, click_count, conversion_count } of rows) {
			counts[`${source_id}`] = (counts[`${source_id}`] ?? 0) + 1_000 * Number(click_count) + Number(conversion_count);
		}
		return counts;
	};
	// Some of them each time: there are many histories.
	for (const group of GROUPS.filter((_, at) => at % 4 === limit % 4)) {
		const totals = new Set<string>();
		const rows: Record_[] = await readAll(async (cursor) => {
			const page = await readEarnings(
				{ db, dataThrough: async () => null },
				publisher,
				readEarningsQuery({ ...period, group, cursor }, now),
			);
			totals.add(JSON.stringify(page?.total));
			return page;
		});
		const [total = {}] = [...totals].map((text) => JSON.parse(text) as Record_);
		expect(totals.size).toBe(1);
		if (group.includes("source")) expect([group, countsBySource(rows)]).toEqual([group, countsBySource(bySource?.data ?? [])]);
		for (const field of fields) {
			expect([group, field, sumOf(rows, field)]).toEqual([group, field, sumOf([total], field)]);
			if (field in (days[0] ?? {})) expect([field, sumOf([total], field)]).toEqual([field, sumOf(days, field)]);
			const [name = ""] = Object.keys(rows[0] ?? {});
			const told = GROUP_FIELDS[name];
			const named = rows.map((row) => ({ ...row, [name]: row[name] ?? "" }));
			if (told !== undefined) expect([group, field, sumsBy(named, name, field)]).toEqual([group, field, sumsBy(records, told, field)]);
		}
		for (const count of ["click_count", "conversion_count"]) {
			expect([group, count, rows.reduce((sum, row) => sum + Number(row[count]), 0)]).toEqual([group, count, total[count]]);
		}
		expect(total.click_count).toBe(days.reduce((sum, record) => sum + Number(record.click_count), 0));
	}
	const ofType = (type: string) => records.filter(({ rev_type }) => rev_type === type);
	const conversions = await readAll((cursor) => readConversions(db, publisher, readConversionsQuery({ ...period, cursor }, now)));
	expect(sumOf(conversions, "revenue")).toBe(sumOf(ofType("CPA"), "publisher_revenue"));
	expect(conversions.filter(({ history, ...row }) => history.at(-1)?.revenue !== row.revenue || history.at(-1)?.held !== row.held)).toEqual(
		[],
	);
	const stored = await env.DB.prepare("SELECT COUNT(*) AS n FROM conversions WHERE publisher_id = ?")
		.bind(publisher)
		.first<{ n: number }>();
	expect(conversions).toHaveLength(stored?.n ?? 0);
	const clicks = await readAll((cursor) => readClicks(db, publisher, readClicksQuery({ ...period, cursor }, now)));
	expect(sumOf(clicks, "revenue")).toBe(sumOf(ofType("CPC"), "publisher_revenue"));
}

/** The operator's report: whatever it is grouped by, and however it is paged, it adds up to what the rows of the ledger give. */
async function checkNetwork(limit: number): Promise<void> {
	const db = openDatabase(env.DB);
	const counted = "FROM conversions WHERE stage = 'settled' AND status <> 'cancelled' AND test = 0";
	const settled = (status: string) => `(SELECT COUNT(*) FROM conversions WHERE stage = 'settled' AND test = 0 AND status = '${status}')`;
	const ledger = await env.DB.prepare(
		`SELECT (SELECT COUNT(*) FROM clicks WHERE reason IS NULL) AS paid, (SELECT COUNT(*) FROM clicks WHERE reason IS NOT NULL) AS unpaid,
			(SELECT COUNT(*) FROM clicks WHERE reason = 'voided') AS voided, ${settled("approved")} AS approved, ${settled("pending")} AS pending,
			${settled("cancelled")} AS cancelled, (SELECT COALESCE(SUM(gross_micros), 0) ${counted}) AS gross,
			(SELECT COALESCE(SUM(gross_micros), 0) ${counted} AND status = 'pending') AS "pendingGross",
			(SELECT COALESCE(SUM(revenue_micros), 0) FROM clicks WHERE reason IS NULL) + (SELECT COALESCE(SUM(revenue_micros), 0) ${counted})
				+ (SELECT COALESCE(SUM(amount_micros), 0) FROM adjustments) AS revenue`,
	).first<Record<"paid" | "unpaid" | "voided" | "approved" | "pending" | "cancelled" | "gross" | "pendingGross" | "revenue", number>>();
	if (ledger === null) throw new Error("the ledger gives no row");
	const { start_date: from, end_date: to } = PERIOD;
	const others = REPORT_GROUPS.filter((name) => name !== "source");
	const groups = [...REPORT_GROUPS, "day,source,publisher", "kind,country,brand", others.join(","), "platform,campaign,day", ...OF_ROWS];
	for (const group of groups.filter((_, at) => at % 3 === limit % 3)) {
		const totals = new Set<string>();
		const asked = { from, to, group, limit: String(limit), ...(OF_ROWS.includes(group) && { detail: "1" }) };
		const rows: Record_[] = await readAll(async (cursor) => {
			const query = readNetworkReportQuery({ ...asked, ...(cursor !== undefined && { cursor }) }, Date.parse(to));
			const page = await readNetworkReport(db, query);
			totals.add(JSON.stringify(page.total));
			return page;
		});
		expect(totals.size).toBe(1);
		const total = JSON.parse([...totals][0] ?? "{}") as ReportTotal;
		const { paid, unpaid, voided, approved, pending, cancelled, gross, pendingGross, revenue } = ledger;
		expect(total).toMatchObject({ clicks_paid: paid, clicks_unpaid: unpaid, conversions: { approved, pending, cancelled } });
		expect(total.unpaid.voided ?? 0).toBe(voided);
		expect([sumOf([total], "gross_revenue"), sumOf([total], "publisher_revenue"), sumOf([total], "margin")]).toEqual([
			gross,
			revenue,
			gross - revenue,
		]);
		expect(sumOf([total], "pending_gross_revenue")).toBe(pendingGross);
		for (const field of ["gross_revenue", "publisher_revenue", "pending_revenue", "margin", "sales_amount"]) {
			expect([group, field, sumOf(rows, field)]).toEqual([group, field, sumOf([total], field)]);
		}
		const isOfSums = group.includes("source") && !OF_ROWS.includes(group);
		if (!isOfSums) expect([group, sumOf(rows, "pending_gross_revenue")]).toEqual([group, pendingGross]);
		expect([group, countsOf(rows, isOfSums)]).toEqual([group, countsOf([total], isOfSums)]);
		if (OF_ROWS.includes(group)) expect([group, sourcesOf(rows)]).toEqual([group, await sourcesOfLedger()]);
	}
}

/** What no sums of sources are kept of: added up of clicks and conversions. */
const OF_ROWS = [
	...["source", "publisher,source,day", "source,brand", "platform,source,kind,country", "campaign,source,day"],
	"kind,country,platform,campaign,brand,publisher,day,source",
];

/** Counts by their names; those of each reason and status, too, but where rows are sums of sources, which lack them. */
function countsOf(rows: readonly Record_[], isOfSums: boolean): Record<string, number> {
	const counts: Record<string, number> = {};
	const add = (name: string, count: unknown) => {
		if (count !== 0) counts[name] = (counts[name] ?? 0) + Number(count);
	};
	for (const { clicks_paid, conversion_count, clicks_unpaid, unpaid, conversions } of rows) {
		add("paid", clicks_paid);
		add("conversions", conversion_count);
		if (isOfSums) continue;
		add("unpaid", clicks_unpaid);
		for (const [name, count] of Object.entries({ ...(unpaid as Record_), ...(conversions as Record_) })) add(name, count);
	}
	return counts;
}

/** What each source has by itself: of none are amounts alone. */
function sourcesOf(rows: readonly Record_[]): Record<string, Record<string, number>> {
	const groups = Object.entries(Object.groupBy(rows, ({ source }) => (source === null ? "none" : `=${String(source)}`)));
	const sums = groups.map(([name, of = []]) => [name, { ...countsOf(of, false), revenue: sumOf(of, "publisher_revenue") }] as const);
	return Object.fromEntries(sums.filter(([name, { revenue }]) => name !== "none" || revenue !== 0));
}

async function sourcesOfLedger(): Promise<Record<string, Record<string, number>>> {
	const ofClicks = "SELECT '=' || coalesce(source_id, '') AS source, coalesce(reason, 'paid') AS name, 1 AS count";
	const ofConversions = "SELECT '=' || coalesce(source_id, '') AS source, status AS name, 1 AS count";
	const settled = "FROM conversions WHERE stage = 'settled' AND test = 0";
	const { results } = await env.DB.prepare(
		`SELECT source, name, SUM(count) AS count FROM (
			${ofClicks} FROM clicks UNION ALL ${ofClicks.replace("coalesce(reason, 'paid')", "'unpaid'")} FROM clicks WHERE reason IS NOT NULL
			UNION ALL ${ofConversions} ${settled}
			UNION ALL ${ofConversions.replace("status AS name", "'conversions' AS name")} ${settled} AND status <> 'cancelled') g GROUP BY source, name
		UNION ALL SELECT source, 'revenue', SUM(micros) FROM (
			SELECT '=' || coalesce(source_id, '') AS source, CASE WHEN reason IS NULL THEN revenue_micros ELSE 0 END AS micros FROM clicks
			UNION ALL SELECT '=' || coalesce(source_id, ''), CASE WHEN status <> 'cancelled' THEN coalesce(revenue_micros, 0) ELSE 0 END ${settled}) g GROUP BY source
		UNION ALL SELECT 'none', 'revenue', SUM(adjustment_micros) FROM daily_publishers HAVING SUM(adjustment_micros) <> 0`,
	).all<{ source: string; name: string; count: number }>();
	const sources: Record<string, Record<string, number>> = {};
	for (const { source, name, count } of results) sources[source] = { ...sources[source], [name]: Number(count) };
	return sources;
}

/** Days of which there is a counter or a row: of any other there is nothing to compare. Campaigns are on UTC here. */
const DAYS = [
	...["daily_publishers", "daily_sources", "daily_network", "adjustments"].map((table) => `SELECT date FROM ${table}`),
	"SELECT day AS date FROM campaign_days",
	...["clicked_at FROM clicks", "clicked_at FROM conversions", "event_at FROM conversions"].map(
		(time) => `SELECT date(t / 1000, 'unixepoch') AS date FROM (SELECT ${time.replace(" ", " AS t ")}) k`,
	),
];

/** The hourly comparison of counters with rows, of all days at once. */
async function checkCounters(): Promise<void> {
	const found = await env.DB.batch<{ date: string | null }>(DAYS.map((days) => env.DB.prepare(`SELECT DISTINCT date FROM (${days}) d`)));
	const days = new Set(found.flatMap(({ results }) => results.flatMap(({ date }) => date ?? [])));
	const deps = { db: openDatabase(env.DB), now: () => Date.now() };
	for (const day of days) expect(await reconcileDay(deps, day)).toEqual([]);
}

beforeAll(async () => {
	await importReportNetwork();
	// A share that leaves fractions of everything.
	await setPublisher("pa", "revenue_share_ppm", 373_737);
	await setPublisher("pc", "revenue_share_ppm", 500_000);
	await importExactly({ platforms: [NORTHWIND], exchange_rates: RATES });
	restore = await keepRows([...TRAFFIC_TABLES, "exchange_rates", "publishers", "platforms"]);
});

describe("worker: reports add up", () => {
	it("for any history of clicks, postbacks and adjustments: daywise = source_level = clickid_level = clicklevel = the ledger", async () => {
		let runs = 0;
		await fc.assert(
			fc
				.asyncProperty(history, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 2, max: 40 }), async (steps, batchSize, limit) => {
					if (++runs % 500 === 0) console.info(`${runs} histories`);
					await deliver(deliveriesOf(steps), batchSize);
					for (const publisher of ["pa", "pc"] as const) await checkEarnings(publisher, limit, await checkSums(publisher, limit));
					await checkNetwork(limit);
					await checkCounters();
				})
				.beforeEach(forgetAll),
			{ numRuns: Number(env.PROPERTY_RUNS || 24) },
		);
	}, 3_600_000);

	it("pages that are read while a history goes on are of the moment of the first, row for row", async () => {
		await fc.assert(
			fc
				.asyncProperty(history, history, fc.integer({ min: 1, max: 4 }), async (before, meanwhile, limit) => {
					const deliveries = deliveriesOf([...before, ...meanwhile]);
					const made: string[] = [];
					await deliver(deliveries.slice(0, before.length), 7, made);
					const readings = await Promise.all(STILL.map((report) => startReading(report, limit)));
					for (let start = before.length; start < deliveries.length; start += 6) {
						await deliver(deliveries.slice(start, start + 6), 3, made);
						for (const reading of readings) await reading.readNext();
					}
					// Whether gross revenue is shown is a setting of the publisher's, and as it is at present.
					const without = (records: readonly Record_[]) => records.map(({ gross_revenue: _, ...rest }) => rest);
					const shown = meanwhile.some(({ kind }) => kind === "change") ? without : (records: readonly Record_[]) => records;
					for (const reading of readings) expect(shown(await reading.readRest())).toEqual(shown(reading.wanted));
				})
				.beforeEach(forgetAll),
			{ numRuns: Number(env.PROPERTY_RUNS || 24) },
		);
	}, 3_600_000);

	it("a cancelled conversion leaves every sum, and a reopened one returns", async () => {
		await forgetAll();
		const made = deliveriesOf([
			{ kind: "click", publisher: "pa", hash: 1, at: 0, bidMicros: 100, reason: undefined, source: "a", terms: undefined },
		]);
		await deliver(made, 1);
		const totals = async () => {
			await checkSums("pa", 10);
			return (await ledgerOf("pa")).revenue;
		};
		const say = async (status: string, eventAt = FIRST_DAY) => {
			await consume(
				postbackMessage("northwind", { txnid: "t", cid: hashOf("pa", 1), eventAt, payoutMicros: 10_000_000, status }, Date.now()),
			);
			return totals();
		};
		expect([
			await totals(),
			await say("approved"),
			await say("cancelled"),
			await say("approved", FIRST_DAY + 1),
			await say("pending"),
			await say("declined"),
		]).toEqual([0, 3_737_400, 0, 3_737_400, 3_737_400, 0]);
	});

	it("sales of a billed click count while its conversion does, though its link was embedded elsewhere too", async () => {
		await forgetAll();
		const click = { kind: "click", publisher: "pc", hash: 1, at: 0, bidMicros: 100, source: "a", terms: undefined } as const;
		const deliveries = deliveriesOf([
			{ ...click, reason: undefined },
			{ ...click, reason: "embedded" },
		]);
		const [billed, embedded] = deliveries;
		if (billed === undefined || embedded === undefined) throw new Error("two clicks were made");
		const say = async (txnid: string, status: string) => {
			const conversion = { txnid, cid: hashOf("pc", 1), eventAt: FIRST_DAY, payoutMicros: 1_000_000, salesMicros: 5_000_000, status };
			await consume(postbackMessage("northwind", conversion, Date.now()));
			await checkSums("pc", 10);
			return (await ledgerOf("pc")).sales;
		};
		await deliver([billed], 1);
		const before = await say("t-1", "approved");
		await deliver([embedded], 1);
		const cancelled = await say("t-1", "cancelled");
		const held = await say("t-2", "approved");
		await intervene({ kind: "verdict", txnid: "t-2", verdict: "released" }, []);
		await checkSums("pc", 10);
		expect([before, cancelled, held, (await ledgerOf("pc")).sales]).toEqual([5_000_000, 0, 0, 5_000_000]);
	});

	it("1,300 postbacks of nine billion on one click are credited to nobody, and leave no trace once cancelled", async () => {
		await forgetAll();
		const made = deliveriesOf([
			{ kind: "click", publisher: "pa", hash: 1, at: 0, bidMicros: 100, reason: undefined, source: "a", terms: undefined },
		]);
		const say = (n: number, payoutMicros: number, status: string | null) =>
			postbackMessage("northwind", { txnid: `huge-${n}`, cid: hashOf("pa", 1), eventAt: FIRST_DAY, payoutMicros, status });
		await deliver([...made, { queue: "postbacks", body: say(-1, 10_000_000, null) }], 2);
		const numbers = Array.from({ length: 1_300 }, (_, n) => n);
		const payout = 9_000_000_000_000_000;
		for (const status of [null, "cancelled"]) {
			expect(await consume(...numbers.map((n) => say(n, payout, status)))).toEqual({ acked: 1_300, retried: 0 });
			await checkSums("pa", 100);
			expect((await ledgerOf("pa")).revenue).toBe(3_737_400);
		}
		const { results } = await env.DB.prepare("SELECT held_for, status, count(*) AS n FROM conversions GROUP BY 1, 2 ORDER BY 2").all();
		expect(results).toEqual([
			{ held_for: null, status: "approved", n: 1 },
			{ held_for: null, status: "cancelled", n: 1_300 },
		]);
		expect(await env.DB.prepare("SELECT count(*) AS n FROM callbacks").first("n")).toBe(1);
	}, 120_000);

	// Sums of earlier versions became floating point; PostgreSQL has none of those.
	it.runIf(ON_D1)("every report answers, and exactly, over what an earlier version stored of such postbacks", async () => {
		await forgetAll();
		const made = deliveriesOf([
			{ kind: "click", publisher: "pa", hash: 1, at: 0, bidMicros: 100, reason: undefined, source: "a", terms: undefined },
		]);
		await deliver([...made, { queue: "postbacks", body: postbackMessage("northwind", { cid: hashOf("pa", 1), eventAt: FIRST_DAY }) }], 2);
		const [huge, count] = [8_999_999_999_999_900n, 1_300];
		const columns = "txnid, revenue_micros, gross_micros, sales_usd_micros";
		const { results } = await env.DB.prepare("SELECT name FROM pragma_table_info('conversions')").all<{ name: string }>();
		const others = results.map(({ name }) => name).filter((name) => !columns.split(", ").includes(name));
		await env.DB.prepare(
			`INSERT INTO conversions (${columns}, ${others.join(", ")})
			SELECT 'huge-' || value, ${huge}, ${huge}, ${huge}, ${others.join(", ")}
			FROM conversions CROSS JOIN (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${count}) SELECT value FROM n)`,
		).run();
		// Such sums have become floating point.
		for (const table of ["daily_publishers", "daily_sources"]) {
			await env.DB.prepare(
				`UPDATE ${table} SET conversion_count = ${count + 1}, conversion_revenue_micros = 1.17e19, gross_micros = 1.17e19`,
			).run();
		}
		const period = { start_date: "2026-11-10", end_date: "2026-11-10" };
		for (const report_type of ["daywise", "source_level", "clickid_level"]) {
			expect((await askReport("revenue-share", CPA_KEY, { report_type, ...period })).data.length, report_type).toBeGreaterThan(0);
		}
		const { data } = await askReport("clicklevel", CPA_KEY, period);
		const total = huge * BigInt(count) + 3_737_400n;
		expect(data).toMatchObject([
			{
				revenue: `${total / 1_000_000n}.${String(total % 1_000_000n)
					.padStart(6, "0")
					.slice(0, 4)}`,
			},
		]);
	});
});
