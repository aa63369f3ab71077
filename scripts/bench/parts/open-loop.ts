import { buildWorker, EDGE } from "../build-worker.ts";
import { checkRedirect, clickTargets } from "../click-targets.ts";
import { DEMO_STATE, prepareDemo } from "../demo-state.ts";
import { type Figure, quantile, tell } from "../figure.ts";
import { CONNECTIONS, LoadProcess, medianOf, runRounds, type Side } from "../load.ts";
import type { PacedResult } from "../load-protocol.ts";
import type { Bench, Part } from "../part.ts";
import { startWorkers } from "../runtime.ts";

/** Of what the service takes where every connection is kept busy. */
const RATE_SHARE = 0.3;
const SATURATION = { rounds: 4, seconds: 1.5, warmUpSeconds: 6 };
/** Long enough that each meets full collections of garbage. */
const ROUNDS = 4;
const SECONDS = 8;

export const openLoop: Part = {
	name: "open-loop",
	about: "latencies at 30 % of what saturates, counted from when each request was due: bids and redirects beside their baselines",
	async run(bench) {
		const demo = await prepareDemo(bench);
		const edge = (entry: string) => buildWorker(bench, { entry, environment: "edge" });
		await using runtime = await startWorkers(bench.folder, [
			{ name: "bid", script: await buildWorker(bench, EDGE), state: DEMO_STATE },
			{
				name: "baseline",
				script: await edge("test/bench/openrtb-baseline.ts"),
				variables: { ANSWER_BYTES: String(demo.openrtbBytes) },
			},
			{ name: "redirect", script: await edge("test/bench/redirect-worker.ts"), state: DEMO_STATE },
			{ name: "constant", script: await edge("test/bench/redirect-baseline.ts") },
		]);
		const clicks = await clickTargets(await runtime.origin("redirect"), demo.openrtb);
		await checkRedirect(await runtime.origin("redirect"), clicks);
		const sideOf = async (name: string, targets: Side["targets"]) => ({ name, origin: await runtime.origin(name), targets });
		return [
			...(await compareOpen(bench, [await sideOf("bid", demo.openrtb), await sideOf("baseline", demo.openrtb)], 200)),
			...(await compareOpen(bench, [await sideOf("redirect", clicks), await sideOf("constant", clicks)], 302)),
		];
	},
};

/** Both sides at the same rate, in turns: 30 % of what the first of them takes. */
async function compareOpen({ say }: Bench, sides: readonly [Side, Side], status: number): Promise<Figure[]> {
	const [saturated = []] = await runRounds(sides, { ...SATURATION, status, say });
	const perSecond = RATE_SHARE * medianOf(saturated, "perSecond");
	const results = sides.map((): PacedResult[] => []);
	using load = new LoadProcess();
	for (let round = 1; round <= ROUNDS; round++) {
		for (const [at, { origin, targets }] of sides.entries()) {
			results[at]?.push(await load.pace({ origin, targets, connections: CONNECTIONS, perSecond, seconds: SECONDS, status }));
		}
		say(`at ${perSecond.toFixed(0)}/s, round ${round} of ${ROUNDS}`);
	}
	return [
		tell(`open_loop.${sides[0].name}.rate`, perSecond, "requests/s, and of its baseline"),
		...sides.flatMap(({ name }, at) => describe(`open_loop.${name}`, results[at] ?? [])),
	];
}

function describe(name: string, results: readonly PacedResult[]): Figure[] {
	const latencies = sort(results.flatMap((result) => result.latencies));
	const delays = sort(results.flatMap((result) => result.delays));
	return [
		tell(`${name}.p50`, quantile(latencies, 0.5), "ms"),
		tell(`${name}.p99`, quantile(latencies, 0.99), "ms"),
		tell(`${name}.p999`, quantile(latencies, 0.999), "ms"),
		tell(`${name}.sent_late_p999`, quantile(delays, 0.999), "ms, within these: the load process's own"),
	];
}

function sort(values: readonly number[]): Float64Array {
	return Float64Array.from(values).sort();
}
