/** A ledger of clicks and of conversions that are settled, of any size, in either engine. */
import { type Hex, postgresHex, sqliteHex } from "../clicks/stored.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import { FILL_SETTINGS, withClient, withoutIndexes } from "../postgres.ts";
import type { Runtime } from "../runtime.ts";

const ROWS_PER_STATEMENT = 50_000;
const CLICKS_PER_CONVERSION_ON_POSTGRES = 10;
const FIRST_AT = Date.UTC(2026, 8, 1);
const GAP_MS = 250;
const WEEK_MS = 7 * 86_400_000;

/** The network that the ledger is of, in the databases of a Worker. */
export async function importSettledNetwork(runtime: Runtime, worker: string): Promise<void> {
	await migrateDatabases(runtime, worker);
	const network = {
		platforms: [{ id: "bench", name: "Bench", access_key: "benchmark-platform-key", currency: "USD" }],
		publishers: Array.from({ length: 100 }, (_, at) => ({
			id: `pub-${at}`,
			name: `Publisher ${at}`,
			publisher_id: String(10_000 + at),
			publisher_identity: `identity-${at}`,
			revenue_share: 0.8,
			pricing_model: "CPA",
		})),
	};
	await importNetwork(await runtime.origin(worker), JSON.stringify(network));
}

/** A ledger of this many clicks, each with a settled conversion, by the schema's own columns. */
export async function fillD1(runtime: Runtime, worker: string, rows: number): Promise<void> {
	const database = await runtime.miniflare.getD1Database("DB", worker);
	for (let start = 1; start <= rows; start += ROWS_PER_STATEMENT) {
		const series = `WITH RECURSIVE n(i) AS (SELECT ${start} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(start + ROWS_PER_STATEMENT - 1, rows)})`;
		const statements = ledgerRows(sqliteHex).map(({ insert }) => database.prepare(`${series} ${insert} FROM n`));
		await database.batch(statements);
	}
}

/** The same of this many clicks, of which one in ten has a conversion. */
export function fillPostgres(url: string, rows: number, say: (text: string) => void): Promise<void> {
	return withClient(url, async (client) => {
		await client.query(FILL_SETTINGS);
		await client.query("SELECT make_click_weeks($1, $2)", [FIRST_AT, Math.ceil((rows * GAP_MS) / WEEK_MS) + 1]);
		for (const { table, insert } of ledgerRows(postgresHex)) {
			say(`storing ${table}`);
			const step = table === "clicks" ? 1 : CLICKS_PER_CONVERSION_ON_POSTGRES;
			await withoutIndexes(client, table, async () => {
				for (let start = 1; start <= rows; start += ROWS_PER_STATEMENT * step) {
					const end = Math.min(start + ROWS_PER_STATEMENT * step - 1, rows);
					await client.query(`${insert} FROM generate_series(CAST(${start} AS bigint), ${end}, ${step}) AS n (i)`);
				}
			});
		}
		await client.query("VACUUM (ANALYZE)");
	});
}

/** INSERTs of the rows about number `i`, which a FROM clause behind them gives. */
function ledgerRows(hex: Hex): { table: string; insert: string }[] {
	const [hash, at, publisher] = [hex("i", 32), `${FIRST_AT} + i * ${GAP_MS}`, "'pub-' || (i % 100)"];
	const id = `${hex(`(${at})`, 12)} || '-' || i`;
	// As ids of redirects begin, by which clicks are in weeks.
	const clickId = `substr(${hex(`(${at})`, 12)}, 1, 8) || '-' || substr(${hex(`(${at})`, 12)}, 9) || '-' || i`;
	return [
		{
			table: "clicks",
			insert: `INSERT INTO clicks (id, click_hash, kind, clicked_at, publisher_id, brand_id, campaign_id, platform,
				publisher_click_id, source_id, bid_micros, revenue_micros, pricing_model, written_by)
				SELECT ${clickId}, ${hash}, 'link', ${at}, ${publisher}, 1 + i % 500, 1 + i % 2000, 'bench',
				'click-' || i, 'source-' || (i % 40), 400000, 0, 'CPA', 'bench'`,
		},
		{
			table: "conversions",
			insert: `INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency,
				usd_nanos, gross_micros, revenue_micros, attribution, click_id, clicked_at, publisher_id, publisher_click_id, source_id, brand_id,
				campaign_id, pricing_model, revenue_share_ppm, event_count, first_received_at, updated_at, last_intake_id, version)
				SELECT 'bench', 'order-' || i, ${hash}, 'settled', 'approved', 0, 0, ${at}, 10000000, 'USD', 1000000000, 10000000, 8000000, 'click_hash',
				${clickId}, ${at}, ${publisher}, 'click-' || i, 'source-' || (i % 40), 1 + i % 500, 1 + i % 2000, 'CPA', 800000, 2,
				${at}, ${at}, '', 1`,
		},
		{
			table: "conversion_events",
			insert: `INSERT INTO conversion_events (platform, txnid, seq, at, kind, details) SELECT 'bench', 'order-' || i, 1, ${at}, 'received', '{}'`,
		},
		{
			table: "postback_intake",
			insert: `INSERT INTO postback_intake (id, received_at, platform, method, query, txnid, cid, outcome, answer)
				SELECT ${id}, ${at}, 'bench', 'GET', 'txnid=order-' || i, 'order-' || i, ${hash}, 'accepted', '{}'`,
		},
		{
			table: "callbacks",
			insert: `INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at)
				SELECT ${id}, 'bench', 'order-' || i, 1, ${publisher}, 'approved', 'click-' || i, 8000000, ${at}, 'delivered', 1, ${at}`,
		},
	];
}
