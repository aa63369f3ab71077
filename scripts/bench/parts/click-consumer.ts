import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { buildWorker } from "../build-worker.ts";
import { BATCH, CLICKS_A_ROUND, consume, ROUNDS } from "../clicks/consume.ts";
import { fillD1, findD1File } from "../clicks/fill-d1.ts";
import { importClickedNetwork } from "../clicks/network.ts";
import { CLICK_ROW_COLUMNS, clickRow } from "../clicks/row.ts";
import { atLeast, median, tell } from "../figure.ts";
import { migrateDatabases } from "../import-network.ts";
import type { Bench, Part } from "../part.ts";
import { type Runtime, startWorkers } from "../runtime.ts";

export const clickConsumer: Part = {
	name: "click-consumer",
	about: "the click consumer into local D1 with --rows clicks, against the same rows by one prepared bulk statement into node:sqlite",
	async run(bench) {
		const folder = join(bench.folder, "click-consumer");
		const copy = join(folder, "bulk.sqlite");
		try {
			await store(bench, folder, copy);
			return await measure(bench, folder, copy);
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	},
};

/** D1's file with its clicks, and a copy of it. */
async function store(bench: Bench, folder: string, copy: string): Promise<void> {
	{
		await using runtime = await startWorkers(folder, [
			{ name: "all", script: await buildWorker(bench, { entry: "src/worker.ts" }), state: "clicks", databases: true },
		]);
		await migrateDatabases(runtime, "all");
		await importClickedNetwork(await runtime.origin("all"));
	}
	const file = findD1File(folder);
	fillD1(file, bench.rows, bench.say);
	bench.say("copying the file");
	copyFileSync(file, copy);
}

async function measure(bench: Bench, folder: string, copy: string) {
	await using runtime = await startWorkers(folder, [
		{
			name: "consumer",
			script: await buildWorker(bench, { entry: "test/bench/click-consumer-worker.ts" }),
			state: "clicks",
			databases: true,
		},
	]);
	using sqlite = openSqlite(copy);
	const origin = await runtime.origin("consumer");
	const consumed: number[] = [];
	const inserted: number[] = [];
	const alone: number[] = [];
	for (let round = 0; round <= ROUNDS; round++) {
		const first = bench.rows + 2 * round * CLICKS_A_ROUND;
		const consumer = await consume(origin, first);
		const bulk = sqlite.insert(first);
		const floor = await consume(origin, first + CLICKS_A_ROUND, "&floor");
		if (round === 0) continue;
		consumed.push(consumer);
		inserted.push(bulk);
		alone.push(floor);
		const rates = `consumer ${consumer.toFixed(0)} clicks/s, bulk statement ${bulk.toFixed(0)} rows/s, floor ${floor.toFixed(0)} clicks/s`;
		bench.say(`round ${round} of ${ROUNDS}: ${rates}`);
	}
	await checkWritten(runtime, bench.rows, (ROUNDS + 1) * CLICKS_A_ROUND);
	const ratioOf = (rates: readonly number[], to: readonly number[]) => median(rates.map((rate, at) => rate / (to[at] ?? Number.NaN)));
	return [
		atLeast("click_consumer.ratio", ratioOf(consumed, inserted), "×", 0.5),
		// What local D1 itself takes for two round trips and the clicks alone, without anything that counts them.
		tell("click_consumer.floor.ratio", ratioOf(alone, inserted), "×"),
		tell("click_consumer.of_floor", ratioOf(consumed, alone), "×"),
		tell("click_consumer.rate", median(consumed), "clicks/s"),
		tell("click_consumer.batch", (BATCH * 1_000) / median(consumed), `ms a batch of ${BATCH}`),
		tell("click_consumer.bulk_statement.rate", median(inserted), "rows/s"),
	];
}

/** The same file with a write-ahead log that is synced at each commit, as local D1 does. */
function openSqlite(file: string) {
	const db = new DatabaseSync(file);
	db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
	const statement = db.prepare(`INSERT INTO clicks (${CLICK_ROW_COLUMNS.join(", ")})
		SELECT ${CLICK_ROW_COLUMNS.map((_, at) => `value ->> ${at}`).join(", ")} FROM json_each(?)`);
	return {
		/** Rows a second. */
		insert(first: number): number {
			const startedAt = performance.now();
			for (let start = first; start < first + CLICKS_A_ROUND; start += BATCH) {
				statement.run(JSON.stringify(Array.from({ length: BATCH }, (_, at) => Object.values(clickRow(start + at)))));
			}
			return CLICKS_A_ROUND / ((performance.now() - startedAt) / 1_000);
		},
		[Symbol.dispose]: () => db.close(),
	};
}

/** Every click was written and counted: what is fast must also be right. */
async function checkWritten(runtime: Runtime, before: number, expected: number): Promise<void> {
	const db = await runtime.miniflare.getD1Database("DB", "consumer");
	const row = await db
		.prepare(
			"SELECT (SELECT count(*) FROM clicks) AS written, (SELECT sum(click_count) FROM daily_sources) AS counted, (SELECT sum(click_count) FROM campaign_days) AS held",
		)
		.first<{ written: number; counted: number; held: number }>();
	// The floor writes as many, and counts none.
	if (row?.written !== before + 2 * expected || row.counted !== expected || row.held !== expected) {
		throw new Error(`of ${expected} clicks after ${before} the database has ${JSON.stringify(row)}`);
	}
}
