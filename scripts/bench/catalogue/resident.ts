/** Bid cost over a small and a large catalogue, where every shard that is asked for is in memory. */
import { Random } from "../../demo/random.ts";
import { FULL_ROUNDS, type Round, runRounds } from "../load.ts";
import type { Target } from "../load-protocol.ts";
import type { Bench } from "../part.ts";
import { bidTarget, readStats, startCountedEdges, warmUp } from "./edge.ts";
import { brandsFor } from "./generate.ts";
import { type CatalogueName, campaignsOf } from "./state.ts";
import { Zipf } from "./zipf.ts";

const SEED = 77;
/** Few enough that their shards fit into an isolate's cache, and that the small catalogue has as many. */
const DISTINCT_BRANDS = 200;
const REQUESTS = 1_000;

/**
 * Both sides get the same sequence of requests but for the brands' names: the n-th different brand of one stands where the n-th
 * of the other does. The warm-up loads their shards; that none is loaded later is checked.
 */
export async function compareResident(bench: Bench): Promise<{ small: Round[]; large: Round[] }> {
	await using runtime = await startCountedEdges(bench, ["small", "large"]);
	const order = drawOrder(bench);
	const sides = await Promise.all(
		(["small", "large"] as const).map(async (name) => ({
			name,
			origin: await runtime.origin(name),
			targets: targetsOf(bench, name, order),
		})),
	);
	// Every brand once, so that the warm-up need not come round to all of them.
	for (const { origin, targets } of sides) {
		await warmUp(bench, origin);
		await askOnce(origin, targets);
	}
	const before = await Promise.all(sides.map(({ origin }) => readStats(origin)));
	const [small, large] = await runRounds(sides, { ...FULL_ROUNDS, say: bench.say });
	const after = await Promise.all(sides.map(({ origin }) => readStats(origin)));
	const waits = after.map((stats, at) => stats.waits - (before[at]?.waits ?? 0));
	bench.say(`resident shards: ${after.map(({ shards }) => shards).join(" and ")}; lookups that waited meanwhile: ${waits.join(" and ")}`);
	if (waits.some((count) => count > 0)) throw new Error("shards did not stay resident: the comparison is void");
	if (small === undefined || large === undefined) throw new Error("a side is missing");
	return { small, large };
}

/** For each request the place of its brand in the order in which the large catalogue's brands first came up. */
function drawOrder(bench: Bench): number[] {
	const zipf = new Zipf(new Random(SEED), brandsFor(campaignsOf(bench, "large")));
	const places = new Map<number, number>();
	const order: number[] = [];
	while (order.length < REQUESTS) {
		const rank = zipf.next();
		if (!places.has(rank) && places.size < DISTINCT_BRANDS) places.set(rank, places.size);
		const place = places.get(rank);
		if (place !== undefined) order.push(place);
	}
	return order;
}

function targetsOf(bench: Bench, name: CatalogueName, order: readonly number[]): Target[] {
	const brands = new Zipf(new Random(SEED), brandsFor(campaignsOf(bench, name))).distinct(DISTINCT_BRANDS);
	return order.map((place, at) => bidTarget(brands[place] ?? 0, at));
}

async function askOnce(origin: string, targets: readonly Target[]): Promise<void> {
	for (const { path, body = null } of targets) {
		const response = await fetch(`${origin}${path}`, { method: "POST", body, headers: { "content-type": "application/json" } });
		await response.arrayBuffer();
	}
}
