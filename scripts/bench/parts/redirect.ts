import { buildWorker, EDGE } from "../build-worker.ts";
import { checkRedirect, clickTargets } from "../click-targets.ts";
import { DEMO_STATE, prepareDemo } from "../demo-state.ts";
import { atLeast, type Figure, tell } from "../figure.ts";
import { busyShare, medianCpu, medianOf, type Round, ratioOf, runRounds } from "../load.ts";
import type { Part } from "../part.ts";
import { startWorkers } from "../runtime.ts";

const ROUNDS = { rounds: 30, seconds: 1, warmUpSeconds: 6, status: 302 };

export const redirect: Part = {
	name: "redirect",
	about: "a click's redirect, recorded, against a Worker that answers a constant 302, with a floor that opens a token",
	async run(bench) {
		const demo = await prepareDemo(bench);
		const baseline = await buildWorker(bench, { entry: "test/bench/redirect-baseline.ts", environment: "edge" });
		await using runtime = await startWorkers(bench.folder, [
			{
				name: "redirect",
				script: await buildWorker(bench, { entry: "test/bench/redirect-worker.ts", environment: "edge" }),
				state: DEMO_STATE,
			},
			{ name: "constant", script: baseline },
			{ name: "floor", script: await buildWorker(bench, { entry: "test/bench/redirect-floor.ts", environment: "edge" }) },
			{ name: "queued", script: await buildWorker(bench, EDGE), state: DEMO_STATE, queues: true },
			{ name: "queued_constant", script: baseline, queues: true },
		]);
		const origin = await runtime.origin("redirect");
		const targets = await clickTargets(origin, demo.openrtb);
		await checkRedirect(origin, targets);
		const sideOf = async (name: string) => ({ name, origin: await runtime.origin(name), targets });
		bench.say(`${targets.length} click URLs in turn`);
		const sides = await Promise.all(["redirect", "constant", "floor"].map(sideOf));
		const [click, constant, floor] = await runRounds(sides, { ...ROUNDS, say: bench.say });
		const queued = await runRounds(await Promise.all([sideOf("queued"), sideOf("queued_constant")]), {
			...ROUNDS,
			rounds: 6,
			say: bench.say,
		});
		const [queuedClick, queuedConstant] = queued;
		if (click === undefined || constant === undefined || floor === undefined || queuedClick === undefined || queuedConstant === undefined) {
			throw new Error("a side is missing");
		}
		return [
			atLeast("redirect.throughput_ratio", ratioOf(click, constant, "perSecond"), "×", 0.75),
			...describe("redirect", click),
			...describe("redirect.constant", constant),
			tell("redirect.floor.throughput_ratio", ratioOf(click, floor, "perSecond"), "×"),
			tell("redirect.floor.to_constant", ratioOf(floor, constant, "perSecond"), "×, throughput of it to the constant's"),
			...describe("redirect.floor", floor),
			tell("redirect.queued.throughput_ratio", ratioOf(queuedClick, queuedConstant, "perSecond"), "×, both send to the simulated queue"),
			...describe("redirect.queued", queuedClick),
		];
	},
};

function describe(name: string, rounds: readonly Round[]): Figure[] {
	const cpu = medianCpu(rounds);
	const busy = busyShare(rounds);
	return [
		tell(`${name}.throughput`, medianOf(rounds, "perSecond"), "requests/s"),
		tell(`${name}.p50`, medianOf(rounds, "p50"), "ms"),
		tell(`${name}.p99`, medianOf(rounds, "p99"), "ms"),
		...(cpu === null ? [] : [tell(`${name}.cpu`, cpu, "µs of workerd/request")]),
		...(busy === null ? [] : [tell(`${name}.busy`, busy, "of a core")]),
	];
}
