/** `npm run scale`: computes the tables of docs/scale.md from the assumptions, and writes them into it; or prints those of another load. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { ROOT } from "./local/paths.ts";
import { VALUES } from "./scale/assumptions.ts";
import { PAGE, printInto } from "./scale/page.ts";
import { writeTables } from "./scale/tables.ts";

type Options = { bids?: number; campaigns?: number; retentionDays?: number };

function readPositive(text: string): number {
	const value = Number(text);
	if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError("It must be a number above 0.");
	return value;
}

const command = new Command("npm run scale --")
	.description(`What a load needs, costs and runs into. Without options: writes the tables of ${PAGE}.`)
	.option("--bids <number>", "bids a second: prints this load alone, and writes nothing", readPositive)
	.option("--campaigns <number>", "of the catalogue; with --bids", readPositive)
	.option("--retention-days <number>", "that clicks are kept; with --bids", readPositive)
	.allowExcessArguments(false)
	.parse();
const options = command.opts<Options>();

if (options.bids === undefined) {
	if (options.campaigns !== undefined || options.retentionDays !== undefined) command.error("error: --bids is missing");
	const path = join(ROOT, PAGE);
	writeFileSync(path, printInto(readFileSync(path, "utf8"), writeTables(VALUES)));
	console.log(`Wrote the tables of ${PAGE}.`);
} else {
	const { campaigns = VALUES.campaigns, retentionDays = VALUES.retentionDays } = options;
	const { walls, loads, needs, costs } = writeTables({ ...VALUES, campaigns, retentionDays }, [options.bids]);
	console.log([needs, costs, walls, loads].join("\n\n"));
}
