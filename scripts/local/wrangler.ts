/** Runs wrangler without prompts, telemetry, update checks or an account, and keeps what it writes inside this folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Failure } from "./failure.ts";
import { ROOT, WRANGLER_DIR } from "./paths.ts";

const WRANGLER = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");

/** Of our own environment wrangler gets no more than it needs to run: the Worker sees whatever it has. */
const PASSED_ON = ["PATH", "HOME", "TMPDIR", "TMP", "TEMP", "LANG", "SystemRoot", "USERPROFILE", "APPDATA"];

const SILENT = {
	CI: "1",
	NO_COLOR: "1",
	DO_NOT_TRACK: "1",
	WRANGLER_SEND_METRICS: "false",
	WRANGLER_SEND_ERROR_REPORTS: "false",
	// The banner is what looks for updates.
	WRANGLER_HIDE_BANNER: "true",
	WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
	WRANGLER_LOG_PATH: join(WRANGLER_DIR, "logs"),
	WRANGLER_REGISTRY_PATH: join(WRANGLER_DIR, "registry"),
	CLOUDFLARE_CF_FETCH_ENABLED: "false",
	X_LOCAL_EXPLORER: "false",
	X_LOCAL_OBSERVABILITY: "false",
} as const;

export function spawnWrangler(arguments_: readonly string[], variables: Record<string, string> = {}): ChildProcess {
	const own = Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
	return spawn(process.execPath, [WRANGLER, ...arguments_], {
		cwd: ROOT,
		stdio: ["ignore", "pipe", "pipe"],
		// A group of its own: Ctrl-C in a terminal would end it at once, with what its queues hold. We end it ourselves.
		detached: true,
		env: { ...own, ...SILENT, ...variables },
	});
}

/** Runs a wrangler command to its end and returns its exit code with all it printed. */
async function runWrangler(arguments_: readonly string[]): Promise<{ code: number; output: string }> {
	const child = spawnWrangler(arguments_);
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code) => resolve({ code: code ?? 1, output }));
	});
}

/** Those of wrangler.toml; the default one is the Worker that does everything. */
export type Environment = "" | "edge" | "origin";

/** Most bytes of the edge's bundle, gzipped: every data centre loads it for its first bid. */
export const MAX_EDGE_BYTES = 60_000;

/**
 * Builds a Worker into a folder, as a deploy would, without deploying it.
 * @param entry instead of the environment's own
 * @returns the path of the bundle, a single ES module
 * @throws Failure with wrangler's output
 */
export async function bundleWorker(environment: Environment, folder: string, entry?: string): Promise<string> {
	await mkdir(folder, { recursive: true });
	const own = entry === undefined ? [] : [entry];
	const { code, output } = await runWrangler(["deploy", ...own, "--dry-run", "--outdir", folder, "--env", environment]);
	if (code !== 0)
		throw new Failure(`${output.trim()}\n\n${entry ?? `The environment ${JSON.stringify(environment)}`} could not be built: see above.`);
	const [script, ...others] = (await readdir(folder)).filter((file) => /\.m?js$/.test(file));
	// What is checked of a bundle would not be checked of another beside it.
	if (script === undefined || others.length > 0)
		throw new Failure(`wrangler wrote ${script === undefined ? "no script" : "several scripts"} to ${folder}.`);
	return join(folder, script);
}
