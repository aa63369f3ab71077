/**
 * `npm run soak`: the real stack under load while D1, queues and the publisher's receiver fail and the Workers restart. At the end all
 * that was acknowledged must be accounted for. With `--postgres` the network database is PostgreSQL, whose line is cut, and which
 * crashes in the middle of each half.
 */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { Failure, reportFailure } from "./local/failure.ts";
import { findDifferences } from "./soak/account.ts";
import { type SoakDatabase, useD1, usePostgres } from "./soak/database.ts";
import { makeJourney } from "./soak/journey.ts";
import { importNetwork } from "./soak/network.ts";
import { type Receiver, startReceiver } from "./soak/receiver.ts";
import { Tally } from "./soak/tally.ts";
import { type Bundles, buildBundles, type Stack, startStack } from "./stack/start-stack.ts";

const DEFAULT_SECONDS = 40;
const USERS = 8;
const DRAIN_MS = 300_000;
const CONTROL_PATH = "/soak/faults";
const FAULTS = { databaseRefuses: 0.005, databaseAnswerLost: 0.02, queueRefuses: 0.02, queueRedelivers: 0.05 };
const NO_FAULTS = { databaseRefuses: 0, databaseAnswerLost: 0, queueRefuses: 0, queueRedelivers: 0 };

type FaultCounts = Record<keyof typeof FAULTS, number>;

async function soak(seconds: number, onPostgres: boolean, json: string | undefined): Promise<void> {
	const folder = await mkdtemp(join(tmpdir(), "clickbourse-soak-"));
	// Where this is root, the database server runs as another user, who must get there.
	await chmod(folder, 0o711);
	const receiver = await startReceiver();
	const database = onPostgres ? await usePostgres(folder) : useD1();
	const startedAt = Date.now();
	const say = (text: string) => console.log(`${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${text}`);
	try {
		say("building edge and origin, with faults between them and their bindings");
		const bundles = await buildBundles("split", folder, "test/soak");
		const tally = new Tally();
		const faults: FaultCounts = { ...NO_FAULTS };
		let number = 0;
		let drainedMs = 0;
		for (const half of [1, 2]) {
			say(half === 1 ? "starting" : "starting again on what was stored");
			await using stack = await start(bundles, folder, database);
			if (half === 1) await importNetwork(stack, receiver.url);
			await setFaults(stack, FAULTS);
			database.setFaults(true);
			say(`${USERS} users at once for ${seconds / 2} s`);
			const end = Date.now() + (seconds * 1_000) / 2;
			const live = async () => {
				while (Date.now() < end) await makeJourney(stack, tally, number++);
			};
			const cron = setInterval(
				() => void stack.runCron().catch((error: unknown) => say(`the minutely work failed: ${String(error)}`)),
				5_000,
			);
			try {
				await Promise.all([crashInTheMiddle(database, (seconds * 1_000) / 4, say), ...Array.from({ length: USERS }, live)]);
			} finally {
				clearInterval(cron);
			}
			database.setFaults(false);
			add(faults, await setFaults(stack, NO_FAULTS));
			const drainedAt = Date.now();
			const differences = await drain(stack, database, tally, receiver, say);
			drainedMs = Math.max(drainedMs, Date.now() - drainedAt);
			if (differences.length > 0) throw new Failure(`Not accounted for:\n  ${differences.join("\n  ")}`);
			say(`all accounted for after ${((Date.now() - drainedAt) / 1_000).toFixed(1)} s without load`);
		}
		const figures = describe(tally, receiver, database, faults, drainedMs, seconds);
		console.log(
			`\n${figures.map(({ name, value, unit }) => `${name.padEnd(34)} ${value.toLocaleString("en-US").padStart(12)} ${unit}`).join("\n")}`,
		);
		console.log("\nAll that was acknowledged is accounted for.");
		if (json !== undefined) await writeFile(json, `${JSON.stringify(figures, null, "\t")}\n`);
	} finally {
		receiver.close();
		await database.close();
		await rm(folder, { recursive: true, force: true });
	}
}

function start(bundles: Bundles, folder: string, { postgresUrl }: SoakDatabase): Promise<Stack> {
	return startStack({ topology: "split", bundles, folder, variables: { ALLOW_INSECURE_CALLBACKS: "true" }, postgresUrl });
}

async function crashInTheMiddle({ crash }: SoakDatabase, afterMs: number, say: (text: string) => void): Promise<void> {
	if (crash === null) return;
	await new Promise((resolve) => setTimeout(resolve, afterMs));
	const crashedAt = Date.now();
	await crash();
	say(`the database crashed, and was back after ${((Date.now() - crashedAt) / 1_000).toFixed(1)} s`);
}

