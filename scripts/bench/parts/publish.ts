import { buildWorker } from "../build-worker.ts";
import { generateBrand, generateBrands, generateOwners } from "../catalogue/generate.ts";
import { BRANDS_PER_FILE, prepareCatalogues, startCatalogueWorkers, takeCounts } from "../catalogue/state.ts";
import { atMost, median, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import type { Bench, Part } from "../part.ts";
import { startWorkers } from "../runtime.ts";

/** One or two shards, and the manifest. */
const MAX_KEYS_OF_ONE_CHANGE = 3;
const CHANGES = 5;

export const publish: Part = {
	name: "publish",
	about: "a full book of 1,000,000 campaigns, one changed campaign, and the import of 20,000 brands",
	async run(bench) {
		const wholeSeconds = await importIntoEmpty(bench);
		const { importSeconds, published } = await prepareCatalogues(bench);
		const changed = await changeCampaigns(bench);
		return [
			tell("import.20000_brands.seconds", wholeSeconds, "s, into an empty database, publish included"),
			tell("import.20000_brands.rate", BRANDS_PER_FILE / wholeSeconds, "brands/s, publish included"),
			tell("import.million.rate", BRANDS_PER_FILE / median(importSeconds), "brands/s, without the publish"),
			tell("publish.full.seconds", published.seconds, "s"),
			tell("publish.full.keys", published.keys, "KV writes"),
			tell("publish.full.bytes", published.bytes, "bytes"),
			tell("publish.full.shards", published.shards, "shards"),
			tell("publish.full.cron_runs", published.cronRuns, "runs of the cron"),
			atMost("publish.one_change.keys", Math.max(...changed.keys), "KV writes", MAX_KEYS_OF_ONE_CHANGE),
			tell("publish.one_change.bytes", median(changed.bytes), "bytes"),
			tell("publish.one_change.seconds", median(changed.seconds), "s, import and publish"),
		];
	},
};

/** What an operator sees: one file into an empty database, up to the answer. */
async function importIntoEmpty(bench: Bench): Promise<number> {
	const script = await buildWorker(bench, { entry: "src/worker.ts" });
	await using runtime = await startWorkers(bench.folder, [{ name: "all", script, state: "import", databases: true }]);
	await migrateDatabases(runtime, "all");
	const origin = await runtime.origin("all");
	const file = JSON.stringify({ ...generateOwners(), brands: generateBrands(0, BRANDS_PER_FILE) });
	const startedAt = performance.now();
	const { counts, book } = await importNetwork(origin, file);
	const seconds = (performance.now() - startedAt) / 1_000;
	bench.say(
		`imported ${counts.brands} brands with ${counts.campaigns} campaigns in ${seconds.toFixed(1)} s, ${book.shards_written} shards written`,
	);
	if (!book.complete) throw new Error("the book of one file was not published as a whole");
	return seconds;
}

/**
 * Changes one campaign of some brands of the large catalogue, one import each. The brands have an alias, so each stands in the
 * book twice.
 */
async function changeCampaigns(bench: Bench): Promise<{ keys: number[]; bytes: number[]; seconds: number[] }> {
	await using runtime = await startCatalogueWorkers(bench);
	const origin = await runtime.origin("large");
	const changed = { keys: [] as number[], bytes: [] as number[], seconds: [] as number[] };
	for (let number = 100_000; changed.keys.length < CHANGES; number++) {
		const brand = generateBrand(number);
		const [campaign] = brand.campaigns;
		const hasKeywords = brand.campaigns.some(({ keyword_epc }) => Object.keys(keyword_epc).length > 0);
		if (campaign === undefined || brand.aliases.length === 0 || hasKeywords) continue;
		campaign.epc = "0.9999";
		await takeCounts(origin);
		const startedAt = performance.now();
		const { book } = await importNetwork(origin, { brands: [brand] });
		const seconds = (performance.now() - startedAt) / 1_000;
		const { puts, bytesPut } = await takeCounts(origin);
		if (!book.complete) throw new Error("one changed campaign was not published at once");
		changed.keys.push(puts);
		changed.bytes.push(bytesPut);
		changed.seconds.push(seconds);
		bench.say(`changed a campaign of ${brand.domain}: ${puts} keys, ${bytesPut} bytes, ${seconds.toFixed(2)} s`);
	}
	return changed;
}
