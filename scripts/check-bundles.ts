/** Builds every Worker as a deploy would, without deploying, and checks what the edge carries. For `.ci/run`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Failure, reportFailure } from "./local/failure.ts";
import { bundleWorker, type Environment, MAX_EDGE_BYTES } from "./local/wrangler.ts";

const ENVIRONMENTS: readonly Environment[] = ["", "edge", "origin"];
/** What only code that talks to D1 says, in texts and names of members: the edge's bundle is minified, which leaves those. */
const DATABASE_TRACES = ["drizzle", "D1Database", "sqlite", ".prepare("];
/** What only the console says: its pages are the origin's. */
const CONSOLE_TRACES = ["/console/", "__Host-"];

async function checkBundles(): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "clickbourse-bundles-"));
	try {
		for (const environment of ENVIRONMENTS) {
			const script = readFileSync(await bundleWorker(environment, join(folder, environment || "default")), "utf8");
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
	if (gzipped > MAX_EDGE_BYTES)
		throw new Failure(`The edge bundle has ${gzipped} bytes gzipped, more than ${MAX_EDGE_BYTES}. See what it has grown by.`);
}

checkBundles().catch(reportFailure);
