/** A stored book of demo size, made by the real import, and the requests that bid on it. */
import { buildDemoNetwork } from "../demo/build-demo-network.ts";
import { ACME } from "../demo/well-known.ts";
import { buildWorker, EDGE } from "./build-worker.ts";
import { importNetwork, migrateDatabases } from "./import-network.ts";
import type { Target } from "./load-protocol.ts";
import type { Bench } from "./part.ts";
import { openRtbTarget, servingEngineTarget } from "./requests.ts";
import { startWorkers } from "./runtime.ts";

export const DEMO_STATE = "demo";

export type DemoRequests = {
	openrtb: Target[];
	servingEngine: Target[];
	/** Length in bytes of the answers to them, on average. */
	openrtbBytes: number;
	servingEngineBytes: number;
};

/** Imports the demo network, once a run, and finds out which of its brands bid at this hour. */
export function prepareDemo(bench: Bench): Promise<DemoRequests> {
	return bench.shared("demo state", async () => {
		const network = buildDemoNetwork();
		await using runtime = await startWorkers(bench.folder, [
			{ name: "all", script: await buildWorker(bench, { entry: "src/worker.ts" }), state: DEMO_STATE, databases: true },
			{ name: "edge", script: await buildWorker(bench, EDGE), state: DEMO_STATE },
		]);
		await migrateDatabases(runtime, "all");
		const { counts } = await importNetwork(await runtime.origin("all"), network);
		const domains = (network.brands ?? []).map(({ domain }) => domain);
		const edge = await runtime.origin("edge");
		const openrtb = await fillsOf(
			edge,
			domains.map((domain, at) => openRtbTarget(ACME.publisher_identity, domain, at)),
		);
		const servingEngine = await fillsOf(
			edge,
			domains.map((domain, at) => servingEngineTarget(ACME.publisher_id, domain, at)),
		);
		bench.say(`demo network imported: ${counts.brands} brands, ${counts.campaigns} campaigns; ${openrtb.targets.length} brands bid now`);
		return {
			openrtb: openrtb.targets,
			openrtbBytes: openrtb.bytes,
			servingEngine: servingEngine.targets,
			servingEngineBytes: servingEngine.bytes,
		};
	});
}

/** The targets that get a bid, and the mean length of the bids. */
async function fillsOf(origin: string, targets: readonly Target[]): Promise<{ targets: Target[]; bytes: number }> {
	const filled: Target[] = [];
	let bytes = 0;
	for (const target of targets) {
		const { method, path, body = null } = target;
		const response = await fetch(`${origin}${path}`, {
			method,
			body,
			...(body !== null && { headers: { "content-type": "application/json" } }),
		});
		const text = await response.text();
		if (response.status !== 200 || text === '{"status":0}') continue;
		filled.push(target);
		bytes += Buffer.byteLength(text);
	}
	if (filled.length === 0) throw new Error("no brand bids: nothing to measure");
	return { targets: filled, bytes: Math.round(bytes / filled.length) };
}
