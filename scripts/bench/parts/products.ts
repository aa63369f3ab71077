/** Product feeds and searches, against node:sqlite with the same tables, index and statements. */
import { rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { buildDemoNetwork } from "../../demo/build-demo-network.ts";
import { ACME } from "../../demo/well-known.ts";
import { buildWorker } from "../build-worker.ts";
import { atLeast, atMost, type Figure, median, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import type { Bench, Part } from "../part.ts";
import { type BenchProduct, ProductGenerator } from "../products/generate.ts";
import { ReferenceImport, ReferenceSearch } from "../products/reference.ts";
import { OPERATOR_KEY, startWorkers } from "../runtime.ts";

const PRODUCTS = 1_000_000;
/** Products of a part, as the command line sends them. */
const PART = 20_000;
const SEARCHES = 600;
const WARM_UP = 100;
const IMPORT_BAR = 0.5;
const SEARCH_BAR = 2;

export const products: Part = {
	name: "products",
	about: "1,000,000 products: the import of a feed, and searches, against node:sqlite on the same tables and index",
	async run(bench) {
		// Of its own, for the reference searches the file in it that holds products.
		const folder = join(bench.folder, "products");
		const { miniflare, ...runtime } = await startWorkers(folder, [
			{ name: "products", script: await buildWorker(bench, { entry: "src/worker.ts" }), state: "products", databases: true },
		]);
		try {
			await migrateDatabases({ miniflare, ...runtime }, "products");
			const origin = await runtime.origin("products");
			const network = buildDemoNetwork();
			await importNetwork(origin, { ...network, products: [], seller_products: [] });
			const domains = (network.brands ?? [])
				.filter(({ active, campaigns }) => active !== false && campaigns.length > 0)
				.map(({ domain }) => domain);
			const generator = new ProductGenerator(domains);
			const { figures, sample } = await compareImports(bench, origin, generator);
			return [...figures, ...(await compareSearches(bench, origin, folder, generator.searches(sample, SEARCHES + WARM_UP)))];
		} finally {
			await miniflare.dispose();
		}
	},
};

/** Part by part in turn, so that what else the machine does falls on both alike. */
async function compareImports(
	bench: Bench,
	origin: string,
	generator: ProductGenerator,
): Promise<{ figures: Figure[]; sample: BenchProduct[] }> {
	const file = join(bench.folder, "reference.sqlite");
	const reference = new ReferenceImport(file);
	const seconds = { worker: [] as number[], reference: [] as number[] };
	const sample: BenchProduct[] = [];
	for (let from = 0; from < PRODUCTS; from += PART) {
		const made = generator.make(Math.min(PART, PRODUCTS - from));
		sample.push(...made.slice(0, 100));
		const feed = made.map((product) => `${JSON.stringify(product)}\n`).join("");
		seconds.worker.push(await timed(() => sendFeed(origin, feed, made.length)));
		seconds.reference.push(await timed(() => reference.insert(made)));
		if (from % (10 * PART) === 0) bench.say(`${from + made.length} of ${PRODUCTS} products imported`);
	}
	reference.close();
	for (const end of ["", "-wal", "-shm"]) rmSync(file + end, { force: true });
	const total = (of: readonly number[]) => of.reduce((sum, value) => sum + value, 0);
	return {
		figures: [
			atLeast(
				"products.import.rate_ratio",
				total(seconds.reference) / total(seconds.worker),
				"×, to a bulk insert in node:sqlite",
				IMPORT_BAR,
			),
			tell("products.import.rate", PRODUCTS / total(seconds.worker), "products/s"),
			tell("products.import.reference_rate", PRODUCTS / total(seconds.reference), "products/s"),
			tell("products.import.slowest_part", Math.max(...seconds.worker), `s for ${PART} products`),
		],
		sample,
	};
}

async function sendFeed(origin: string, feed: string, count: number): Promise<void> {
	const response = await fetch(`${origin}/operator/products`, { method: "POST", headers: { OperatorKey: OPERATOR_KEY }, body: feed });
	const text = await response.text();
	if (!response.ok || (JSON.parse(text) as { accepted: number }).accepted !== count) {
		throw new Error(`products: HTTP ${response.status} ${text.slice(0, 500)}`);
	}
}

async function compareSearches(bench: Bench, origin: string, folder: string, keywords: readonly string[]): Promise<Figure[]> {
	bench.say(`${SEARCHES} searches, such as ${keywords.slice(0, 5).join(" / ")}`);
	const reference = new ReferenceSearch(join(folder, "state"));
	const agent = new Agent({ keepAlive: true });
	const times = { worker: [] as number[], reference: [] as number[] };
	let found = 0;
	for (const [at, keyword] of keywords.entries()) {
		// In turn, each as often first: the second one finds the pages of the file in the system's memory.
		const order = at % 2 === 0 ? (["worker", "reference"] as const) : (["reference", "worker"] as const);
		const milliseconds = { worker: 0, reference: 0 };
		let matches = 0;
		for (const side of order) {
			const run = async () => (side === "worker" ? search(agent, origin, keyword) : reference.search(keyword));
			const startedAt = performance.now();
			matches = (await run()) ?? matches;
			milliseconds[side] = performance.now() - startedAt;
		}
		if (at < WARM_UP) continue;
		times.worker.push(milliseconds.worker);
		times.reference.push(milliseconds.reference);
		if (matches > 0) found++;
	}
	agent.destroy();
	reference.close();
	if (found < SEARCHES)
		throw new Error(`only ${found} of ${SEARCHES} searches for words of products find something: the reference reads another file`);
	const ratios = {
		p50: percentile(times.worker, 50) / percentile(times.reference, 50),
		p99: percentile(times.worker, 99) / percentile(times.reference, 99),
	};
	return [
		atMost("products.search.p50_ratio", ratios.p50, "×, to the same query in node:sqlite on the same file", SEARCH_BAR),
		tell("products.search.p99_ratio", ratios.p99, "×"),
		tell("products.search.p50", median(times.worker), "ms"),
		tell("products.search.p99", percentile(times.worker, 99), "ms"),
		tell("products.search.reference_p50", median(times.reference), "ms"),
		tell("products.search.reference_p99", percentile(times.reference, 99), "ms"),
	];
}

async function search(agent: Agent, origin: string, keyword: string): Promise<null> {
	const { promise, resolve, reject } = Promise.withResolvers<null>();
	const url = `${origin}/api/products/search?${new URLSearchParams({ keyword })}`;
	const sent = request(url, { agent, headers: { PublisherKey: ACME.publisher_key ?? "" } }, (response) => {
		readText(response).then((body) => {
			if (response.statusCode === 200) resolve(null);
			else reject(new Error(`search: HTTP ${response.statusCode} ${body.slice(0, 300)}`));
		}, reject);
	});
	sent.on("error", reject).end();
	return promise;
}

async function timed(run: () => unknown): Promise<number> {
	const startedAt = performance.now();
	await run();
	return (performance.now() - startedAt) / 1_000;
}

function percentile(values: readonly number[], percent: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	return percent === 50 ? median(values) : (sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN);
}
