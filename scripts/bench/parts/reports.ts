import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildWorker } from "../build-worker.ts";
import { atMost, type Figure, median, tell } from "../figure.ts";
import type { Bench, Part } from "../part.ts";
import { type BenchPostgres, startFilled } from "../postgres.ts";
import { accessKeyOf, fillClicks, fillClicksPostgres, SOURCES } from "../reports/fill.ts";
import { type RunningWorker, type Runtime, startWorkers } from "../runtime.ts";

const SIZES = { small: 1_000_000, large: 5_000_000 } as const;
type Size = keyof typeof SIZES;
const BAR_RATIO = 1.2;
const ROUNDS = 41;
/** Publishers that are asked in turn, of those paid by clicks (even) or by conversions (odd). */
const PUBLISHERS = 10;
const MILLISECONDS = "ms";

const MONTH = { start_date: "2026-09-01", end_date: "2026-10-01" };
const THREE_DAYS = { start_date: "2026-09-14", end_date: "2026-09-16" };

type Question = { name: string; path: string; paidBy: "clicks" | "conversions"; fields: Record<string, string>; records: number | null };

/** First pages, of a size that both databases fill: then the two do the same work, but for the rows around it. */
const QUESTIONS: readonly Question[] = [
	{ name: "daywise", path: "revenue-share", paidBy: "conversions", fields: { report_type: "daywise", ...MONTH }, records: 31 },
	{
		name: "source_level",
		path: "revenue-share",
		paidBy: "conversions",
		fields: { report_type: "source_level", ...MONTH },
		records: SOURCES,
	},
	{ name: "clickid_level", path: "revenue-share", paidBy: "clicks", fields: { report_type: "clickid_level", ...MONTH }, records: 1_000 },
	{
		name: "clickid_level_cpa",
		path: "revenue-share",
		paidBy: "conversions",
		fields: { report_type: "clickid_level", ...MONTH, limit: "100" },
		records: 100,
	},
	{ name: "clicklevel", path: "clicklevel", paidBy: "clicks", fields: { ...THREE_DAYS, limit: "100" }, records: 100 },
	{ name: "clicklevel_cpa", path: "clicklevel", paidBy: "conversions", fields: { ...THREE_DAYS, limit: "10" }, records: 10 },
];

export const reports: Part = {
	name: "reports",
	about: "first pages of the reports of one of 200 publishers: 1,000,000 against 5,000,000 clicks",
	async run(bench) {
		const script = await buildWorker(bench, { entry: "src/worker.ts" });
		const sizes = Object.keys(SIZES) as Size[];
		await using runtime = await startWorkers(
			bench.folder,
			sizes.map((size) => ({ name: size, script, state: `reports-${size}`, databases: true })),
		);
		const fillSeconds: Record<Size, number> = { small: 0, large: 0 };
		for (const size of sizes) {
			const startedAt = performance.now();
			await fillClicks(runtime, size, SIZES[size], bench.say);
			fillSeconds[size] = (performance.now() - startedAt) / 1_000;
		}
		bench.say(`stored in ${fillSeconds.small.toFixed(0)} s and ${fillSeconds.large.toFixed(0)} s`);
		return await compareAll(bench, runtime, QUESTIONS, "reports", "×, 5 million clicks to 1 million");
	},
};

/** `--rows` clicks against a twentieth of them: by default 20 million against one. */
const TIMES_ON_POSTGRES = 20;

export const reportsPostgres: Part = {
	name: "reports-postgres",
	about: "the same reports on PostgreSQL, a connection made for each: --rows clicks against a twentieth of them",
	async run(bench) {
		const folder = join(bench.folder, "reports-postgres");
		mkdirSync(folder, { recursive: true });
		const script = await buildWorker(bench, { entry: "src/worker.ts" });
		const clicks = { small: bench.rows / TIMES_ON_POSTGRES, large: bench.rows };
		const servers: BenchPostgres[] = [];
		try {
			const workers: RunningWorker[] = [];
			for (const size of Object.keys(SIZES) as Size[]) {
				const worker = { name: size, script, state: `reports-postgres-${size}`, databases: true };
				const server = await startFilled(bench, join("reports-postgres", size), async (postgres) => {
					await using runtime = await startWorkers(folder, [{ ...worker, postgres }]);
					await fillClicksPostgres(runtime, size, postgres, clicks[size], bench.say);
				});
				servers.push(server);
				workers.push({ ...worker, postgres: server.url });
			}
			await using runtime = await startWorkers(folder, workers);
			// With fewer clicks than by default, which is to try the part, not every page is full.
			const questions = clicks.small < SIZES.small ? QUESTIONS.map((question) => ({ ...question, records: null })) : QUESTIONS;
			return await compareAll(bench, runtime, questions, "reports.postgres", `×, ${TIMES_ON_POSTGRES} times as many clicks`);
		} finally {
			for (const server of servers) await server.stop();
			rmSync(folder, { recursive: true, force: true });
		}
	},
};

async function compareAll(bench: Bench, runtime: Runtime, questions: readonly Question[], prefix: string, unit: string): Promise<Figure[]> {
	const origins = { small: await runtime.origin("small"), large: await runtime.origin("large") };
	const figures: Figure[] = [];
	for (const question of questions) {
		bench.say(`asking ${question.name}`);
		figures.push(...(await compareSizes(origins, question, `${prefix}.${question.name}`, unit)));
	}
	return figures;
}

/** Both databases are asked in turn, the same publisher each time. */
async function compareSizes(origins: Record<Size, string>, question: Question, name: string, unit: string): Promise<Figure[]> {
	const times: Record<Size, number[]> = { small: [], large: [] };
	// The first rounds warm up caches, on both sides.
	for (let round = -PUBLISHERS; round < ROUNDS; round++) {
		const publisher = ((round + PUBLISHERS) % PUBLISHERS) * 2 + (question.paidBy === "clicks" ? 0 : 1);
		const order: Size[] = round % 2 === 0 ? ["small", "large"] : ["large", "small"];
		for (const size of order) {
			const milliseconds = await ask(origins[size], question, publisher);
			if (round >= 0) times[size].push(milliseconds);
		}
	}
	const [small, large] = [median(times.small), median(times.large)];
	return [
		atMost(`${name}.ratio`, large / small, unit, BAR_RATIO),
		tell(`${name}.small`, small, `${MILLISECONDS}, p50 of a first page of ${question.records ?? "fewer"}`),
		tell(`${name}.large`, large, `${MILLISECONDS}, p50 of a first page of ${question.records ?? "fewer"}`),
	];
}

async function ask(origin: string, { path, fields, records }: Question, publisher: number): Promise<number> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}/api/reporting/${path}`, {
		method: "POST",
		headers: { AccessKey: accessKeyOf(publisher) },
		body: new URLSearchParams(fields),
	});
	const text = await response.text();
	const milliseconds = performance.now() - startedAt;
	if (!response.ok) throw new Error(`${path}: HTTP ${response.status} ${text.slice(0, 300)}`);
	const { data } = JSON.parse(text) as { data: unknown[] };
	if (records !== null && data.length !== records)
		throw new Error(`${path} answered ${data.length} records where ${records} were expected`);
	return milliseconds;
}
