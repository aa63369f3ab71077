/** Stored clicks and conversions of many publishers over a quarter, written by SQL into the databases of a Worker. */
import { generateBrands, generateOwners } from "../catalogue/generate.ts";
import { type Hex, postgresHex, sqliteHex } from "../clicks/stored.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import { FILL_SETTINGS, series, withClient, withoutIndexes } from "../postgres.ts";
import type { Runtime } from "../runtime.ts";

const PUBLISHER_COUNT = 200;
const DAYS = 90;
const FIRST_DAY = "2026-08-01";
/** Sources of a publisher, whatever its number of clicks. */
export const SOURCES = 20;
const BRAND_COUNT = 100;
/** Clicks of a publisher paid by conversions that convert: one in so many. */
const CLICKS_PER_CONVERSION = 10;
/** Rows a statement: a few seconds of work. */
const ROWS_PER_STATEMENT = 100_000;

/** Access Key of a publisher: even ones are paid by clicks, odd ones by conversions. */
export const accessKeyOf = (publisher: number) => `benchmark-access-key-${publisher}`;

const INDEXES_LAST = ["clicks_billed_by_hash", "clicks_by_hash", "clicks_by_publisher_click_id"];

/** Fills the databases of a Worker with `clicks` clicks, evenly over publishers, days and sources, with the counters of it all. */
export async function fillClicks(runtime: Runtime, worker: string, clicks: number, say: (text: string) => void): Promise<void> {
	await importClickedPublishers(runtime, worker);
	const db = await runtime.miniflare.getD1Database("DB", worker);
	const run = (text: string) => db.prepare(text).run();
	// Indexes whose order has nothing to do with time are built at the end, which takes a fraction of the time.
	const indexes = await db
		.prepare(`SELECT name, sql FROM sqlite_master WHERE name IN (${INDEXES_LAST.map((name) => `'${name}'`).join(", ")})`)
		.all<{ name: string; sql: string }>();
	for (const { name } of indexes.results) await run(`DROP INDEX ${name}`);
	for (let from = 0; from < clicks; from += ROWS_PER_STATEMENT) {
		await run(insertClicks(D1, from, Math.min(clicks, from + ROWS_PER_STATEMENT), clicks));
		if (from % (10 * ROWS_PER_STATEMENT) === 0) say(`${worker}: ${from} of ${clicks} clicks written`);
	}
	for (const { sql } of indexes.results) await run(sql);
	await run(INSERT_CONVERSIONS);
	await run(sumInto("daily_publishers", "publisher_id, date"));
	await run(sumInto("daily_sources", "publisher_id, date, source_id"));
	say(`${worker}: ${clicks} clicks, their conversions and sums are stored`);
}

async function importClickedPublishers(runtime: Runtime, worker: string): Promise<void> {
	await migrateDatabases(runtime, worker);
	await importNetwork(await runtime.origin(worker), { ...generateOwners(), brands: generateBrands(0, BRAND_COUNT) });
	await importNetwork(await runtime.origin(worker), { publishers: publishers() });
}

/** The same in the PostgreSQL database of a Worker. */
export async function fillClicksPostgres(
	runtime: Runtime,
	worker: string,
	url: string,
	clicks: number,
	say: (text: string) => void,
): Promise<void> {
	await importClickedPublishers(runtime, worker);
	await withClient(url, async (client) => {
		await client.query(FILL_SETTINGS);
		await client.query("SELECT make_click_weeks($1, $2)", [Date.parse(FIRST_DAY), Math.ceil(DAYS / 7) + 1]);
		await withoutIndexes(client, "clicks", async () => {
			for (let from = 0; from < clicks; from += ROWS_PER_STATEMENT) {
				await client.query(insertClicks(POSTGRES, from, Math.min(clicks, from + ROWS_PER_STATEMENT), clicks));
				if (from % (10 * ROWS_PER_STATEMENT) === 0) say(`${worker}: ${from} of ${clicks} clicks written`);
			}
		});
		await withoutIndexes(client, "conversions", async () => void (await client.query(INSERT_CONVERSIONS)));
		await client.query(sumInto("daily_publishers", "publisher_id, date"));
		await client.query(sumInto("daily_sources", "publisher_id, date, source_id"));
		await client.query("VACUUM (ANALYZE)");
	});
	say(`${worker}: ${clicks} clicks, their conversions and sums are stored`);
}

