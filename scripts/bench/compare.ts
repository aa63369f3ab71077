/** A bid against the fastest answer the runtime can give to the same request. */

import { buildWorker, EDGE } from "./build-worker.ts";
import { DEMO_STATE } from "./demo-state.ts";
import { atLeast, atMost, type Figure, tell } from "./figure.ts";
import { cpuRatioOf, FULL_ROUNDS, medianCpu, medianOf, type Round, ratioOf, runRounds } from "./load.ts";
import type { Target } from "./load-protocol.ts";
import type { Bench } from "./part.ts";
import { startWorkers } from "./runtime.ts";

export type Comparison = {
	/** Prefix of the figures. */
	name: string;
	/** Entry file of the baseline Worker; it answers with `ANSWER_BYTES` bytes. */
	baseline: string;
	targets: readonly Target[];
	answerBytes: number;
	throughputBar: number;
	p99Bar: number | null;
};

/**
 * Both Workers run in one workerd process, each with its own isolate and socket: only one is loaded at a time, so the other costs
 * nothing, and both meet the same process. workerd has one core for it, the load process the other.
 */
export async function compareWithBaseline(bench: Bench, comparison: Comparison): Promise<Figure[]> {
	const { name, baseline, targets, answerBytes, throughputBar, p99Bar } = comparison;
	await using runtime = await startWorkers(bench.folder, [
		{
			name: "baseline",
			script: await buildWorker(bench, { entry: baseline, environment: "edge" }),
			variables: { ANSWER_BYTES: String(answerBytes) },
		},
		{ name: "bid", script: await buildWorker(bench, EDGE), state: DEMO_STATE },
	]);
	const sides = await Promise.all(["baseline", "bid"].map(async (side) => ({ name: side, origin: await runtime.origin(side), targets })));
	await checkAnswers(sides, answerBytes);
	bench.say(`${targets.length} requests in turn, answers of ${answerBytes} bytes`);
	const [base, bid] = await runRounds(sides, { ...FULL_ROUNDS, say: bench.say });
	if (base === undefined || bid === undefined) throw new Error("a side is missing");
	const cpuRatio = cpuRatioOf(base, bid);
	const p99Ratio = ratioOf(bid, base, "p99");
	return [
		atLeast(`${name}.throughput_ratio`, ratioOf(bid, base, "perSecond"), "×", throughputBar),
		p99Bar === null ? tell(`${name}.p99_ratio`, p99Ratio, "×") : atMost(`${name}.p99_ratio`, p99Ratio, "×", p99Bar),
		...(cpuRatio === null ? [] : [tell(`${name}.cpu_ratio`, cpuRatio, "×, CPU time of the baseline to that of a bid")]),
		...describe(`${name}.bid`, bid),
		...describe(`${name}.baseline`, base),
	];
}

function describe(name: string, rounds: readonly Round[]): Figure[] {
	const cpuMicros = medianCpu(rounds);
	return [
		tell(`${name}.throughput`, medianOf(rounds, "perSecond"), "requests/s"),
		tell(`${name}.p50`, medianOf(rounds, "p50"), "ms"),
		tell(`${name}.p99`, medianOf(rounds, "p99"), "ms"),
		...(cpuMicros === null ? [] : [tell(`${name}.cpu`, cpuMicros, "µs of workerd/request")]),
	];
}

/** Both sides must answer alike: HTTP 200, JSON, and as many bytes, give or take what brand names differ by. */
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
