import { rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { buildWorker } from "../build-worker.ts";
import { BATCH, consume, CLICKS_A_ROUND as FEW_CLICKS } from "../clicks/consume.ts";
import { fillPostgres } from "../clicks/fill-postgres.ts";
import { importClickedNetwork } from "../clicks/network.ts";
import { CLICK_ROW_COLUMNS, clickRow } from "../clicks/row.ts";
import { atLeast, type Figure, median, tell } from "../figure.ts";
import { migrateDatabases } from "../import-network.ts";
import type { Bench, Part } from "../part.ts";
import { type BenchPostgres, startFilled, withClient } from "../postgres.ts";
import { startWorkers } from "../runtime.ts";

/** A minute or so. */
const ROUNDS = 5;
/** A connection lasts for a round: Hyperdrive keeps one for longer, and what is planned is planned once on each. */
const CLICKS_A_ROUND = 20_000;
/** With a connection made for each batch, as there is none to keep without Hyperdrive. */
const CONNECTING_ROUNDS = 4;
/** Consumers at once: half as many as docs/operations/postgresql.md has. */
const LANES = 4;
const ALONE_ROUNDS = 2;
const RATE_BAR = 5_000;
const RATIO_BAR = 0.5;

export const clickConsumerPostgres: Part = {
	name: "click-consumer-postgres",
	about: "the click consumer into PostgreSQL with --rows clicks, against the same rows by one prepared bulk statement",
	async run(bench) {
		const data = "postgres-clicks";
		try {
			const server = await startFilled(bench, data, (url) => fillPostgres(url, bench.rows, bench.say));
			try {
				return await measure(bench, join(bench.folder, "click-consumer-postgres"), server);
			} finally {
				await server.stop();
			}
		} finally {
			rmSync(join(bench.folder, data), { recursive: true, force: true });
		}
	},
};

async function measure(bench: Bench, folder: string, { url }: BenchPostgres): Promise<Figure[]> {
	await using runtime = await startWorkers(folder, [
		{ name: "all", script: await buildWorker(bench, { entry: "src/worker.ts" }), state: "clicks", databases: true, postgres: url },
		{
			name: "consumer",
			script: await buildWorker(bench, { entry: "test/bench/click-consumer-worker.ts" }),
			state: "clicks",
			databases: true,
			postgres: url,
		},
	]);
	await migrateDatabases(runtime, "all");
	await importClickedNetwork(await runtime.origin("all"));
	const origin = await runtime.origin("consumer");
	const bulk = await openBulk(url);
	const sizes = new Sizes(url);
	const consumed: number[] = [];
	const inserted: number[] = [];
	const alone: number[] = [];
	const connecting: number[] = [];
	try {
		let first = bench.rows;
		for (let round = 0; round <= ROUNDS; round++) {
			const { spent: consumer, size } = await sizes.around(() => consume(origin, first, `&known&lanes=${LANES}`, CLICKS_A_ROUND));
			const rate = await bulk.insert(first + CLICKS_A_ROUND);
			first += 2 * CLICKS_A_ROUND;
			if (round === 0) continue;
			sizes.add(size);
			consumed.push(consumer);
			inserted.push(rate);
			bench.say(`round ${round} of ${ROUNDS}: consumer ${consumer.toFixed(0)} clicks/s, bulk statement ${rate.toFixed(0)} rows/s`);
		}
		for (let round = 0; round < ALONE_ROUNDS; round++) {
			alone.push(await consume(origin, first, "&known", CLICKS_A_ROUND));
			first += CLICKS_A_ROUND;
		}
		for (let round = 0; round < CONNECTING_ROUNDS; round++) {
			connecting.push(await consume(origin, first, "&known&connect"));
			first += FEW_CLICKS;
		}
		const consumedInAll = (ROUNDS + 1 + ALONE_ROUNDS) * CLICKS_A_ROUND + CONNECTING_ROUNDS * FEW_CLICKS;
		await checkWritten(url, bench.rows + (ROUNDS + 1) * CLICKS_A_ROUND, consumedInAll);
	} finally {
		await bulk.close();
	}
	// All clicks by all the time, and no median: a checkpoint slows some rounds down, and belongs to it.
	const sustained = consumed.length / consumed.reduce((seconds, rate) => seconds + 1 / rate, 0);
	const clicks = ROUNDS * CLICKS_A_ROUND;
	return [
		atLeast("click_consumer.postgres.rate", sustained, "clicks/s, sustained", RATE_BAR),
		atLeast("click_consumer.postgres.ratio", median(consumed.map((rate, at) => rate / (inserted[at] ?? Number.NaN))), "×", RATIO_BAR),
		tell("click_consumer.postgres.alone.rate", median(alone), "clicks/s, by one consumer"),
		tell("click_consumer.postgres.connecting.rate", median(connecting), "clicks/s, by one consumer, with a new connection for each batch"),
		tell("click_consumer.postgres.batch", (BATCH * 1_000) / sustained, `ms a batch of ${BATCH}`),
		tell("click_consumer.postgres.bulk_statement.rate", median(inserted), "rows/s"),
		tell("click_consumer.postgres.wal", sizes.walBytes / clicks, "bytes of write-ahead log a click"),
		...(await describeSizes(url)),
	];
}

/** Bytes of write-ahead log that the consumer's rounds write. */
class Sizes {
	walBytes = 0;
	readonly #url: string;
	constructor(url: string) {
		this.#url = url;
	}
	async around(work: () => Promise<number>): Promise<{ spent: number; size: number }> {
		const before = await this.#read();
		const spent = await work();
		return { spent, size: (await this.#read()) - before };
	}
	add(bytes: number): void {
		this.walBytes += bytes;
	}
	#read(): Promise<number> {
		return withClient(this.#url, async (client) => {
			const { rows } = await client.query<{ bytes: string }>("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes");
			return Number(rows[0]?.bytes);
		});
	}
}

/** What a stored click takes with its indexes, by the largest partition. */
function describeSizes(url: string): Promise<Figure[]> {
	return withClient(url, async (client) => {
		const { rows } = await client.query<{ name: string; bytes: string }>(
			`SELECT inhrelid::regclass::text AS name, pg_total_relation_size(inhrelid) AS bytes FROM pg_inherits
			WHERE inhparent = 'clicks'::regclass ORDER BY 2 DESC LIMIT 1`,
		);
		const [largest] = rows;
		if (largest === undefined) throw new Error("clicks have no partition");
		const { rows: counts } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${largest.name}`);
		return [tell("click_consumer.postgres.click", Number(largest.bytes) / Number(counts[0]?.n), "bytes a click, with its indexes")];
	});
}

/** One prepared INSERT of arrays, into the same table: a transaction for each batch. */
async function openBulk(url: string) {
	const client = new Client({ connectionString: url });
	await client.connect();
	const types = Object.values(clickRow(0)).map((value) => (typeof value === "number" ? "bigint[]" : "text[]"));
	const text = `INSERT INTO clicks (${CLICK_ROW_COLUMNS.join(", ")}) SELECT * FROM unnest(${types.map((type, at) => `$${at + 1}::${type}`).join(", ")})`;
	return {
		/** Rows a second. */
		async insert(first: number): Promise<number> {
			const startedAt = performance.now();
			for (let start = first; start < first + CLICKS_A_ROUND; start += BATCH) {
				const rows = Array.from({ length: BATCH }, (_, at) => clickRow(start + at));
				await client.query({ name: "bulk", text, values: CLICK_ROW_COLUMNS.map((column) => rows.map((row) => row[column])) });
			}
			return CLICKS_A_ROUND / ((performance.now() - startedAt) / 1_000);
		},
		close: () => client.end(),
	};
}

/** Every click was written, and each of the consumer's was counted: what is fast must also be right. */
async function checkWritten(url: string, before: number, expected: number): Promise<void> {
	const counted = await withClient(url, async (client) => {
		const { rows } = await client.query<Record<"written" | "counted" | "held" | "known", string>>(`SELECT
			(SELECT count(*) FROM clicks) AS written, (SELECT sum(click_count) FROM daily_sources) AS counted,
			(SELECT sum(click_count) FROM campaign_days) AS held, (SELECT count(*) FROM paid_visits) AS known`);
		return rows[0];
	});
	const isRight =
		Number(counted?.written) === before + expected &&
		[counted?.counted, counted?.held, counted?.known].every((n) => Number(n) === expected);
	if (!isRight) throw new Error(`of ${expected} clicks after ${before} the database has ${JSON.stringify(counted)}`);
}
