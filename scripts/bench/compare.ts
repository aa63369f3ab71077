/** A bid against the fastest answer the runtime can give to the same request. */

import { buildWorker, EDGE } from "./build-worker.ts";
import { DEMO_STATE } from "./demo-state.ts";
import { atLeast, atMost, type Figure, tell } from "./figure.ts";
import { busyShare, cpuRatioOf, FULL_ROUNDS, medianCpu, medianOf, type Round, ratioOf, runRounds } from "./load.ts";
import type { Target } from "./load-protocol.ts";
import type { Bench } from "./part.ts";
import { startWorkers } from "./runtime.ts";

/** A server that is not kept busy is not what is measured: the slower side gains by it. */
const LEAST_BUSY = 0.95;

export type Comparison = {
	/** Prefix of the figures. */
	name: string;
	/** Entry file of the baseline Worker; it answers with `ANSWER_BYTES` bytes. */
	baseline: string;
	/** Another baseline that does less, compared with as well, without a bar. */
	leanBaseline?: string;
	targets: readonly Target[];
	answerBytes: number;
	throughputBar: number;
	p99Bar: number | null;
};

/**
 * All Workers run in one workerd process, each with its own isolate and socket: only one is loaded at a time, so the others cost
 * nothing, and all meet the same process. workerd has one core for it, the load process the other.
 */
export async function compareWithBaseline(bench: Bench, comparison: Comparison): Promise<Figure[]> {
	const { name, baseline, leanBaseline, targets, answerBytes, throughputBar, p99Bar } = comparison;
	const baselines = [
		{ name: "baseline", entry: baseline },
		...(leanBaseline === undefined ? [] : [{ name: "lean_baseline", entry: leanBaseline }]),
	];
	const variables = { ANSWER_BYTES: String(answerBytes) };
	await using runtime = await startWorkers(bench.folder, [
		{ name: "bid", script: await buildWorker(bench, EDGE), state: DEMO_STATE },
		...(await Promise.all(
			baselines.map(async ({ name, entry }) => ({ name, script: await buildWorker(bench, { entry, environment: "edge" }), variables })),
		)),
	]);
	const names = ["bid", ...baselines.map(({ name }) => name)];
	const sides = await Promise.all(names.map(async (side) => ({ name: side, origin: await runtime.origin(side), targets })));
	await checkAnswers(sides, answerBytes);
	bench.say(`${targets.length} requests in turn, answers of ${answerBytes} bytes`);
	const [bid, base, lean] = await runRounds(sides, { ...FULL_ROUNDS, say: bench.say });
	if (base === undefined || bid === undefined) throw new Error("a side is missing");
	if ([bid, base].some((rounds) => (busyShare(rounds) ?? 1) < LEAST_BUSY)) {
		bench.say(
			"NOTE: workerd had to wait for requests, because something else uses the machine; the ratio flatters. Repeat it on a quiet one.",
		);
	}
	const p99Ratio = ratioOf(bid, base, "p99");
	return [
		atLeast(`${name}.throughput_ratio`, ratioOf(bid, base, "perSecond"), "×", throughputBar),
		p99Bar === null ? tell(`${name}.p99_ratio`, p99Ratio, "×") : atMost(`${name}.p99_ratio`, p99Ratio, "×", p99Bar),
		...tellKnown(`${name}.cpu_ratio`, cpuRatioOf(base, bid), "×, CPU time of the baseline to that of a bid"),
		...describe(`${name}.bid`, bid),
		...describe(`${name}.baseline`, base),
		...(lean === undefined
			? []
			: [tell(`${name}.lean_baseline.throughput_ratio`, ratioOf(bid, lean, "perSecond"), "×"), ...describe(`${name}.lean_baseline`, lean)]),
	];
}

function describe(name: string, rounds: readonly Round[]): Figure[] {
	return [
		tell(`${name}.throughput`, medianOf(rounds, "perSecond"), "requests/s"),
		tell(`${name}.p50`, medianOf(rounds, "p50"), "ms"),
		tell(`${name}.p99`, medianOf(rounds, "p99"), "ms"),
		...tellKnown(`${name}.busy`, busyShare(rounds), "of a core"),
		...tellKnown(`${name}.cpu`, medianCpu(rounds), "µs of workerd/request"),
	];
}

function tellKnown(name: string, value: number | null, unit: string): Figure[] {
	return value === null ? [] : [tell(name, value, unit)];
}

/** All sides must answer alike: HTTP 200, JSON, and as many bytes, give or take what brand names differ by. */
async function checkAnswers(
	sides: readonly { name: string; origin: string; targets: readonly Target[] }[],
	answerBytes: number,
): Promise<void> {
	for (const { name, origin, targets } of sides) {
		const [{ method, path, body = null } = { method: "GET", path: "/" }] = targets;
		const response = await fetch(`${origin}${path}`, {
			method,
			body,
			...(body !== null && { headers: { "content-type": "application/json" } }),
		});
		const bytes = (await response.arrayBuffer()).byteLength;
		const like =
			response.status === 200 && response.headers.get("content-type") === "application/json" && Math.abs(bytes - answerBytes) < 100;
		if (!like)
			throw new Error(
				`${name} answers HTTP ${response.status}, ${response.headers.get("content-type")}, ${bytes} bytes instead of ${answerBytes}`,
			);
	}
}
