/** `npm run provision`: finds or creates everything on Cloudflare that a deployment needs. Can be run again at any time. */
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, Option } from "commander";
import { Failure, reportFailure } from "./local/failure.ts";
import { ROOT } from "./local/paths.ts";
import { writeInput } from "./local/processes.ts";
import { LOCATIONS, type Location } from "./provision/account.ts";
import { migrateBoundPostgres } from "./provision/migrate-bound.ts";
import { describePlan, type Made, type ProvisionOptions, provision, URLS } from "./provision/provision.ts";
import { readLocalUrls } from "./provision/write-config.ts";

const CONFIG = join(ROOT, "wrangler.toml");
const WRANGLER = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");

/** wrangler with this user's own environment: it holds the login. */
function runWrangler(arguments_: readonly string[], input = ""): Promise<{ code: number; output: string }> {
	const child = spawn(process.execPath, [WRANGLER, ...arguments_], {
		cwd: ROOT,
		env: { ...process.env, CI: "1", NO_COLOR: "1", WRANGLER_HIDE_BANNER: "true", WRANGLER_SEND_METRICS: "false" },
	});
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
	writeInput(child, input);
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code) => resolve({ code: code ?? 1, output }));
	});
}

type Flags = {
	split: boolean;
	dryRun: boolean;
	location?: Location;
	rtbUrl?: string;
	clickUrl?: string;
	trackerUrl?: string;
	baseUrl?: string;
};

function readUrls({ rtbUrl, clickUrl, trackerUrl, baseUrl }: Flags): Record<string, string> {
	const urls: Record<string, string> = {};
	for (const [index, value] of [rtbUrl, clickUrl, trackerUrl, baseUrl].entries()) {
		if (value === undefined) continue;
		const url = URL.parse(value);
		if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "" || url.username !== "")
			throw new Failure(`${JSON.stringify(value)} is no origin: give one such as https://click.example.com.`);
		urls[URLS[index] ?? ""] = url.origin;
	}
	return urls;
}

async function main(flags: Flags): Promise<void> {
	const { TOKEN_KEYS, OPERATOR_KEY } = process.env;
	const options: ProvisionOptions = {
		split: flags.split,
		location: flags.location,
		variables: readUrls(flags),
		given: { TOKEN_KEYS, OPERATOR_KEY },
	};
	if (flags.dryRun) {
		console.log(
			`A first run would, in this order:\n\n${describePlan(await readFile(CONFIG, "utf8"), options)
				.map((step) => `  ${step}`)
				.join("\n")}`,
		);
		return;
	}
	await provision(
		{
			run: runWrangler,
			say: (text) => console.log(text),
			readConfig: () => readFile(CONFIG, "utf8"),
			writeConfig: (toml) => writeFile(CONFIG, toml),
			showSecrets,
		},
		options,
	);
	await migrateBoundPostgres(await readFile(CONFIG, "utf8"), process.env.DATABASE_URL, console.log);
	const local = readLocalUrls(await readFile(CONFIG, "utf8"));
	if (local.length > 0)
		console.log(
			`\n${local.join(", ")} still point at localhost: give --rtb-url, --click-url, --tracker-url and --base-url before you deploy.`,
		);
	const deploy = "node scripts/run.mjs wrangler deploy";
	console.log(`\nNow deploy:  ${flags.split ? `${deploy} --env origin && ${deploy} --env edge` : `${deploy} --env ""`}`);
}

function showSecrets(made: Made): void {
	const lines = Object.entries(made).map(([name, value]) => `  ${name}=${value}`);
	console.log(`\nNew secrets, shown once. Keep them: they cannot be read back.\n${lines.join("\n")}\n`);
}

new Command("provision")
	.description("Finds or creates the databases, the KV namespace, the queues and the secrets of a deployment, and writes their ids.")
	.option("--split", "for two Workers, edge and origin, instead of one", false)
	.addOption(
		new Option("--location <region>", "where D1 keeps new databases: next to the publishers and platforms that you serve").choices(
			LOCATIONS,
		),
	)
	.option("--rtb-url <origin>", "where SSPs call")
	.option("--click-url <origin>", "where click URLs of bids point at")
	.option("--tracker-url <origin>", "where tracking links point at")
	.option("--base-url <origin>", "where publishers and platforms call")
	.option("--dry-run", "say what would be done, and do nothing; needs no account", false)
	.action(main)
	.parseAsync()
	.catch(reportFailure);
