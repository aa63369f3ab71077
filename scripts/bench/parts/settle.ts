import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildWorker } from "../build-worker.ts";
import { atMost, type Figure, median, tell } from "../figure.ts";
import type { Part } from "../part.ts";
import { type BenchPostgres, startFilled, withClient } from "../postgres.ts";
import { type RunningWorker, type Runtime, startWorkers } from "../runtime.ts";
import { fillD1, fillPostgres, importSettledNetwork } from "../settle/fill.ts";

const SIZES = { small: 10_000, large: 1_000_000 } as const;
type Size = keyof typeof SIZES;
const NAMES = ["small", "large"] as const satisfies readonly Size[];
const BATCH = 100;
const WARM_UP_BATCHES = 5;
const ROUNDS = 30;
const TIME_BAR = 1.5;
const QUEUE = "clickbourse-postbacks";

export const settle: Part = {
	name: "settle",
	about: "postbacks settled by batch of 100 through the consumer into local D1, with 10,000 against 1,000,000 conversions stored",
	async run(bench) {
		const script = await buildWorker(bench, { entry: "src/origin.ts", environment: "origin" });
		await using runtime = await startWorkers(
			bench.folder,
			NAMES.map((size) => ({ name: size, script, state: `settle-${size}`, databases: true })),
		);
		for (const size of NAMES) {
			const startedAt = performance.now();
			await importSettledNetwork(runtime, size);
			await fillD1(runtime, size, SIZES[size]);
			bench.say(`stored ${SIZES[size]} clicks and conversions in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
		}
		const databases = {
			small: await runtime.miniflare.getD1Database("DB", "small"),
			large: await runtime.miniflare.getD1Database("DB", "large"),
		};
		return await measure(runtime, {
			prefix: "settle",
			clicks: SIZES,
			unit: "× with 1,000,000 conversions",
			bar: TIME_BAR,
			count: async (size, query) => (await databases[size].prepare(query).first<number>("n")) ?? Number.NaN,
		});
	},
};

/** `--rows` clicks against a twentieth of them: by default 20 million against one. One in ten of them has a conversion. */
const TIMES_ON_POSTGRES = 20;
const TIME_BAR_ON_POSTGRES = 1.2;

export const settlePostgres: Part = {
	name: "settle-postgres",
	about: "the same on PostgreSQL, a connection made for each batch: --rows clicks and a tenth of conversions against a twentieth of both",
	async run(bench) {
		const folder = join(bench.folder, "settle-postgres");
		mkdirSync(folder, { recursive: true });
		const script = await buildWorker(bench, { entry: "src/origin.ts", environment: "origin" });
		const clicks = { small: bench.rows / TIMES_ON_POSTGRES, large: bench.rows };
		const servers: BenchPostgres[] = [];
		try {
			const workers: RunningWorker[] = [];
			for (const size of NAMES) {
				const worker = { name: size, script, state: `settle-postgres-${size}`, databases: true };
				const server = await startFilled(bench, join("settle-postgres", size), async (postgres) => {
					await using runtime = await startWorkers(folder, [{ ...worker, postgres }]);
					await importSettledNetwork(runtime, size);
					await fillPostgres(postgres, clicks[size], (text) => bench.say(`${size}: ${text}`));
				});
				servers.push(server);
				workers.push({ ...worker, postgres: server.url });
			}
			const [small, large] = servers;
			if (small === undefined || large === undefined) throw new Error("both sizes have a server");
			await using runtime = await startWorkers(folder, workers);
			return await measure(runtime, {
				prefix: "settle.postgres",
				clicks,
				unit: `× with ${TIMES_ON_POSTGRES} times as many clicks and conversions`,
				bar: TIME_BAR_ON_POSTGRES,
				count: (size, query) =>
					withClient({ small, large }[size].url, async (client) => Number((await client.query<{ n: string }>(query)).rows[0]?.n)),
			});
		} finally {
			for (const server of servers) await server.stop();
			rmSync(folder, { recursive: true, force: true });
		}
	},
};

type Trial = {
	prefix: string;
	clicks: Readonly<Record<Size, number>>;
	unit: string;
	bar: number;
	/** The number `n` that a query gives. */
	count: (size: Size, query: string) => Promise<number>;
};

async function measure(runtime: Runtime, { prefix, clicks, unit, bar, count }: Trial): Promise<Figure[]> {
	const fresh: Record<Size, number[]> = { small: [], large: [] };
	const changed: Record<Size, number[]> = { small: [], large: [] };
	// The sizes take turns, so that what else the machine does falls on both alike.
	for (let round = -WARM_UP_BATCHES; round < ROUNDS; round++) {
		for (const size of NAMES) {
			const transactions = Array.from({ length: BATCH }, (_, at) => clickAt(clicks[size], round * BATCH + at));
			const first = await time(runtime, size, messages(transactions, `new-${round}`, "pending"));
			const second = await time(runtime, size, messages(transactions, `new-${round}`, "approved"));
			if (round < 0) continue;
			fresh[size].push(first);
			changed[size].push(second);
		}
	}
	// All that was sent is settled and approved.
	for (const size of NAMES) {
		const wanted = (WARM_UP_BATCHES + ROUNDS) * BATCH;
		const settled = await count(
			size,
			"SELECT count(*) AS n FROM conversions WHERE txnid LIKE 'new-%' AND stage = 'settled' AND status = 'approved'",
		);
		if (settled !== wanted) throw new Error(`${size}: ${settled} of ${wanted} conversions were settled`);
	}
	const ratio = (of: Record<Size, number[]>) => median(of.large.map((ms, at) => ms / (of.small[at] ?? Number.NaN)));
	return [
		atMost(`${prefix}.new.time_ratio`, ratio(fresh), unit, bar),
		atMost(`${prefix}.changed.time_ratio`, ratio(changed), unit, bar),
		...NAMES.flatMap((size) => [
			tell(`${prefix}.new.${size}`, (BATCH / median(fresh[size])) * 1_000, "postbacks/s"),
			tell(`${prefix}.changed.${size}`, (BATCH / median(changed[size])) * 1_000, "postbacks/s"),
		]),
	];
}

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
