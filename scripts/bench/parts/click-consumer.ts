import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { benchClick, CAMPAIGNS, IDENTITIES } from "../../../test/bench/click-messages.ts";
import { ROOT } from "../../local/paths.ts";
import { buildWorker } from "../build-worker.ts";
import { generateOwners } from "../catalogue/generate.ts";
import { atLeast, median, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import type { Bench, Part } from "../part.ts";
import { type Runtime, startWorkers } from "../runtime.ts";

const ROUNDS = 9;
/** As the queue delivers them. */
const BATCH = 100;
const BATCHES_A_ROUND = 50;
const CLICKS_A_ROUND = BATCHES_A_ROUND * BATCH;

export const clickConsumer: Part = {
	name: "click-consumer",
	about: "the click consumer into local D1, against the same rows by one prepared bulk statement into node:sqlite",
	async run(bench) {
		await using runtime = await startWorkers(bench.folder, [
			{ name: "all", script: await buildWorker(bench, { entry: "src/worker.ts" }), state: "clicks", databases: true },
			{
				name: "consumer",
				script: await buildWorker(bench, { entry: "test/bench/click-consumer-worker.ts" }),
				state: "clicks",
				databases: true,
			},
		]);
		await prepareNetwork(runtime);
		using sqlite = openSqlite(bench);
		const origin = await runtime.origin("consumer");
		const consumed: number[] = [];
		const inserted: number[] = [];
		for (let round = 0; round <= ROUNDS; round++) {
			const consumer = await consume(origin, round);
			const bulk = sqlite.insert(round);
			if (round === 0) continue;
			consumed.push(consumer);
			inserted.push(bulk);
			bench.say(`round ${round} of ${ROUNDS}: consumer ${consumer.toFixed(0)} clicks/s, bulk statement ${bulk.toFixed(0)} rows/s`);
		}
		await checkWritten(runtime, (ROUNDS + 1) * CLICKS_A_ROUND);
		return [
			atLeast("click_consumer.ratio", median(consumed.map((rate, at) => rate / (inserted[at] ?? Number.NaN))), "×", 0.5),
			tell("click_consumer.rate", median(consumed), "clicks/s"),
			tell("click_consumer.batch", (BATCH * 1_000) / median(consumed), `ms a batch of ${BATCH}`),
			tell("click_consumer.bulk_statement.rate", median(inserted), "rows/s"),
		];
	},
};

async function prepareNetwork(runtime: Runtime): Promise<void> {
	await migrateDatabases(runtime, "all");
	const owners = generateOwners();
	const [model] = owners.publishers ?? [];
	const [platform] = owners.platforms ?? [];
	if (model === undefined || platform === undefined) throw new Error("there is no publisher to take after");
	const publishers = Array.from({ length: IDENTITIES }, (_, at) => ({
		...model,
		id: `p${at}`,
		publisher_id: `bench-${at}`,
		publisher_identity: `bench_${at}`,
		access_key: `benchmark-access-key-${at}`,
		publisher_key: `benchmark-publisher-key-${at}`,
		blocked_brands: [],
	}));
	const brands = Array.from({ length: CAMPAIGNS }, (_, at) => ({
		domain: `brand-${at}.example`,
		name: `Brand ${at}`,
		campaigns: [
			{
				campaign_id: 1_000 + at,
				merchant_id: at + 1,
				platform: platform.id,
				country: "US",
				homepage_url: "https://track.example/c?sub={click_id}",
				epc: "0.4200",
				daily_click_cap: 100_000_000,
				timezone: "America/New_York",
			},
		],
	}));
	await importNetwork(await runtime.origin("all"), JSON.stringify({ ...owners, publishers, brands }));
}

/** Clicks a second. */
async function consume(origin: string, round: number): Promise<number> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}/${round}?batches=${BATCHES_A_ROUND}`, { method: "POST" });
	const answer = await response.text();
	if (!response.ok) throw new Error(`the consumer answers HTTP ${response.status} ${answer.slice(0, 300)}`);
	return CLICKS_A_ROUND / ((performance.now() - startedAt) / 1_000);
}

/** The same table with the same indexes, in a file with a write-ahead log that is synced at each commit, as local D1 does. */
function openSqlite(bench: Bench) {
	const db = new DatabaseSync(join(bench.folder, "bulk.sqlite"));
	db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
	const folder = join(ROOT, "drizzle", "network");
	for (const file of readdirSync(folder).filter((name) => name.endsWith(".sql"))) {
		db.exec(readFileSync(join(folder, file), "utf8").replaceAll("--> statement-breakpoint", ""));
	}
	const columns = Object.keys(toRow(0, ""));
	const statement = db.prepare(`INSERT INTO clicks (${columns.join(", ")})
		SELECT ${columns.map((_, at) => `value ->> ${at}`).join(", ")} FROM json_each(?)`);
	return {
		/** Rows a second. */
		insert(round: number): number {
			const startedAt = performance.now();
			for (let batch = 0; batch < BATCHES_A_ROUND; batch++) {
				const first = (round * BATCHES_A_ROUND + batch) * BATCH;
				statement.run(JSON.stringify(Array.from({ length: BATCH }, (_, at) => Object.values(toRow(first + at, `delivery-${first}`)))));
			}
			return CLICKS_A_ROUND / ((performance.now() - startedAt) / 1_000);
		},
		[Symbol.dispose]: () => db.close(),
	};
}

/** What the consumer writes of the same message, by column. */
function toRow(at: number, writtenBy: string): Record<string, string | number | null> {
	const click = benchClick(at);
	const { clickid, subi, subid1, uid } = click.texts;
	return {
		id: click.id,
		click_hash: click.hash,
		kind: click.kind,
		reason: null,
		clicked_at: click.at,
		publisher_id: click.publisher.replace("bench_", "p"),
		brand_id: click.brandId,
		campaign_id: click.campaignId,
		platform: "northwind",
		publisher_click_id: clickid,
		source_id: subi,
		subi,
		psorc: null,
		pcat: null,
		subid1,
		subid2: null,
		subid3: null,
		subid4: null,
		subid5: null,
		uid,
		atag: null,
		bid_micros: click.bidMicros,
		revenue_micros: 0,
		pricing_model: "CPA",
		country: click.country,
		ip_prefix: click.ipPrefix,
		user_agent_hash: click.userAgentHash,
		written_by: writtenBy,
	};
}

/** Every click was written and counted: what is fast must also be right. */
async function checkWritten(runtime: Runtime, expected: number): Promise<void> {
	const db = await runtime.miniflare.getD1Database("DB", "consumer");
	const row = await db
		.prepare(
			"SELECT (SELECT count(*) FROM clicks WHERE reason IS NULL AND publisher_id IS NOT NULL) AS written, (SELECT sum(click_count) FROM daily_sources) AS counted, (SELECT sum(click_count) FROM campaign_days) AS held",
		)
		.first<{ written: number; counted: number; held: number }>();
	if (row?.written !== expected || row.counted !== expected || row.held !== expected) {
		throw new Error(`of ${expected} clicks the database has ${JSON.stringify(row)}`);
	}
}
