import { readFile } from "node:fs/promises";
import { constants, gzipSync } from "node:zlib";
import { buildWorker, EDGE } from "../build-worker.ts";
import { atMost, tell } from "../figure.ts";
import type { Part } from "../part.ts";

const BAR_BYTES = 60_000;

/** The bar is for what `wrangler deploy --env edge` uploads, which is not minified. */
export const bundle: Part = {
	name: "bundle",
	about: "size of the edge Worker: bidding and clicks alone",
	async run(bench) {
		bench.say("building the edge Worker");
		const deployed = await readFile(await buildWorker(bench, EDGE));
		const minified = await readFile(await buildWorker(bench, { ...EDGE, minify: true }));
		return [
			atMost("bundle.edge.gzip", gzipped(deployed), "bytes", BAR_BYTES),
			tell("bundle.edge.raw", deployed.byteLength, "bytes"),
			tell("bundle.edge.minified", minified.byteLength, "bytes"),
			tell("bundle.edge.minified_gzip", gzipped(minified), "bytes"),
		];
	},
};

function gzipped(bytes: Uint8Array): number {
	return gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }).byteLength;
}
