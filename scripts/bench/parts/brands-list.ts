import { Agent, request } from "node:http";
import { PUBLISHERS } from "../../demo/well-known.ts";
import { buildWorker } from "../build-worker.ts";
import { generateBrand, generateBrands, generateOwners } from "../catalogue/generate.ts";
import { atMost, type Figure, median, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import { medianOf, ratioOf, runRounds } from "../load.ts";
import type { Bench, Part } from "../part.ts";
import { watchPeakMemory } from "../peak-memory.ts";
import { startWorkers } from "../runtime.ts";

const BRANDS = 50_000;
const BRANDS_PER_FILE = 10_000;
const ROUNDS = 9;
const COLD_ROUNDS = 3;
const PATH = "/api/brands-list";
const NOT_MODIFIED_ROUNDS = { rounds: 8, seconds: 1, warmUpSeconds: 3 };
const MEGABYTE = 1_000_000;

export const brandsList: Part = {
	name: "brands-list",
	about: `the list of ${BRANDS} brands: first byte, total, memory, and a list that has not changed`,
	async run(bench) {
		await using runtime = await startWorkers(bench.folder, [
			{
				name: "origin",
				script: await buildWorker(bench, { entry: "src/origin.ts", environment: "origin" }),
				state: "lists",
				databases: true,
			},
			{ name: "ready", script: await buildWorker(bench, { entry: "test/bench/ready-answer.ts", environment: "edge" }) },
		]);
		const [origin, ready] = await Promise.all([runtime.origin("origin"), runtime.origin("ready")]);
		await migrateDatabases(runtime, "origin");
		await importBrands(bench, origin);
		return [
			...(await measureLists(bench, origin, ready, "gzip")),
			...(await measureLists(bench, origin, ready, "identity")),
			...(await measureNotModified(bench, origin, ready)),
		];
	},
};

async function importBrands(bench: Bench, origin: string): Promise<void> {
	const startedAt = performance.now();
	for (let from = 0; from < BRANDS; from += BRANDS_PER_FILE) {
		await importNetwork(origin, { ...(from === 0 && generateOwners()), brands: generateBrands(from, BRANDS_PER_FILE) });
	}
	bench.say(`${BRANDS} brands imported in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
}

type Encoding = "gzip" | "identity";

/** A list that has just changed, then the same list again and again, in turn with its very bytes from a Worker that holds them ready. */
async function measureLists(bench: Bench, origin: string, ready: string, encoding: Encoding): Promise<Figure[]> {
	const headers = { AccessKey: accessKey(), "accept-encoding": encoding };
	const cold: Fetched[] = [];
	const peak = { written: 0, sent: 0 };
	for (let round = 0; round < COLD_ROUNDS; round++) {
		await importNetwork(origin, { brands: [{ ...generateBrand(1), category: `Round ${round} ${encoding}` }] });
		const readPeak = watchPeakMemory();
		cold.push(await fetchBytes(origin, headers));
		peak.written = Math.max(peak.written, readPeak?.().growth ?? Number.NaN);
	}
	const { bytes } = cold.at(-1) ?? (await fetchBytes(origin, headers));
	await untilKept(origin, headers);
	await fetch(`${ready}/?${encoding === "gzip" ? "encoding=gzip" : ""}`, { method: "PUT", body: new Uint8Array(bytes) });
	const lists: Fetched[] = [];
	const baselines: Fetched[] = [];
	for (let round = 0; round < ROUNDS; round++) {
		const readPeak = watchPeakMemory();
		lists.push(await fetchBytes(origin, headers));
		peak.sent = Math.max(peak.sent, readPeak?.().growth ?? Number.NaN);
		baselines.push(await fetchBytes(ready, headers));
	}
	if (!lists.at(-1)?.bytes.equals(bytes) || !baselines.at(-1)?.bytes.equals(bytes)) throw new Error("the lists differ");
	const name = `brands_list.${encoding}`;
	const ratios = lists.map(({ total }, at) => total / (baselines[at]?.total ?? Number.NaN));
	bench.say(
		`${encoding}: ${bytes.length} bytes; written ${cold.map(({ total }) => total.toFixed(0)).join(", ")} ms; kept ${lists.map(({ total }) => total.toFixed(0)).join(", ")} ms; ready-made ${baselines.map(({ total }) => total.toFixed(0)).join(", ")} ms`,
	);
	const middle = (from: readonly Fetched[], measure: "first" | "total") => median(from.map((one) => one[measure]));
	return [
		tell(`${name}.bytes`, bytes.length, "bytes"),
		atMost(`${name}.ratio`, median(ratios), "×, total, to the same bytes ready-made", 3),
		tell(`${name}.first_byte`, middle(lists, "first"), "ms"),
		tell(`${name}.total`, middle(lists, "total"), "ms"),
		tell(`${name}.ready_made.total`, middle(baselines, "total"), "ms"),
		tell(`${name}.after_a_change.ratio`, middle(cold, "total") / middle(baselines, "total"), "×, the first call after a change"),
		tell(`${name}.after_a_change.first_byte`, middle(cold, "first"), "ms"),
		tell(`${name}.after_a_change.total`, middle(cold, "total"), "ms"),
		tell(`${name}.after_a_change.memory`, peak.written / MEGABYTE, "MB, growth of workerd's peak, its database included"),
		tell(`${name}.memory`, peak.sent / MEGABYTE, "MB, growth of workerd's peak"),
	];
}

async function measureNotModified(bench: Bench, origin: string, ready: string): Promise<Figure[]> {
	const headers = { AccessKey: accessKey(), "accept-encoding": "gzip" };
	const { etag } = await fetchBytes(origin, headers);
	const targets = [{ method: "GET" as const, path: PATH, headers: { ...headers, "if-none-match": etag } }];
	const sides = [
		{ name: "list", origin, targets },
		{ name: "constant", origin: ready, targets },
	];
	const [list = [], constant = []] = await runRounds(sides, { ...NOT_MODIFIED_ROUNDS, say: bench.say, status: 304 });
	return [
		atMost("brands_list.not_modified.ratio", 1 / ratioOf(list, constant, "perSecond"), "×, time of a 304 to a constant one", 2),
		tell("brands_list.not_modified.throughput", medianOf(list, "perSecond"), "requests/s"),
		tell("brands_list.not_modified.constant", medianOf(constant, "perSecond"), "requests/s"),
		tell("brands_list.not_modified.p99", medianOf(list, "p99"), "ms"),
	];
}

function accessKey(): string {
	const [publisher] = PUBLISHERS;
	if (publisher?.access_key == null) throw new Error("the generated network has no publisher with a key");
	return publisher.access_key;
}

type Fetched = { first: number; total: number; bytes: Buffer; etag: string };

const agent = new Agent({ keepAlive: true });

/** Times to the first byte of the body and to its end, in milliseconds; the bytes as they came. */
function fetchBytes(origin: string, headers: Record<string, string>): Promise<Fetched> {
	const { promise, resolve, reject } = Promise.withResolvers<Fetched>();
	const startedAt = performance.now();
	request(`${origin}${PATH}`, { headers, agent }, (response) => {
		const chunks: Buffer[] = [];
		let first = 0;
		response.on("data", (chunk: Buffer) => {
			first ||= performance.now() - startedAt;
			chunks.push(chunk);
		});
		response.on("error", reject).on("end", () => {
			const total = performance.now() - startedAt;
			if (response.statusCode !== 200)
				return reject(new Error(`HTTP ${response.statusCode} ${Buffer.concat(chunks).toString().slice(0, 200)}`));
			resolve({ first, total, bytes: Buffer.concat(chunks), etag: response.headers.etag ?? "" });
		});
	})
		.on("error", reject)
		.end();
	return promise;
}

/** The list is kept in the background, once it is whole. */
async function untilKept(origin: string, headers: Record<string, string>): Promise<void> {
	const limit = performance.now() + 20_000;
	for (let last = Number.POSITIVE_INFINITY; performance.now() < limit; ) {
		const { total } = await fetchBytes(origin, headers);
		if (total < last / 2 && last !== Number.POSITIVE_INFINITY) return;
		if (total < 200) return;
		last = total;
	}
	throw new Error("the list was never found ready");
}
