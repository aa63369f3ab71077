import { rmSync } from "node:fs";
import { join } from "node:path";
import { buildWorker } from "../build-worker.ts";
import { generateOwners } from "../catalogue/generate.ts";
import { findD1File } from "../clicks/fill-d1.ts";
import { namePublishers } from "../clicks/network.ts";
import { fillDeskD1, fillDeskPostgres } from "../desk/fill.ts";
import { operatorQuestions, publisherQuestions, type Question } from "../desk/questions.ts";
import { CLICKS_PER_ROUND } from "../desk/stored.ts";
import { atMost, type Figure, median, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import type { Bench, Part } from "../part.ts";
import { startFilled } from "../postgres.ts";
import { OPERATOR_KEY, type RunningWorker, startWorkers } from "../runtime.ts";

const SIZES = ["small", "large"] as const;
type Size = (typeof SIZES)[number];
const LARGE_CLICKS = 10_000_000;
const TIMES = 10;
const BAR_RATIO = 1.2;
const ROUNDS = 31;
const WARM_UP_ROUNDS = 5;

const clicksOf = ({ rows }: Bench): Record<Size, number> => {
	const rounds = Math.max(1, Math.floor(Math.min(rows, LARGE_CLICKS) / TIMES / CLICKS_PER_ROUND));
	return { small: rounds * CLICKS_PER_ROUND, large: rounds * CLICKS_PER_ROUND * TIMES };
};

export const desk: Part = {
	name: "desk",
	about: "lists of the operator and of publishers on D1: 1 against 10 million clicks (or --rows), each eight with a conversion",
	run: (bench) =>
		inFolder(bench, "desk", async (folder) => {
			const clicks = clicksOf(bench);
			const script = await buildWorker(bench, { entry: "src/worker.ts" });
			const workers = SIZES.map((size) => ({ name: size, script, state: size, databases: true }));
			const filled: string[] = [];
			for (const worker of workers) {
				await importOwners(folder, worker);
				const file = findD1File(folder, filled);
				fillDeskD1(file, clicks[worker.name], (text) => bench.say(`${worker.name}: ${text}`));
				filled.push(file);
			}
			await using runtime = await startWorkers(folder, workers);
			return await compare(bench, "desk", { small: await runtime.origin("small"), large: await runtime.origin("large") });
		}),
};

export const deskPostgres: Part = {
	name: "desk-postgres",
	about: "the same lists on PostgreSQL, a connection made for each request",
	run: (bench) =>
		inFolder(bench, "desk-postgres", async (folder) => {
			const clicks = clicksOf(bench);
			const script = await buildWorker(bench, { entry: "src/worker.ts" });
			const start = (size: Size) =>
				startFilled(bench, join("desk-postgres", `data-${size}`), async (postgres) => {
					await importOwners(join(folder, size), { name: "all", script, state: "desk", databases: true, postgres });
					await fillDeskPostgres(postgres, clicks[size], (text) => bench.say(`${size}: ${text}`));
				});
			const servers = { small: await start("small"), large: await start("large") };
			try {
				const workers = SIZES.map((name) => ({ name, script, state: name, databases: true, postgres: servers[name].url }));
				await using runtime = await startWorkers(folder, workers);
				return await compare(bench, "desk.postgres", { small: await runtime.origin("small"), large: await runtime.origin("large") });
			} finally {
				for (const size of SIZES) await servers[size].stop();
			}
		}),
};

async function inFolder(bench: Bench, name: string, run: (folder: string) => Promise<Figure[]>): Promise<Figure[]> {
	const folder = join(bench.folder, name);
	try {
		return await run(folder);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** A network without brands: those are stored with their clicks. */
async function importOwners(folder: string, worker: RunningWorker): Promise<void> {
	await using runtime = await startWorkers(folder, [worker]);
	await migrateDatabases(runtime, worker.name);
	const owners = generateOwners();
	const [model] = owners.publishers ?? [];
	if (model === undefined) throw new Error("there is no publisher to take after");
	const origin = await runtime.origin(worker.name);
	await importNetwork(origin, { platforms: owners.platforms ?? [], publishers: namePublishers(model) });
}

async function compare(bench: Bench, prefix: string, origins: Record<Size, string>): Promise<Figure[]> {
	const clicks = clicksOf(bench);
	const figures: Figure[] = [];
	for (const [ofSize, headers] of [
		[operatorQuestions, { OperatorKey: OPERATOR_KEY }],
		[publisherQuestions, { AccessKey: "benchmark-access-key-0" }],
	] as const) {
		const questions = { small: ofSize(clicks.small), large: ofSize(clicks.large) };
		for (const [at, { name, isBarred }] of questions.small.entries()) {
			const times: Record<Size, number[]> = { small: [], large: [] };
			for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
				for (const size of round % 2 === 0 ? SIZES : SIZES.toReversed()) {
					const question = questions[size][at];
					if (question === undefined) throw new Error("both sizes are asked the same");
					const milliseconds = await ask(origins[size], question, headers);
					if (round >= 0) times[size].push(milliseconds);
				}
			}
			const [small, large] = [median(times.small), median(times.large)];
			bench.say(`${name}: ${small.toFixed(2)} ms and ${large.toFixed(2)} ms`);
			const unit = "×, of ten times as many";
			const ratio = large / small;
			figures.push(isBarred ? atMost(`${prefix}.${name}.ratio`, ratio, unit, BAR_RATIO) : tell(`${prefix}.${name}.ratio`, ratio, unit));
			figures.push(tell(`${prefix}.${name}.large`, large, "ms, p50"));
		}
	}
	return figures;
}

async function ask(origin: string, { name, path, records, body }: Question, headers: Record<string, string>): Promise<number> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}${path}`, {
		headers: { ...headers, "content-type": "application/json" },
		...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
	});
	const text = await response.text();
	const milliseconds = performance.now() - startedAt;
	if (!response.ok) throw new Error(`${name}: HTTP ${response.status} ${text.slice(0, 300)}`);
	const { data } = JSON.parse(text) as { data?: unknown[] };
	if (records !== null && data?.length !== records) throw new Error(`${name}: ${data?.length} records where ${records} were expected`);
	return milliseconds;
}
