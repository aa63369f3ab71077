import { buildWorker } from "../build-worker.ts";
import { atMost, median, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import type { Part } from "../part.ts";
import { type Runtime, startWorkers } from "../runtime.ts";

const SIZES = { small: 10_000, large: 1_000_000 } as const;
type Size = keyof typeof SIZES;
const ROWS_PER_STATEMENT = 50_000;
const BATCH = 100;
const WARM_UP_BATCHES = 5;
const ROUNDS = 30;
const TIME_BAR = 1.5;
const QUEUE = "clickbourse-postbacks";
const FIRST_AT = Date.UTC(2026, 8, 1);

export const settle: Part = {
	name: "settle",
	about: "postbacks settled by batch of 100 through the consumer into local D1, with 10,000 against 1,000,000 conversions stored",
	async run(bench) {
		const script = await buildWorker(bench, { entry: "src/origin.ts", environment: "origin" });
		const sizes = Object.keys(SIZES) as Size[];
		await using runtime = await startWorkers(
			bench.folder,
			sizes.map((size) => ({ name: size, script, state: `settle-${size}`, databases: true })),
		);
		for (const size of sizes) {
			const startedAt = performance.now();
			await fill(runtime, size, SIZES[size]);
			bench.say(`stored ${SIZES[size]} clicks and conversions in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
		}
		const fresh: Record<Size, number[]> = { small: [], large: [] };
		const changed: Record<Size, number[]> = { small: [], large: [] };
		// The sizes take turns, so that what else the machine does falls on both alike.
		for (let round = -WARM_UP_BATCHES; round < ROUNDS; round++) {
			for (const size of sizes) {
				const transactions = Array.from({ length: BATCH }, (_, at) => clickAt(SIZES[size], round * BATCH + at));
				const first = await time(runtime, size, messages(transactions, `new-${round}`, "pending"));
				const second = await time(runtime, size, messages(transactions, `new-${round}`, "approved"));
				if (round < 0) continue;
				fresh[size].push(first);
				changed[size].push(second);
			}
		}
		await check(runtime, sizes);
		const ratio = (of: Record<Size, number[]>) => median(of.large.map((ms, at) => ms / (of.small[at] ?? Number.NaN)));
		return [
			atMost("settle.new.time_ratio", ratio(fresh), "× with 1,000,000 conversions", TIME_BAR),
			atMost("settle.changed.time_ratio", ratio(changed), "× with 1,000,000 conversions", TIME_BAR),
			...sizes.flatMap((size) => [
				tell(`settle.new.${size}`, (BATCH / median(fresh[size])) * 1_000, "postbacks/s"),
				tell(`settle.changed.${size}`, (BATCH / median(changed[size])) * 1_000, "postbacks/s"),
			]),
		];
	},
};

/** A click somewhere in the ledger, never near the one before. */
function clickAt(size: number, number: number): number {
	return ((((number * 7_919) % size) + size) % size) + 1;
}

let sent = 0;

function messages(clicks: readonly number[], prefix: string, status: string) {
	return clicks.map((click) => {
		const receivedAt = Date.now();
		const id = `${receivedAt.toString(16).padStart(12, "0")}-${(++sent).toString(16).padStart(12, "0")}`;
		const [txnid, cid] = [`${prefix}-${click}`, hashOf(click)];
		const query = `txnid=${txnid}&cid=${cid}&edate=2026-11-10&payout=12.25&status=${status}`;
		const intake = { id, receivedAt, platform: "bench", method: "GET", query, txnid, cid, outcome: "accepted", answer: "{}" };
		const optional = { salesMicros: 100_000_000, currency: null, s2: null, s3: null, surl: null };
		const postback = { txnid, cid, eventAt: Date.UTC(2026, 10, 10), payoutMicros: 12_250_000, status, ...optional };
		return { id, timestamp: new Date(receivedAt), attempts: 1, body: { format: 1, kind: "postback", intake, postback } };
	});
}

/** Milliseconds that the consumer takes for a batch. */
async function time({ miniflare }: Runtime, size: Size, batch: ReturnType<typeof messages>): Promise<number> {
	const worker = await miniflare.getWorker(size);
	const startedAt = performance.now();
	const result = await worker.queue(QUEUE, batch);
	const milliseconds = performance.now() - startedAt;
	if (result.outcome !== "ok" || result.explicitAcks.length !== batch.length)
		throw new Error(`a batch was not settled: ${JSON.stringify(result)}`);
	return milliseconds;
}

function hashOf(click: number): string {
	return click.toString(16).padStart(32, "0");
}

/** A ledger of so many clicks, each with a settled conversion, by the schema's own columns. */
async function fill(runtime: Runtime, size: Size, rows: number): Promise<void> {
	await migrateDatabases(runtime, size);
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
	await importNetwork(await runtime.origin(size), JSON.stringify(network));
	const database = await runtime.miniflare.getD1Database("DB", size);
	for (let start = 1; start <= rows; start += ROWS_PER_STATEMENT) {
		const series = `WITH RECURSIVE n(i) AS (SELECT ${start} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(start + ROWS_PER_STATEMENT - 1, rows)})`;
		const [hash, at, publisher] = [
			"substr('00000000000000000000000000000000' || printf('%x', i), -32)",
			`${FIRST_AT} + i * 1000`,
			"'pub-' || (i % 100)",
		];
		await database.batch([
			database.prepare(`${series} INSERT INTO clicks (id, click_hash, kind, clicked_at, publisher_id, brand_id, campaign_id, platform,
				publisher_click_id, source_id, bid_micros, revenue_micros, pricing_model, written_by)
				SELECT printf('%012x', ${at}) || '-' || i, ${hash}, 'link', ${at}, ${publisher}, 1 + i % 500, 1 + i % 2000, 'bench',
				'click-' || i, 'source-' || (i % 40), 400000, 0, 'CPA', 'bench' FROM n`),
			database.prepare(`${series} INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency,
				usd_nanos, gross_micros, revenue_micros, attribution, click_id, clicked_at, publisher_id, publisher_click_id, source_id, brand_id,
				campaign_id, pricing_model, revenue_share_ppm, event_count, first_received_at, updated_at, last_intake_id, version)
				SELECT 'bench', 'order-' || i, ${hash}, 'settled', 'approved', 0, 0, ${at}, 10000000, 'USD', 1000000000, 10000000, 8000000, 'click_hash',
				printf('%012x', ${at}) || '-' || i, ${at}, ${publisher}, 'click-' || i, 'source-' || (i % 40), 1 + i % 500, 1 + i % 2000, 'CPA', 800000, 2,
				${at}, ${at}, '', 1 FROM n`),
			database.prepare(
				`${series} INSERT INTO conversion_events (platform, txnid, seq, at, kind, details) SELECT 'bench', 'order-' || i, 1, ${at}, 'received', '{}' FROM n`,
			),
			database.prepare(`${series} INSERT INTO postback_intake (id, received_at, platform, method, query, txnid, cid, outcome, answer)
				SELECT printf('%012x', ${at}) || '-' || i, ${at}, 'bench', 'GET', 'txnid=order-' || i, 'order-' || i, ${hash}, 'accepted', '{}' FROM n`),
			database.prepare(`${series} INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at)
				SELECT printf('%012x', ${at}) || '-' || i, 'bench', 'order-' || i, 1, ${publisher}, 'approved', 'click-' || i, 8000000, ${at}, 'delivered', 1, ${at} FROM n`),
		]);
	}
}

/** All that was sent is settled and approved. */
async function check({ miniflare }: Runtime, sizes: readonly Size[]): Promise<void> {
	for (const size of sizes) {
		const database = await miniflare.getD1Database("DB", size);
		const wanted = (WARM_UP_BATCHES + ROUNDS) * BATCH;
		const query = "SELECT count(*) AS n FROM conversions WHERE txnid LIKE 'new-%' AND stage = 'settled' AND status = 'approved'";
		const settled = await database.prepare(query).first<number>("n");
		if (settled !== wanted) throw new Error(`${size}: ${settled} of ${wanted} conversions were settled`);
	}
}
