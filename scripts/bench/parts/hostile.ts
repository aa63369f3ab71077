import { makeBodies, OPTIONS_PREFIX } from "../../../test/bench/hostile-bodies.ts";
import { type HostileQuery, makeQueries } from "../../../test/bench/hostile-queries.ts";
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

/** What is sent again and again, and the path of the bench's Worker that takes it. */
type Sent = { path: string; body: Uint8Array<ArrayBuffer> | string };

/** Bodies of test/bench/hostile-bodies.ts, and queries of test/bench/hostile-queries.ts. */
export const hostile: Part = {
	name: "hostile",
	about: "what the worst request of each kind costs, as a multiple of a plain one: bids, queries and clicks",
	async run({ folder, say, ...bench }) {
		const script = await buildWorker({ folder, say, ...bench }, { entry: "test/bench/hostile-worker.ts", environment: "edge" });
		await using runtime = await startWorkers(folder, [{ name: "hostile", script }]);
		const origin = await runtime.origin("hostile");
		const bodies = new Map([...(await makeBodies())].map(([kind, body]): [string, Sent] => [kind, { path: pathOf(kind), body }]));
		const { serving_engine, click } = makeQueries(await findClickSearch(origin));
		return [
			...(await measure(origin, { name: "hostile", plain: "a plain bid" }, bodies, say)),
			...(await measure(origin, { name: "hostile.serving_engine", plain: "a plain query" }, asSent(serving_engine), say)),
			...(await measure(origin, { name: "hostile.click", plain: "a plain click" }, asSent(click), say)),
		];
	},
};

function pathOf(kind: string): string {
	return kind.startsWith(OPTIONS_PREFIX) ? "/?publisher=full_rtb" : "/";
}

function asSent(queries: ReadonlyMap<string, HostileQuery>): Map<string, Sent> {
	return new Map([...queries].map(([kind, query]) => [kind, { path: "/query", body: JSON.stringify(query) }]));
}

/** The query of the click URL that a plain bid is answered with. @throws Error where there is no bid */
async function findClickSearch(origin: string): Promise<string> {
	const [query] = makeQueries("").serving_engine.values();
	const { leads } = await ask(origin, { path: "/query", body: JSON.stringify(query) }, 1);
	const { redirect_url } = JSON.parse(leads) as { redirect_url?: string };
	if (redirect_url === undefined) throw new Error(`a plain query is answered with ${leads}`);
	const search = new URL(redirect_url).search.slice(1);
	const [, click] = [...makeQueries(search).click][0] ?? [];
	const { status } = await ask(origin, { path: "/query", body: JSON.stringify(click) }, 1);
	if (status !== 302) throw new Error(`a plain click is answered with HTTP ${status}`);
	return search;
}

async function measure(
	origin: string,
	{ name, plain }: { name: string; plain: string },
	kinds: ReadonlyMap<string, Sent>,
	say: (line: string) => void,
): Promise<Figure[]> {
	const times = new Map<string, number>();
	for (const [kind, sent] of kinds) {
		await timeLoop(origin, sent, 50);
		const micros = Math.max(10, (await timeLoop(origin, sent, 50)) / 50);
		times.set(kind, Math.min(MAX_TIMES, Math.max(50, Math.round(LOOP_MICROS / micros))));
	}
	const samples = new Map([...kinds.keys()].map((kind) => [kind, [] as number[]]));
	for (let round = 1; round <= ROUNDS; round++) {
		for (const [kind, sent] of kinds) {
			const count = times.get(kind) ?? 1;
			samples.get(kind)?.push((await timeLoop(origin, sent, count)) / count);
		}
		say(`${name}: round ${round} of ${ROUNDS}`);
	}
	const { plain: usual = Number.NaN, ...worst } = Object.fromEntries([...samples].map(([kind, of]) => [kind, median(of)]));
	const multiples = Object.entries(worst).map(([kind, of]) => atMost(`${name}.${kind}`, of / usual, `× ${plain}`, MAX_MULTIPLE));
	const costliest = Math.max(...Object.values(worst)) / 1_000;
	return [tell(`${name}.plain`, usual, "µs"), ...multiples, atMost(`${name}.dearest`, costliest, "ms", MAX_MILLIS)];
}

/** CPU of this many answers to a request, in microseconds, with the HTTP request around them; where the system does not tell it, the time. */
async function timeLoop(origin: string, sent: Sent, times: number): Promise<number> {
	const cpu = readServerCpu();
	const now = () => (cpu === null ? performance.now() * 1_000 : cpu() * 1_000_000);
	const startedAt = now();
	await ask(origin, sent, times);
	return now() - startedAt;
}

async function ask(origin: string, { path, body }: Sent, times: number): Promise<{ status: number; leads: string }> {
	const response = await fetch(`${origin}${path}${path.includes("?") ? "&" : "?"}times=${times}`, { method: "POST", body });
	const answer = await response.text();
	if (!response.ok) throw new Error(`HTTP ${response.status} ${answer}`);
	return JSON.parse(answer) as { status: number; leads: string };
}