/** Sets the faults of both Workers; how often each has happened so far. */
async function setFaults(stack: Stack, rates: typeof FAULTS): Promise<FaultCounts> {
	const sum: FaultCounts = { ...NO_FAULTS };
	for (const worker of [stack.edge, stack.origin]) {
		const response = await fetch(`${worker}${CONTROL_PATH}`, { method: "POST", body: JSON.stringify(rates) });
		add(sum, (await response.json()) as FaultCounts);
	}
	return sum;
}

function add(sum: FaultCounts, more: FaultCounts): void {
	for (const name of Object.keys(sum) as (keyof FaultCounts)[]) sum[name] += more[name];
}

/** Lets the queues run empty, with the minutely work, until nothing differs any more; what differs when time is up. */
async function drain(
	stack: Stack,
	database: SoakDatabase,
	tally: Tally,
	receiver: Receiver,
	say: (text: string) => void,
): Promise<string[]> {
	const deadline = Date.now() + DRAIN_MS;
	let told = Date.now();
	for (;;) {
		await stack.runCron();
		const differences = await findDifferences(stack, database, tally, receiver);
		if (differences.length === 0 || Date.now() > deadline) return differences;
		if (Date.now() - told > 10_000) {
			told = Date.now();
			say(`waiting: ${differences[0]}`);
		}
		await new Promise((resolve) => setTimeout(resolve, 2_000));
	}
}

type Figure = { name: string; value: number; unit: string };

function describe(
	tally: Tally,
	{ stats }: Receiver,
	{ counts: { cut, crashed } }: SoakDatabase,
	faults: FaultCounts,
	drainedMs: number,
	seconds: number,
): Figure[] {
	const { bid, click, postback, report } = tally.counts;
	return [
		{ name: "soak.bids", value: bid.good, unit: "filled" },
		{ name: "soak.clicks", value: click.good, unit: "redirected" },
		{ name: "soak.postbacks", value: postback.good, unit: "acknowledged" },
		{ name: "soak.postbacks_refused", value: postback.failed, unit: "answered with an error and sent again" },
		{ name: "soak.reports", value: report.good, unit: "read" },
		{ name: "soak.reports_failed", value: report.failed, unit: "answered 500 for a fault of the database" },
		{
			name: "soak.requests",
			value: Math.round((bid.good + click.good + postback.good + report.good) / seconds),
			unit: "answered a second",
		},
		{ name: "soak.orders", value: tally.orders.size, unit: "conversions" },
		{ name: "soak.callbacks", value: stats.calls, unit: "calls" },
		{ name: "soak.callbacks_failed", value: stats.failed, unit: "calls that the receiver failed" },
		{ name: "soak.callbacks_repeated", value: stats.repeated, unit: "calls that came again with the same key" },
		{ name: "soak.faults_database_refused", value: faults.databaseRefuses, unit: "D1 calls" },
		{ name: "soak.faults_database_answer_lost", value: faults.databaseAnswerLost, unit: "D1 commits whose answer was lost" },
		{ name: "soak.faults_database_cut", value: cut, unit: "PostgreSQL transactions whose line broke before or after the commit" },
		{ name: "soak.faults_database_crashed", value: crashed, unit: "crashes of PostgreSQL" },
		{ name: "soak.faults_queue_refused", value: faults.queueRefuses, unit: "messages" },
		{ name: "soak.faults_queue_redelivered", value: faults.queueRedelivers, unit: "batches delivered again" },
		{ name: "soak.drained", value: Math.round(drainedMs / 100) / 10, unit: "s until all was accounted for" },
		{ name: "soak.differences", value: 0, unit: "between what was acknowledged and what is stored" },
	];
}

new Command("soak")
	.description("Runs the stack under load with faults, and accounts for all that was acknowledged.")
	.option("--seconds <number>", "how long the load lasts, in two halves", String(DEFAULT_SECONDS))
	.option("--postgres", "with PostgreSQL as the network database")
	.option("--json <file>", "also write the figures there")
	.action(async ({ seconds, postgres = false, json }: { seconds: string; postgres?: boolean; json?: string }) => {
		const length = Number(seconds);
		if (!(length >= 2 && length <= 3_600)) throw new Failure("--seconds must be 2 to 3600.");
		await soak(length, postgres, json);
	})
	.parseAsync()
	.catch(reportFailure);
