/** Builds Workers the way they are deployed. */
import { join } from "node:path";
import { bundleWorker } from "../local/wrangler.ts";
import type { Bench } from "./part.ts";

export type WorkerSource = {
	/** Entry file, relative to the project's folder. */
	entry: string;
	/** Environment of wrangler.toml; absent for the all-in-one Worker. */
	environment?: "edge" | "origin";
};

export const EDGE: WorkerSource = { entry: "src/edge.ts", environment: "edge" };

/**
 * The built bundle, a single ES module: what `wrangler deploy` would upload. Built once a run. Returns its path.
 * @throws Failure with wrangler's output
 */
export function buildWorker(bench: Bench, source: WorkerSource): Promise<string> {
	const { entry, environment = "" } = source;
	const name = `${entry.replaceAll(/\W/g, "-")}-${environment}`;
	return bench.shared(`bundle ${name}`, () => bundleWorker(environment, join(bench.folder, "bundles", name), entry));
}
