import { buildWorker } from "../build-worker.ts";
import { DEMO_STATE, prepareDemo } from "../demo-state.ts";
import { type Figure, median, tell } from "../figure.ts";
import type { Part } from "../part.ts";
import { startWorkers } from "../runtime.ts";

const ROUNDS = 7;
/** Long enough that the HTTP request around the loop does not matter. */
const LOOP_MS = 150;
const FIRST_TIMES = 5_000;

/** Stages of the Worker in test/bench/profile-worker.ts: what is measured, and the loop it stands on, which is subtracted. */
const STAGES = [
	["read_body", "new_request"],
	["parse_json", "empty"],
	["read_request", "empty"],
	["lookup", "empty"],
	["decide", "empty"],
	["token", "empty"],
	["write", "empty"],
] as const;
/** Larger pieces, which hold several stages, and what the baseline does instead of the first two. */
const WHOLES = [
	["runtime_json", "new_request"],
	["hold_auction", "empty"],
	["click_url", "empty"],
	["handler", "new_request"],
	["worker", "new_request"],
] as const;

export const openrtbProfile: Part = {
	name: "openrtb-profile",
	about: "where the time of an OpenRTB bid goes, by stage",
	async run(bench) {
		const { openrtb } = await prepareDemo(bench);
		const bodies = JSON.stringify(openrtb.map(({ body }) => body));
		const script = await buildWorker(bench, { entry: "test/bench/profile-worker.ts", environment: "edge" });
		await using runtime = await startWorkers(bench.folder, [{ name: "profile", script, state: DEMO_STATE }]);
		const origin = await runtime.origin("profile");
		const run = (stage: string, times: number) => timeLoop(origin, bodies, stage, times);

		const names = [...new Set([...STAGES, ...WHOLES].flat())];
		const times = new Map<string, number>();
		for (const stage of names) {
			await run(stage, FIRST_TIMES);
			const micros = (await run(stage, FIRST_TIMES)) / FIRST_TIMES;
			times.set(stage, Math.min(1_000_000, Math.max(FIRST_TIMES, Math.round((LOOP_MS * 1_000) / micros))));
		}
		const samples = new Map(names.map((stage) => [stage, [] as number[]]));
		for (let round = 1; round <= ROUNDS; round++) {
			for (const stage of names) {
				const count = times.get(stage) ?? FIRST_TIMES;
				samples.get(stage)?.push((await run(stage, count)) / count);
			}
			bench.say(`round ${round} of ${ROUNDS}`);
		}
		const medians = new Map([...samples].map(([stage, micros]) => [stage, median(micros)]));
		return [...STAGES, ...WHOLES].map(([stage, beneath]): Figure => {
			const micros = (medians.get(stage) ?? Number.NaN) - (medians.get(beneath) ?? Number.NaN);
			return tell(`openrtb_profile.${stage}`, Math.max(0, micros), "µs");
		});
	},
};

/** How long a stage's loop takes, in microseconds, with the HTTP request around it. */
async function timeLoop(origin: string, bodies: string, stage: string, times: number): Promise<number> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}/${stage}?times=${times}`, { method: "POST", body: bodies });
	const answer = await response.text();
	if (!response.ok) throw new Error(`stage ${stage}: HTTP ${response.status} ${answer}`);
	return (performance.now() - startedAt) * 1_000;
}
