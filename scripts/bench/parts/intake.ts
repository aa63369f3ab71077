import { buildWorker } from "../build-worker.ts";
import { atLeast, type Figure, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import { busyShare, FULL_ROUNDS, medianCpu, medianOf, type Round, ratioOf, runRounds } from "../load.ts";
import type { Target } from "../load-protocol.ts";
import type { Part } from "../part.ts";
import { platformHeaders } from "../requests.ts";
import { startWorkers } from "../runtime.ts";

const KEY = "benchmark-platform-key";
const REQUESTS = 1_000;
const THROUGHPUT_BAR = 0.4;

/**
 * The bar's queue says "I have it" a turn of the event loop later, and costs nothing: in production it is another machine's work. What
 * both sides reach with the simulated queue, which runs in the same process, is told as well.
 */
export const intake: Part = {
	name: "intake",
	about: "a postback taken in, up to the queue's receipt, against a Worker that answers the same constant",
	async run(bench) {
		const baseline = await buildWorker(bench, { entry: "test/bench/postback-baseline.ts", environment: "edge" });
		const ours = { state: "intake", databases: true };
		await using runtime = await startWorkers(bench.folder, [
			{ name: "intake", script: await buildWorker(bench, { entry: "test/bench/intake-worker.ts", environment: "origin" }), ...ours },
			{ name: "baseline", script: baseline },
			{ name: "queued", script: await buildWorker(bench, { entry: "src/origin.ts", environment: "origin" }), ...ours },
			{ name: "queued_baseline", script: baseline, queues: true },
		]);
		await migrateDatabases(runtime, "intake");
		const origin = await runtime.origin("intake");
		await importNetwork(origin, JSON.stringify({ platforms: [{ id: "bench", name: "Bench", access_key: KEY, currency: "USD" }] }));
		const targets = Array.from({ length: REQUESTS }, (_, at) => target(at));
		const sideOf = async (name: string) => ({ name, origin: await runtime.origin(name), targets });
		const sides = await Promise.all([sideOf("intake"), sideOf("baseline")]);
		const queuedSides = await Promise.all([sideOf("queued"), sideOf("queued_baseline")]);
		for (const side of [...sides, ...queuedSides]) await checkAnswer(side.origin, targets);
		const [taken, base] = await runRounds(sides, { ...FULL_ROUNDS, say: bench.say });
		const [queued, queuedBase] = await runRounds(queuedSides, { ...FULL_ROUNDS, rounds: 6, say: bench.say });
		if (taken === undefined || base === undefined || queued === undefined || queuedBase === undefined) {
			throw new Error("a side is missing");
		}
		return [
			atLeast("intake.throughput_ratio", ratioOf(taken, base, "perSecond"), "×", THROUGHPUT_BAR),
			...describe("intake.postback", taken),
			...describe("intake.baseline", base),
			tell("intake.queued.throughput_ratio", ratioOf(queued, queuedBase, "perSecond"), "×, both send to the simulated queue"),
			...describe("intake.queued", queued),
		];
	},
};

function describe(name: string, rounds: readonly Round[]): Figure[] {
	const busy = busyShare(rounds);
	const cpu = medianCpu(rounds);
	return [
		tell(`${name}.throughput`, medianOf(rounds, "perSecond"), "requests/s"),
		tell(`${name}.p50`, medianOf(rounds, "p50"), "ms"),
		tell(`${name}.p99`, medianOf(rounds, "p99"), "ms"),
		...(busy === null ? [] : [tell(`${name}.busy`, busy, "of a core")]),
		...(cpu === null ? [] : [tell(`${name}.cpu`, cpu, "µs of workerd/request")]),
	];
}

function target(at: number): Target {
	const query = new URLSearchParams({
		txnid: `order-${1_000_000 + at}`,
		cid: (0x9e3779b9 * (at + 1)).toString(16).padStart(32, "7").slice(-32),
		edate: "2026-11-10T12:34:56Z",
		payout: `${(at % 90) + 1}.25`,
		sales: `${(at % 900) + 10}.00`,
		currency: "USD",
		status: at % 3 === 0 ? "pending" : "approved",
		s2: `placement-${at % 40}`,
		surl: `https://shop.example/thank-you?order=${at}`,
	});
	return { method: "GET", path: `/api/postback/${KEY}?${query}`, headers: platformHeaders(at) };
}

async function checkAnswer(origin: string, targets: readonly Target[]): Promise<void> {
	const response = await fetch(`${origin}${targets[0]?.path}`);
	const text = await response.text();
	if (text !== JSON.stringify({ message: "Postback received successfully" }))
		throw new Error(`${origin} answers ${response.status} ${text.slice(0, 200)}`);
}
