import { buildWorker } from "../build-worker.ts";
import { DEMO_STATE, type DemoRequests, prepareDemo } from "../demo-state.ts";
import { type Figure, tell } from "../figure.ts";
import { medianCpu, medianOf, runRounds } from "../load.ts";
import type { Bench, Part } from "../part.ts";
import { timeStages } from "../profile-loops.ts";
import { startWorkers } from "../runtime.ts";

/** Stages of test/bench/profile-worker.ts: what is timed, and what else its loop does, which is subtracted. */
const STAGES = [
	["read_body", "new_request"],
	["parse_json", "empty"],
	["read_request", "empty"],
	["lookup", "empty"],
	["decide", "empty"],
	["token", "empty"],
	["write", "empty"],
	// What holds several stages, and what the baseline does instead of the first two.
	["hold_auction", "empty"],
	["click_url", "empty"],
	["handler", "new_request"],
	["worker", "new_request"],
	["runtime_json", "new_request"],
] as const;

/** Rungs of test/bench/ladder-worker.ts, lowest first. */
const RUNGS = ["none", "read_body", "parse_json", "read_request", "hold_auction", "click_url", "write"] as const;
const LADDER_ROUNDS = { rounds: 8, seconds: 0.8, warmUpSeconds: 1.5 };

export const openrtbProfile: Part = {
	name: "openrtb-profile",
	about: "where the time of an OpenRTB bid goes, by stage",
	async run(bench) {
		const demo = await prepareDemo(bench);
		return [...(await profileLoops(bench, demo)), ...(await profileRequests(bench, demo))];
	},
};

/** Each stage by itself, many times in a row: its cost with everything it needs in the processor's caches. */
async function profileLoops(bench: Bench, { openrtb }: DemoRequests): Promise<Figure[]> {
	const script = await buildWorker(bench, { entry: "test/bench/profile-worker.ts", environment: "edge" });
	await using runtime = await startWorkers(bench.folder, [{ name: "profile", script, state: DEMO_STATE }]);
	const bodies = JSON.stringify(openrtb.map(({ body }) => body));
	const micros = await timeStages(await runtime.origin("profile"), bodies, [...new Set(STAGES.flat())], bench.say);
	const of = (stage: string) => micros.get(stage) ?? Number.NaN;
	return STAGES.map(([stage, beneath]) => tell(`openrtb_profile.${stage}`, Math.max(0, of(stage) - of(beneath)), "µs"));
}

/** What each stage adds to a real request: the difference between two rungs. */
async function profileRequests(bench: Bench, { openrtb, openrtbBytes }: DemoRequests): Promise<Figure[]> {
	const script = await buildWorker(bench, { entry: "test/bench/ladder-worker.ts", environment: "edge" });
	const variables = { ANSWER_BYTES: String(openrtbBytes) };
	await using runtime = await startWorkers(bench.folder, [{ name: "ladder", script, state: DEMO_STATE, variables }]);
	const origin = await runtime.origin("ladder");
	const sides = RUNGS.map((name) => ({ name, origin, targets: openrtb.map((target) => ({ ...target, path: `/${name}` })) }));
	const say = (text: string) => bench.say(`requests, ${text}`);
	const costs = (await runRounds(sides, { ...LADDER_ROUNDS, say })).map(
		(rounds) => medianCpu(rounds) ?? 1_000_000 / medianOf(rounds, "perSecond"),
	);
	return RUNGS.map((rung, at) =>
		tell(`openrtb_profile.request.${rung}`, (costs[at] ?? Number.NaN) - (costs[at - 1] ?? 0), "µs of workerd/request"),
	);
}
