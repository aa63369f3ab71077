/** A bid against the fastest answer the runtime can give to the same request. */

import { buildWorker, EDGE } from "./build-worker.ts";
import { tellCost } from "./cost.ts";
import { DEMO_STATE } from "./demo-state.ts";
import { atLeast, atMost, type Figure, tell } from "./figure.ts";
import { busyShare, cpuRatioOf, FULL_ROUNDS, medianCpu, medianOf, type Round, ratioOf, runRounds, type Side } from "./load.ts";
import type { Target } from "./load-protocol.ts";
import type { Bench } from "./part.ts";
import { startWorkers } from "./runtime.ts";

/** A server that is not kept busy is not what is measured: the slower side gains by it. */
const LEAST_BUSY = 0.95;

type Beside = { name: string; entry: string; state?: string };

export type Comparison = {
	/** Prefix of the figures. */
	name: string;
	/** Entry file of the baseline Worker; it answers with `ANSWER_BYTES` bytes. */
	baseline: string;
	/** Other Workers, compared with as well, without a bar; each with a stored book of its own, if any. */
	beside?: readonly Beside[];
	/** Names the stored book; absent for the demo's. */
	state?: string;
	targets: readonly Target[];
	/** Length of the answers; 0 for an HTTP 204 without a body. */
	answerBytes: number;
	throughputBar: number;
	p99Bar: number | null;
	/** Compares over fewer connections as well, where each wake-up of the server serves fewer requests. */
	few?: { connections: number; throughputBar: number };
};

/**
 * All Workers run in one workerd process, each with its own isolate and socket: only one is loaded at a time, so the others cost
 * nothing, and all meet the same process. workerd has one core for it, the load process the other.
 */
export async function compareWithBaseline(bench: Bench, comparison: Comparison): Promise<Figure[]> {
	const { name, baseline, beside = [], state = DEMO_STATE, targets, answerBytes, throughputBar, p99Bar, few } = comparison;
	const status = answerBytes === 0 ? 204 : 200;
	const baselines: readonly Beside[] = [{ name: "baseline", entry: baseline }, ...beside];
	const variables = { ANSWER_BYTES: String(answerBytes) };
	await using runtime = await startWorkers(bench.folder, [
		{ name: "bid", script: await buildWorker(bench, EDGE), state },
		...(await Promise.all(
			baselines.map(async ({ name, entry, state }) => ({
				name,
				script: await buildWorker(bench, { entry, environment: "edge" }),
				variables,
				...(state !== undefined && { state }),
			})),
		)),
	]);
	const names = ["bid", ...baselines.map(({ name }) => name)];
	const sides = await Promise.all(names.map(async (side) => ({ name: side, origin: await runtime.origin(side), targets })));
	await checkAnswers(sides, status, answerBytes);
	bench.say(`${targets.length} requests in turn, answers of ${answerBytes} bytes`);
	const [bid, base, ...others] = await runRounds(sides, { ...FULL_ROUNDS, status, say: bench.say });
	if (base === undefined || bid === undefined) throw new Error("a side is missing");
	if ([bid, base].some((rounds) => (busyShare(rounds) ?? 1) < LEAST_BUSY)) {
		bench.say(
			"NOTE: workerd had to wait for requests, because something else uses the machine; the ratio flatters. Repeat it on a quiet one.",
		);
	}
	const p99Ratio = ratioOf(bid, base, "p99");
	const fewFigures = few === undefined ? [] : await compareFew(bench, name, sides.slice(0, 2), few);
	return [
		atLeast(`${name}.throughput_ratio`, ratioOf(bid, base, "perSecond"), "×", throughputBar),
		p99Bar === null ? tell(`${name}.p99_ratio`, p99Ratio, "×") : atMost(`${name}.p99_ratio`, p99Ratio, "×", p99Bar),
		...tellKnown(`${name}.cpu_ratio`, cpuRatioOf(base, bid), "×, CPU time of the baseline to that of a bid"),
		...fewFigures,
		...tellCost(`${name}.bid`, medianCpu(bid), 0),
		...describe(`${name}.bid`, bid),
		...describe(`${name}.baseline`, base),
		...others.flatMap((other, at) => tellBeside(`${name}.${beside[at]?.name}`, bid, base, other)),
	];
}

function tellBeside(name: string, bid: readonly Round[], base: readonly Round[], other: readonly Round[]): Figure[] {
	return [
		tell(`${name}.throughput_ratio`, ratioOf(bid, other, "perSecond"), "×"),
		tell(`${name}.to_baseline`, ratioOf(other, base, "perSecond"), "×, throughput of it to the baseline's"),
		...tellKnown(`${name}.to_baseline_cpu`, cpuRatioOf(base, other), "×, CPU time of the baseline to its"),
		...describe(name, other),
	];
}

/** @param sides bid and baseline, which are warm */
async function compareFew(
	{ say }: Bench,
	name: string,
	sides: readonly Side[],
	{ connections, throughputBar }: { connections: number; throughputBar: number },
): Promise<Figure[]> {
	say(`over ${connections} connections`);
	const [bid, base] = await runRounds(sides, { ...FULL_ROUNDS, warmUpSeconds: 1, connections, say });
	if (base === undefined || bid === undefined) throw new Error("a side is missing");
	return [
		atLeast(`${name}.throughput_ratio_${connections}`, ratioOf(bid, base, "perSecond"), `×, ${connections} connections`, throughputBar),
		tell(`${name}.p99_ratio_${connections}`, ratioOf(bid, base, "p99"), "×"),
		tell(`${name}.bid.throughput_${connections}`, medianOf(bid, "perSecond"), "requests/s"),
		tell(`${name}.baseline.throughput_${connections}`, medianOf(base, "perSecond"), "requests/s"),
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

/** All sides must answer alike: the status, JSON, and as many bytes, give or take what brand names differ by. */
async function checkAnswers(sides: readonly Side[], status: number, answerBytes: number): Promise<void> {
	for (const { name, origin, targets } of sides) {
		const [{ method, path, body = null } = { method: "GET", path: "/" }] = targets;
		const response = await fetch(`${origin}${path}`, {
			method,
			body,
			...(body !== null && { headers: { "content-type": "application/json" } }),
		});
		const bytes = (await response.arrayBuffer()).byteLength;
		const type = response.headers.get("content-type");
		const like = response.status === status && type === (status === 204 ? null : "application/json") && Math.abs(bytes - answerBytes) < 100;
		if (!like) throw new Error(`${name} answers HTTP ${response.status}, ${type}, ${bytes} bytes instead of ${status} and ${answerBytes}`);
	}
}
