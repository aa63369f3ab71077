import { buildWorker } from "../build-worker.ts";
import { generateOwners } from "../catalogue/generate.ts";
import { namePublishers } from "../clicks/network.ts";
import { type Figure, tell } from "../figure.ts";
import { importNetwork, migrateDatabases } from "../import-network.ts";
import type { Part } from "../part.ts";
import { type Runtime, startWorkers } from "../runtime.ts";

const CAMPAIGNS = 2_000;
/** Stored before anything is counted, so that counters exist and indexes have their depth. */
const WARM_UP = 20_000;
/** Of each kind. */
const COUNTED = 20_000;
/** One in a hundred clicks. */
const CONVERSIONS = COUNTED / 100;
/** What a run of the cron removes at most. */
const REMOVED = 20_000;

/** What a call of test/bench/ledger-worker.ts came to. */
type Cost = { rowsRead: number; rowsWritten: number; bytes: number; callbacks: number; messageBytes: number };

export const ledger: Part = {
	name: "ledger",
	about: "what a click, a conversion and a callback cost the network database: rows read and written as D1 bills them, and bytes",
	async run(bench) {
		await using runtime = await startWorkers(bench.folder, [
			{ name: "all", script: await buildWorker(bench, { entry: "src/worker.ts" }), state: "ledger", databases: true },
			{ name: "ledger", script: await buildWorker(bench, { entry: "test/bench/ledger-worker.ts" }), state: "ledger", databases: true },
		]);
		await prepareNetwork(runtime);
		const origin = await runtime.origin("ledger");
		const call = async (path: string) => {
			const response = await fetch(`${origin}${path}`, { method: "POST" });
			if (!response.ok) throw new Error(`${path} answers HTTP ${response.status} ${(await response.text()).slice(0, 300)}`);
			const cost = (await response.json()) as Cost;
			bench.say(`${path}: ${JSON.stringify(cost)}`);
			return cost;
		};
		const range = (first: number, count: number, size: number) => `first=${first}&count=${count}&size=${size}&campaigns=${CAMPAIGNS}`;
		const before = await call(`/clicks?${range(0, WARM_UP, 100)}`);
		const unknown = await call(`/clicks?${range(WARM_UP, COUNTED, 100)}`);
		const whole = await call(`/clicks?${range(WARM_UP + COUNTED, COUNTED, 100)}&known`);
		const small = await call(`/clicks?${range(WARM_UP + 2 * COUNTED, COUNTED / 10, 10)}&known`);
		const conversions = await call(`/conversions?${range(WARM_UP, CONVERSIONS, 100)}`);
		const callbacks = await call("/callbacks?");
		const removed = await call("/removal?");
		const clickBytes = (unknown.bytes - before.bytes) / COUNTED;
		return [
			...rowsOf("ledger.click", whole, COUNTED),
			...rowsOf("ledger.click.by_ten", small, COUNTED / 10),
			tell("ledger.click.bytes", clickBytes, "bytes, kept"),
			tell("ledger.visit.bytes", (whole.bytes - unknown.bytes) / COUNTED - clickBytes, "bytes, kept for two days"),
			tell("ledger.click.message", whole.messageBytes, "bytes in the queue"),
			tell("ledger.click.removal", removed.rowsWritten / REMOVED, "rows written to remove it and its visit"),
			...rowsOf("ledger.conversion", conversions, CONVERSIONS),
			tell("ledger.conversion.bytes", (callbacks.bytes - small.bytes) / CONVERSIONS, "bytes with its postbacks and callback"),
			tell("ledger.conversion.callbacks", conversions.callbacks / CONVERSIONS, "callbacks owed"),
			...rowsOf("ledger.callback", callbacks, conversions.callbacks),
		];
	},
};

function rowsOf(name: string, { rowsRead, rowsWritten }: Cost, count: number): Figure[] {
	return [tell(`${name}.rows_written`, rowsWritten / count, "rows"), tell(`${name}.rows_read`, rowsRead / count, "rows")];
}

async function prepareNetwork(runtime: Runtime): Promise<void> {
	await migrateDatabases(runtime, "all");
	const owners = generateOwners();
	const [model] = owners.publishers ?? [];
	const platform = owners.platforms?.find(({ id }) => id === "northwind");
	if (model === undefined || platform === undefined) throw new Error("there is no publisher to take after");
	const publishers = namePublishers({ ...model, callback_url: "https://callbacks.example/s2s?txnid={txnid}&payout={payout}" });
	const brands = Array.from({ length: CAMPAIGNS }, (_, at) => ({
		domain: `brand-${at}.example`,
		name: `Brand ${at}`,
		campaigns: [
			{
				campaign_id: 1_000 + at,
				merchant_id: at + 1,
				platform: platform.id,
				country: "US",
				homepage_url: "https://track.example/c?sub={click_id}",
				epc: "0.4200",
				daily_click_cap: 100_000_000,
			},
		],
	}));
	await importNetwork(await runtime.origin("all"), JSON.stringify({ ...owners, publishers, brands }));
}
