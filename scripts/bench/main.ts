/** `npm run bench`: measures the service in workerd and checks the figures against their bars. Exit code 1 where one does not hold. */
import { rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { Command, Option } from "commander";
import { Failure, reportFailure } from "../local/failure.ts";
import type { Figure } from "./figure.ts";
import { describeMachine } from "./machine.ts";
import type { Bench, Part } from "./part.ts";
import { PARTS } from "./registry.ts";
import { writeTable } from "./table.ts";

/** Five brands in turn have as many campaigns. */
const CAMPAIGNS_PER_TURN = 20;
/** The cold isolate's brand is among the first five thousand. */
const MIN_CAMPAIGNS = 20_000;

type Scale = Pick<Bench, "rows" | "campaigns">;

const names = PARTS.map(({ name }) => name);
const parts = PARTS.map(({ name, about }) => `  ${name.padEnd(16)} ${about}`).join("\n");

const program = new Command("npm run bench --")
	.description("Measures bidding, publishing, the catalogue and reports in workerd, and checks the figures against their bars.")
	.addOption(
		new Option("--only <name>", "run this part alone; may be given several times").argParser(collect).default([] as string[], "all parts"),
	)
	.addOption(
		new Option("--rows <count>", "clicks that are stored already where clicks are counted").argParser(readCount).default(20_000_000),
	)
	.addOption(
		new Option("--campaigns <count>", "campaigns of the large catalogue; bars are for a million, and fewer are to try the parts")
			.argParser(readCampaigns)
			.default(1_000_000),
	)
	.option("--json <file>", "also write the figures as JSON: [{name, value, unit, bar, holds}]")
	.addHelpText(
		"after",
		`\nParts:\n${parts}\n\nA whole run takes most of an hour on two cores, half of it to store clicks; less with fewer --rows. Exit code 1: a bar does not hold, or a part failed.`,
	)
	.allowExcessArguments(false);

function collect(name: string, before: string[]): string[] {
	if (!names.includes(name)) throw new Failure(`There is no part ${JSON.stringify(name)}. Parts: ${names.join(", ")}`);
	return [...before, name];
}

function readCount(text: string): number {
	if (!/^[1-9]\d{0,8}$/.test(text)) throw new Failure(`--rows ${JSON.stringify(text)}: a whole number from 1 up is needed.`);
	return Number(text);
}

function readCampaigns(text: string): number {
	const count = Number(text);
	if (!/^[1-9]\d{4,6}$/.test(text) || count % CAMPAIGNS_PER_TURN !== 0 || count < MIN_CAMPAIGNS)
		throw new Failure(
			`--campaigns ${JSON.stringify(text)}: a multiple of ${CAMPAIGNS_PER_TURN} from ${MIN_CAMPAIGNS} to 9,999,980 is needed.`,
		);
	return count;
}

async function main(): Promise<void> {
	const { only, json, ...scale } = program.parse().opts<{ only: string[]; json?: string } & Scale>();
	const wanted = PARTS.filter(({ name }) => only.length === 0 || only.includes(name));
	console.error(describeMachine());
	const folder = await mkdtemp(join(tmpdir(), "clickbourse-bench-"));
	removeOnSignal(folder);
	try {
		const { figures, failed } = await runParts(wanted, folder, scale);
		console.log(`\n${writeTable(figures)}`);
		if (json !== undefined) await writeFile(json, `${JSON.stringify(figures, null, "\t")}\n`);
		const missed = figures.filter(({ holds }) => holds === false);
		if (missed.length > 0) console.error(`\nBars that do not hold: ${missed.map(({ name }) => name).join(", ")}`);
		if (failed.length > 0) console.error(`\nParts that failed: ${failed.join(", ")}`);
		if (missed.length > 0 || failed.length > 0) process.exitCode = 1;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

/** The folder may hold gigabytes; workerd and the load process end with this process. */
function removeOnSignal(folder: string): void {
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => {
			rmSync(folder, { recursive: true, force: true });
			process.exit(128 + constants.signals[signal]);
		});
	}
}

/** Runs the parts one after another. One that fails is reported and does not keep the others from running. */
async function runParts(wanted: readonly Part[], folder: string, scale: Scale): Promise<{ figures: Figure[]; failed: string[] }> {
	const startedAt = performance.now();
	const made = new Map<string, Promise<unknown>>();
	const figures: Figure[] = [];
	const failed: string[] = [];
	for (const { name, run } of wanted) {
		const say = (text: string) =>
			console.error(`${`${((performance.now() - startedAt) / 1_000).toFixed(1)} s`.padStart(8)}  ${name}: ${text}`);
		const bench: Bench = {
			folder,
			...scale,
			say,
			shared<T>(key: string, make: () => Promise<T>): Promise<T> {
				const known = made.get(key) ?? make();
				made.set(key, known);
				return known as Promise<T>;
			},
		};
		try {
			figures.push(...(await run(bench)));
		} catch (error) {
			failed.push(name);
			reportFailure(error);
		}
	}
	return { figures, failed };
}

main().catch(reportFailure);
