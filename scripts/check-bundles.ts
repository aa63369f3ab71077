/** Builds every Worker as a deploy would, without deploying, and checks what the edge carries. For `.ci/run`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Failure, reportFailure } from "./local/failure.ts";
import { runWrangler } from "./local/wrangler.ts";

/** Environments of wrangler.toml; the default one is the Worker that does everything. */
const ENVIRONMENTS = ["", "edge", "origin"];
const EDGE_LIMIT_BYTES = 60_000;
/** What only code that talks to D1 says, in texts and names of members: the edge's bundle is minified, which leaves those. */
const DATABASE_TRACES = ["drizzle", "D1Database", "sqlite", ".prepare("];
/** What only the console says: its pages are the origin's. */
const CONSOLE_TRACES = ["/console/", "__Host-"];

async function build(environment: string, folder: string): Promise<string> {
	const { code, output } = await runWrangler(["deploy", "--dry-run", "--outdir", folder, "--env", environment]);
	if (code !== 0)
		throw new Failure(
			`${output.trim()}\n\nwrangler deploy --dry-run failed for the environment ${JSON.stringify(environment)}: see above.`,
		);
	const scripts = readdirSync(folder).filter((file) => /\.m?js$/.test(file));
	if (scripts.length === 0) throw new Failure(`wrangler wrote no script to ${folder}: ${readdirSync(folder).join(", ")}`);
	return scripts.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
}

async function checkBundles(): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-bundles-"));
	try {
		for (const environment of ENVIRONMENTS) {
			const script = await build(environment, join(folder, environment || "default"));
			const gzipped = gzipSync(script).length;
			console.log(
				`${(environment || "default").padEnd(8)} ${(gzipped / 1_000).toFixed(1).padStart(7)} kB gzipped, ${(script.length / 1_000).toFixed(1)} kB plain`,
			);
			if (environment === "edge") checkEdge(script, gzipped);
		}
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function checkEdge(script: string, gzipped: number): void {
	const trace = DATABASE_TRACES.find((text) => script.includes(text));
	if (trace !== undefined)
		throw new Failure(`The edge bundle holds ${JSON.stringify(trace)}: something on the bid path imports the database.`);
	const ofConsole = CONSOLE_TRACES.find((text) => script.includes(text));
	if (ofConsole !== undefined)
		throw new Failure(`The edge bundle holds ${JSON.stringify(ofConsole)}: something on the bid path imports the console.`);
	if (gzipped > EDGE_LIMIT_BYTES)
		throw new Failure(`The edge bundle has ${gzipped} bytes gzipped, more than ${EDGE_LIMIT_BYTES}. See what it has grown by.`);
}

checkBundles().catch(reportFailure);
