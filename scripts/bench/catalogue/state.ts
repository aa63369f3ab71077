/** Stored catalogues of a thousand campaigns and of the run's large number, a million: imported by the real routes, published as a whole by the real cron. */
import { MANIFEST_KEY } from "../../../src/campaign-book/format.ts";
import { parseHead } from "../../../src/campaign-book/packed/head.ts";
import { buildWorker } from "../build-worker.ts";
import { importNetwork, migrateDatabases, runCron } from "../import-network.ts";
import type { Bench } from "../part.ts";
import { type Runtime, startWorkers } from "../runtime.ts";
import { brandsFor, generateBrands, generateOwners } from "./generate.ts";

export type CatalogueName = "small" | "large";
const NAMES: readonly CatalogueName[] = ["small", "large"];
const SMALL_CAMPAIGNS = 1_000;

export function campaignsOf({ campaigns }: Bench, name: CatalogueName): number {
	return name === "small" ? SMALL_CAMPAIGNS : campaigns;
}

/** Brands in one file: the most that an import must take within a Worker's limits. */
export const BRANDS_PER_FILE = 20_000;
/** A publish that has not ended after so many runs of the cron never will. */
const MAX_CRON_RUNS = 60;

type Published = { seconds: number; cronRuns: number; keys: number; bytes: number; shards: number };

export type CatalogueState = {
	/** Seconds for each full file of the large catalogue. */
	importSeconds: number[];
	/** The first whole publish of the large catalogue. */
	published: Published;
};

/** Both catalogues in this run's folder, made once a run; takes minutes. */
export function prepareCatalogues(bench: Bench): Promise<CatalogueState> {
	return bench.shared("catalogues", async () => {
		bench.say(`building catalogues of ${NAMES.map((name) => campaignsOf(bench, name)).join(" and ")} campaigns`);
		await using runtime = await startCatalogueWorkers(bench);
		await fill(bench, runtime, "small");
		return await fill(bench, runtime, "large");
	});
}

/** The Worker of each catalogue: it imports, publishes and counts what it writes. */
export async function startCatalogueWorkers(bench: Bench): Promise<Runtime> {
	const script = await buildWorker(bench, { entry: "test/bench/catalogue-worker.ts" });
	return startWorkers(
		bench.folder,
		NAMES.map((name) => ({ name, script, state: name, databases: true })),
	);
}

/** What a catalogue's Worker wrote to KV since it was last asked. */
export async function takeCounts(origin: string): Promise<{ puts: number; bytesPut: number }> {
	return (await (await fetch(`${origin}/bench/counts`)).json()) as { puts: number; bytesPut: number };
}

async function fill(bench: Bench, runtime: Runtime, name: CatalogueName): Promise<CatalogueState> {
	const origin = await runtime.origin(name);
	await migrateDatabases(runtime, name);
	await importNetwork(`${origin}/unpublished`, generateOwners());
	const brands = brandsFor(campaignsOf(bench, name));
	const importSeconds: number[] = [];
	for (let from = 0; from < brands; from += BRANDS_PER_FILE) {
		const count = Math.min(BRANDS_PER_FILE, brands - from);
		const file = JSON.stringify({ brands: generateBrands(from, count) });
		const startedAt = performance.now();
		const { counts } = await importNetwork(`${origin}/unpublished`, file);
		const seconds = (performance.now() - startedAt) / 1_000;
		if (count === BRANDS_PER_FILE) importSeconds.push(seconds);
		bench.say(
			`${name}: imported ${from + count} of ${brands} brands (${counts.campaigns} campaigns, ${megabytes(file.length)} MB in ${seconds.toFixed(1)} s)`,
		);
	}
	return { importSeconds, published: await publishWhole(bench, runtime, name) };
}

async function publishWhole(bench: Bench, runtime: Runtime, name: CatalogueName): Promise<Published> {
	const origin = await runtime.origin(name);
	await takeCounts(origin);
	const published: Published = { seconds: 0, cronRuns: 0, keys: 0, bytes: 0, shards: 0 };
	for (;;) {
		const startedAt = performance.now();
		await runCron(runtime, name);
		const seconds = (performance.now() - startedAt) / 1_000;
		const { puts, bytesPut } = await takeCounts(origin);
		// The run after the last one finds nothing to do.
		if (puts === 0) break;
		published.seconds += seconds;
		published.cronRuns++;
		published.keys += puts;
		published.bytes += bytesPut;
		bench.say(`${name}: cron run ${published.cronRuns} published ${puts} keys (${megabytes(bytesPut)} MB in ${seconds.toFixed(1)} s)`);
		if (published.cronRuns > MAX_CRON_RUNS) throw new Error(`the book of ${name} is not published after ${MAX_CRON_RUNS} runs of the cron`);
	}
	const kv = await runtime.miniflare.getKVNamespace("BOOK", name);
	const manifest = parseHead(await kv.get(MANIFEST_KEY, "text"));
	if (manifest === null) throw new Error(`${name}: no manifest was published`);
	published.shards = 2 ** manifest.bits;
	return published;
}

function megabytes(bytes: number): string {
	return (bytes / 1_000_000).toFixed(1);
}
