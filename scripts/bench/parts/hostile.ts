import { makeBodies } from "../../../test/bench/hostile-bodies.ts";
import { buildWorker } from "../build-worker.ts";
import { atMost, type Figure, median, tell } from "../figure.ts";
import type { Part } from "../part.ts";
import { startWorkers } from "../runtime.ts";
import { readServerCpu } from "../server-cpu.ts";

const MAX_MULTIPLE = 20;
const MAX_MILLIS = 5;
const ROUNDS = 3;
/** Long enough that the HTTP request around the loop does not matter. */
const LOOP_MICROS = 300_000;
const MAX_TIMES = 10_000;

/** Bodies of test/bench/hostile-bodies.ts. */
export const hostile: Part = {
	name: "hostile",
	about: "what the worst body of each kind costs, as a multiple of a plain bid",
	async run({ folder, say, ...bench }) {
		const script = await buildWorker({ folder, say, ...bench }, { entry: "test/bench/hostile-worker.ts", environment: "edge" });
		await using runtime = await startWorkers(folder, [{ name: "hostile", script }]);
		const origin = await runtime.origin("hostile");
		const bodies = await makeBodies();
		const times = new Map<string, number>();
		for (const [kind, body] of bodies) {
			await timeLoop(origin, body, 50);
			const micros = Math.max(10, (await timeLoop(origin, body, 50)) / 50);
			times.set(kind, Math.min(MAX_TIMES, Math.max(50, Math.round(LOOP_MICROS / micros))));
		}
		const samples = new Map([...bodies.keys()].map((kind) => [kind, [] as number[]]));
		for (let round = 1; round <= ROUNDS; round++) {
			for (const [kind, body] of bodies) {
				const count = times.get(kind) ?? 1;
				samples.get(kind)?.push((await timeLoop(origin, body, count)) / count);
			}
			say(`round ${round} of ${ROUNDS}`);
		}
		const micros = new Map([...samples].map(([kind, of]) => [kind, median(of)]));
		return writeFigures(micros);
	},
};

function writeFigures(micros: ReadonlyMap<string, number>): Figure[] {
	const { plain = Number.NaN, ...worst } = Object.fromEntries(micros);
	const multiples = Object.entries(worst).map(([kind, of]) => atMost(`hostile.${kind}`, of / plain, "× a plain bid", MAX_MULTIPLE));
	const dearest = Math.max(...Object.values(worst)) / 1_000;
	return [tell("hostile.plain", plain, "µs"), ...multiples, atMost("hostile.dearest", dearest, "ms", MAX_MILLIS)];
}

/** CPU of so many answers to a body, in microseconds, with the HTTP request around them; where the system does not tell it, the time. */
async function timeLoop(origin: string, body: Uint8Array<ArrayBuffer>, times: number): Promise<number> {
	const cpu = readServerCpu();
	const now = () => (cpu === null ? performance.now() * 1_000 : cpu() * 1_000_000);
	const startedAt = now();
	const response = await fetch(`${origin}/?times=${times}`, { method: "POST", body });
	const answer = await response.text();
	if (!response.ok) throw new Error(`HTTP ${response.status} ${answer}`);
	return now() - startedAt;
}
