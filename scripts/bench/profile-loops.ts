/** Times stages of a bid in loops inside the Worker of test/bench/profile-worker.ts. */
import { median } from "./figure.ts";

const ROUNDS = 7;
/** Long enough that the HTTP request around the loop does not matter. */
const LOOP_MS = 150;
const FIRST_TIMES = 5_000;
const MAX_TIMES = 1_000_000;

/** Microseconds per run of each stage, its loop included: medians over rounds that take turns. */
export async function timeStages(
	origin: string,
	bodies: string,
	stages: readonly string[],
	say: (text: string) => void,
): Promise<Map<string, number>> {
	const times = new Map<string, number>();
	for (const stage of stages) {
		await timeLoop(origin, bodies, stage, FIRST_TIMES);
		const micros = (await timeLoop(origin, bodies, stage, FIRST_TIMES)) / FIRST_TIMES;
		times.set(stage, Math.min(MAX_TIMES, Math.max(FIRST_TIMES, Math.round((LOOP_MS * 1_000) / micros))));
	}
	const samples = new Map(stages.map((stage) => [stage, [] as number[]]));
	for (let round = 1; round <= ROUNDS; round++) {
		for (const [stage, count] of times) samples.get(stage)?.push((await timeLoop(origin, bodies, stage, count)) / count);
		say(`loops, round ${round} of ${ROUNDS}`);
	}
	return new Map([...samples].map(([stage, micros]) => [stage, median(micros)]));
}

/** How long a stage's loop takes, in microseconds, with the HTTP request around it. */
async function timeLoop(origin: string, bodies: string, stage: string, times: number): Promise<number> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}/${stage}?times=${times}`, { method: "POST", body: bodies });
	const answer = await response.text();
	if (!response.ok) throw new Error(`stage ${stage}: HTTP ${response.status} ${answer}`);
	return (performance.now() - startedAt) * 1_000;
}