function publishers() {
	const [model] = generateOwners().publishers ?? [];
	if (model === undefined) throw new Error("there is no publisher to take after");
	return Array.from({ length: PUBLISHER_COUNT }, (_, at) => ({
		...model,
		id: `p${at}`,
		name: `Publisher ${at}`,
		publisher_id: `bench-${at}`,
		publisher_identity: `bench_${at}`,
		access_key: accessKeyOf(at),
		publisher_key: `benchmark-publisher-key-${at}`,
		pricing_model: at % 2 === 0 ? ("CPC" as const) : ("CPA" as const),
		blocked_brands: [],
	}));
}

/** What the engines write differently. */
type Dialect = { hex: Hex; hash: string; floor: (number: string) => string; numbers: (from: number, to: number) => string };

const D1: Dialect = {
	hex: sqliteHex,
	hash: "lower(hex(randomblob(16)))",
	floor: (number) => `CAST(${number} AS INTEGER)`,
	numbers: (from, to) =>
		`(WITH RECURSIVE numbers(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${to}) SELECT n FROM numbers)`,
};
const POSTGRES: Dialect = {
	hex: postgresHex,
	hash: "md5(n::text)",
	floor: (number) => `CAST(floor(${number}) AS bigint)`,
	numbers: series,
};

/** Clicks number `from` up to `to` of `clicks`, evenly over the days. */
function insertClicks({ hex, hash, floor, numbers }: Dialect, from: number, to: number, clicks: number): string {
	const at = `${Date.parse(FIRST_DAY)} + ${floor(`n * ${(DAYS * 86_400_000) / clicks}`)}`;
	return `INSERT INTO clicks (id, click_hash, kind, clicked_at, publisher_id, brand_id, campaign_id, platform, publisher_click_id, source_id, subi,
			subid1, bid_micros, revenue_micros, pricing_model, country, ip_prefix, user_agent_hash, written_by)
		SELECT substr(${hex(`(${at})`, 12)}, 1, 8) || '-' || substr(${hex(`(${at})`, 12)}, 9) || '-7000-8000-' || ${hex("n", 12)}, ${hash}, 'openrtb', ${at},
			'p' || (n % ${PUBLISHER_COUNT}), n % ${BRAND_COUNT} + 1, 10000 + n % ${BRAND_COUNT}, 'northwind', 'click-' || n,
			'source-' || (n / ${PUBLISHER_COUNT} % ${SOURCES}), 'source-' || (n / ${PUBLISHER_COUNT} % ${SOURCES}), 'campaign-' || (n % 7), 336000,
			CASE n % 2 WHEN 0 THEN 336000 ELSE 0 END, CASE n % 2 WHEN 0 THEN 'CPC' ELSE 'CPA' END, 'US', '203.0.113.0', '0123456789abcdef', 'bench'
		FROM ${numbers(from, to)}`;
}

const INSERT_CONVERSIONS = `
	INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, usd_nanos, gross_micros,
		sales_usd_micros, revenue_micros, attribution, click_id, clicked_at, publisher_id, publisher_click_id, source_id, brand_id, campaign_id,
		pricing_model, revenue_share_ppm, event_count, first_received_at, updated_at)
	SELECT 'northwind', 'txn-' || id, click_hash, 'settled', 'approved', 0, 0, clicked_at + 3600000, 4000000, 'USD', 1000000000, 4000000, 50000000, 3200000,
		'click_hash', id, clicked_at, publisher_id, publisher_click_id, source_id, brand_id, campaign_id, pricing_model, 800000, 1, clicked_at, clicked_at
	FROM clicks WHERE pricing_model = 'CPA' AND CAST(substr(publisher_click_id, 7) AS INTEGER) / ${PUBLISHER_COUNT} % ${CLICKS_PER_CONVERSION} = 0`;

function sumInto(table: string, key: string): string {
	return `INSERT INTO ${table} (${key}, click_count, click_revenue_micros, conversion_count, conversion_revenue_micros, gross_micros, sales_micros)
		SELECT ${key}, SUM(clicks), SUM(paid), SUM(conversions), SUM(earned), SUM(gross), SUM(sales) FROM (
			SELECT publisher_id, date(clicked_at / 1000, 'unixepoch') AS date, source_id, 1 AS clicks, revenue_micros AS paid, 0 AS conversions, 0 AS earned,
				0 AS gross, 0 AS sales
			FROM clicks
			UNION ALL
			SELECT publisher_id, date(event_at / 1000, 'unixepoch'), source_id, 0, 0, 1, revenue_micros, gross_micros, sales_usd_micros FROM conversions
		) GROUP BY ${key}`;
}
