/** A stored book of demo size, made by the real import, and the requests that bid on it. */
import { MANIFEST_KEY } from "../../src/campaign-book/format.ts";
import { LEARNED_KEY, type LearnedWire } from "../../src/campaign-book/learned.ts";
import { hashSource } from "../../src/lib/hash.ts";
import { localHour } from "../../src/lib/time.ts";
import { buildDemoNetwork } from "../demo/build-demo-network.ts";
import type { NetworkFile } from "../demo/network-file.ts";
import { ACME, ALL_HOURS } from "../demo/well-known.ts";
import { buildWorker, EDGE } from "./build-worker.ts";
import { importNetwork, migrateDatabases } from "./import-network.ts";
import type { Target } from "./load-protocol.ts";
import type { Bench } from "./part.ts";
import { openRtbTarget, servingEngineTarget } from "./requests.ts";
import { type Runtime, startWorkers } from "./runtime.ts";

export const DEMO_STATE = "demo";
/** The same network, bidding by learned prices. */
export const LEARNED_STATE = "learned";

export type DemoRequests = {
	openrtb: Target[];
	servingEngine: Target[];
	/** Length in bytes of the answers to them, on average. */
	openrtbBytes: number;
	servingEngineBytes: number;
};

/** Imports the demo network, once a run, and finds out which of its brands bid. */
export function prepareDemo(bench: Bench): Promise<DemoRequests> {
	return bench.shared("demo state", () => prepare(bench, DEMO_STATE, {}, null));
}

/** As {@link prepareDemo}, with a `book:learned` about as long as one may be: sources of every publisher, and its exceptions of campaigns. */
export function prepareLearned(bench: Bench): Promise<DemoRequests> {
	return bench.shared("learned state", () => prepare(bench, LEARNED_STATE, { epc_learning: { mode: "automatic" } }, learnedOf));
}

/** @param settings of the network @param learned what `book:learned` is to hold; null for no such key */
async function prepare(
	bench: Bench,
	state: string,
	settings: object,
	learned: ((network: NetworkFile) => LearnedWire) | null,
): Promise<DemoRequests> {
	const network = withoutHoursThatTurn(buildDemoNetwork(), Date.now());
	await using runtime = await startWorkers(bench.folder, [
		{ name: "all", script: await buildWorker(bench, { entry: "src/worker.ts" }), state, databases: true },
		{ name: "edge", script: await buildWorker(bench, EDGE), state },
	]);
	await migrateDatabases(runtime, "all");
	const { counts } = await importNetwork(await runtime.origin("all"), JSON.stringify({ ...network, ...settings }));
	if (learned !== null) await writeLearned(runtime, learned(network));
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
	bench.say(`demo network imported: ${counts.brands} brands, ${counts.campaigns} campaigns; ${openrtb.targets.length} brands bid`);
	return {
		openrtb: openrtb.targets,
		openrtbBytes: openrtb.bytes,
		servingEngine: servingEngine.targets,
		servingEngineBytes: servingEngine.bytes,
	};
}

/** Its campaigns of some hours bid at all but the one twelve hours from now: none begins or ends while it is measured. */
function withoutHoursThatTurn(network: NetworkFile, now: number): NetworkFile {
	const brands = (network.brands ?? []).map((brand) => ({
		...brand,
		campaigns: brand.campaigns?.map((campaign) => ({
			...campaign,
			allowed_hours:
				campaign.allowed_hours?.length === ALL_HOURS.length
					? campaign.allowed_hours
					: ALL_HOURS.filter((hour) => hour !== (localHour(campaign.timezone ?? "UTC", now) + 12) % 24),
		})),
	}));
	return { ...network, brands };
}

/** @throws Error where the book does not say that prices are learned: then nobody would read the key */
async function writeLearned({ miniflare }: Runtime, wire: LearnedWire): Promise<void> {
	const kv = await miniflare.getKVNamespace("BOOK", "all");
	const text = JSON.stringify(wire);
	if (text.length > MAX_LEARNED_LENGTH) throw new Error(`book:learned: ${text.length} characters`);
	await kv.put(LEARNED_KEY, text);
	const manifest = await kv.get(MANIFEST_KEY, "text");
	if (manifest?.includes('"learned":1') !== true) throw new Error("the book does not say that prices are learned");
}

const MAX_LEARNED_LENGTH = 65_536;
const SOURCES = 200;

/** Factors for every source that requests name, among others, and for a third of the campaigns. */
function learnedOf({ publishers = [], brands = [] }: NetworkFile): LearnedWire {
	const sources = Array.from({ length: SOURCES }, (_, at) => [hashSource(`search-results-top-${at}`), 0.8 + (at % 40) / 100]);
	const campaigns = brands.flatMap((brand) => brand.campaigns ?? []).filter((_, at) => at % 3 === 0);
	const exceptions = campaigns.map(({ campaign_id }, at) => [String(campaign_id), 0.9 + (at % 20) / 100]);
	const own = { f: 1.05, s: Object.fromEntries(sources), o: 0.9, c: Object.fromEntries(exceptions) };
	return { format: 1, links: { deeplink: 1.1 }, publishers: Object.fromEntries(publishers.map(({ publisher_id }) => [publisher_id, own])) };
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
