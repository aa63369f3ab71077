/** Builds Workers the way they are deployed. */
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { Failure } from "../local/failure.ts";
import { runWrangler } from "../local/wrangler.ts";
import type { Bench } from "./part.ts";

export type WorkerSource = {
	/** Entry file, relative to the project's folder. */
	entry: string;
	/** Environment of wrangler.toml; absent for the all-in-one Worker. */
	environment?: "edge" | "origin";
	minify?: boolean;
};

export const EDGE: WorkerSource = { entry: "src/edge.ts", environment: "edge" };

/**
 * The built bundle, a single ES module: what `wrangler deploy` would upload. Built once a run. Returns its path.
 * @throws Failure with wrangler's output
 */
export function buildWorker(bench: Bench, source: WorkerSource): Promise<string> {
	const { entry, environment = "", minify = false } = source;
	const name = `${entry.replaceAll(/\W/g, "-")}-${environment}${minify ? "-min" : ""}`;
	return bench.shared(`bundle ${name}`, async () => {
		const folder = join(bench.folder, "bundles", name);
		await mkdir(folder, { recursive: true });
		const { code, output } = await runWrangler([
			"deploy",
			entry,
			"--dry-run",
			"--env",
			environment,
			"--outdir",
			folder,
			...(minify ? ["--minify"] : []),
		]);
		if (code !== 0) throw new Failure(`${output}\n\n${entry} could not be built: see above.`);
		return join(folder, `${basename(entry, ".ts")}.js`);
	});
}
