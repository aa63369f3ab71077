import { setTimeout } from "node:timers/promises";
import { buildWorker } from "../build-worker.ts";
import { brandsFor, domainOf, generateOwners } from "../catalogue/generate.ts";
import { atMost, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import { Inspector } from "../inspector.ts";
import type { Bench, Part } from "../part.ts";
import { startWorkers } from "../runtime.ts";

const MIB = 2 ** 20;
const TIMES = 10;
/** What a brand takes may grow by the depth of indexes, and no more. */
const TIME_BAR = 1.5;
/** What is live at any moment, of the 128 MB that an isolate has. */
const MEMORY_BAR_MIB = 96;
const SAMPLE_MS = 2_000;

export const importFile: Part = {
	name: "import",
	about: "one network file of 250,000 brands (a quarter of --campaigns) into an empty database, against one of a tenth",
	async run(bench) {
		const brands = brandsFor(bench.campaigns);
		const small = await importBrands(bench, brands / TIMES);
		const large = await importBrands(bench, brands);
		return [
			atMost(
				"import.file.time_ratio",
				large.seconds / brands / (small.seconds / (brands / TIMES)),
				"×, a brand, of ten times as many",
				TIME_BAR,
			),
			atMost("import.file.memory", large.peak / MIB, "MiB live in the isolate at most, after collections", MEMORY_BAR_MIB),
			tell("import.file.memory_small", small.peak / MIB, "MiB, of a tenth"),
			tell("import.file.rate", brands / large.seconds, `brands/s, one file of ${brands}, the first publish included`),
			tell("import.file.bytes", large.bytes / MIB, "MiB, the file"),
			tell("import.file.again", large.againSeconds, "s, the same file again: nothing changes"),
		];
	},
};

type Imported = { seconds: number; againSeconds: number; bytes: number; peak: number };

async function importBrands(bench: Bench, brands: number): Promise<Imported> {
	const script = await buildWorker(bench, { entry: "src/worker.ts" });
	const workers = [{ name: "all", script, state: `import-${brands}`, databases: true }];
	await using runtime = await startWorkers(bench.folder, workers, 0);
	await migrateDatabases(runtime, "all");
	const origin = await runtime.origin("all");
	const owners = generateOwners();
	await importNetwork(origin, owners);
	const file = JSON.stringify({ brands: Array.from({ length: brands }, (_, at) => brandOf(at, owners.platforms?.[0]?.id ?? "")) });
	const seconds = await time(origin, file);
	// Again, with other prices, so that everything is staged and written; and collected all the while, which takes its time.
	using inspector = await Inspector.connect(runtime, "all");
	const peak = await watchHeap(inspector, origin, importNetwork(origin, file.replaceAll('"0.4200"', '"0.4300"')));
	const againSeconds = await time(origin, file.replaceAll('"0.4200"', '"0.4300"'));
	bench.say(`imported ${brands} brands in ${seconds.toFixed(1)} s, again in ${againSeconds.toFixed(1)} s, ${Math.round(peak)} bytes live`);
	return { seconds, againSeconds, bytes: Buffer.byteLength(file), peak };
}

/** The most that the isolate holds while something runs, looked at every moment or so. */
async function watchHeap(inspector: Inspector, origin: string, running: Promise<unknown>): Promise<number> {
	let isDone = false;
	let peak = 0;
	const done = running.finally(() => {
		isDone = true;
	});
	// Whoever waits for it is told; meanwhile nobody does.
	done.catch(() => undefined);
	while (!isDone) {
		const { used, buffers } = await inspector.heap(() => fetch(`${origin}/health`).then((response) => response.arrayBuffer()));
		peak = Math.max(peak, used + buffers);
		await setTimeout(SAMPLE_MS);
	}
	await done;
	return peak;
}

async function time(origin: string, file: string): Promise<number> {
	const startedAt = performance.now();
	await importNetwork(origin, file);
	return (performance.now() - startedAt) / 1_000;
}

/** With one campaign: a file may have 95 MiB. */
function brandOf(at: number, platform: string) {
	const link = { homepage_url: `https://track.example/c?m=${at}&sub={click_id}`, epc: "0.4200" };
	return {
		domain: domainOf(at),
		name: `Brand ${at}`,
		campaigns: [{ campaign_id: at + 1, merchant_id: at, platform, country: "US", ...link }],
	};
}
