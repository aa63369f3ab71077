import { buildWorker } from "../build-worker.ts";
import { atMost, type Figure, median, tell } from "../figure.ts";
import type { Part } from "../part.ts";
import { accessKeyOf, fillClicks, SOURCES } from "../reports/fill.ts";
import { startWorkers } from "../runtime.ts";

const SIZES = { small: 1_000_000, large: 5_000_000 } as const;
type Size = keyof typeof SIZES;
const BAR_RATIO = 1.2;
const ROUNDS = 41;
/** Publishers that are asked in turn, of those paid by clicks (even) or by conversions (odd). */
const PUBLISHERS = 10;
const MILLISECONDS = "ms";

const MONTH = { start_date: "2026-09-01", end_date: "2026-10-01" };
const THREE_DAYS = { start_date: "2026-09-14", end_date: "2026-09-16" };

type Question = { name: string; path: string; paidBy: "clicks" | "conversions"; fields: Record<string, string>; records: number };

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
		const origins = { small: await runtime.origin("small"), large: await runtime.origin("large") };
		const figures: Figure[] = [];
		for (const question of QUESTIONS) {
			bench.say(`asking ${question.name}`);
			figures.push(...(await compareSizes(origins, question)));
		}
		return figures;
	},
};

/** Both databases are asked in turn, the same publisher each time. */
async function compareSizes(origins: Record<Size, string>, question: Question): Promise<Figure[]> {
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
	const name = `reports.${question.name}`;
	return [
		atMost(`${name}.ratio`, large / small, "×, 5 million clicks to 1 million", BAR_RATIO),
		tell(`${name}.small`, small, `${MILLISECONDS}, p50 of a first page of ${question.records}`),
		tell(`${name}.large`, large, `${MILLISECONDS}, p50 of a first page of ${question.records}`),
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
	if (data.length !== records) throw new Error(`${path} answered ${data.length} records where ${records} were expected`);
	return milliseconds;
}
