import { readFile } from "node:fs/promises";
import { constants, gzipSync } from "node:zlib";
import { MAX_EDGE_BYTES } from "../../local/wrangler.ts";
import { buildWorker, EDGE } from "../build-worker.ts";
import { atMost, tell } from "../figure.ts";
import type { Part } from "../part.ts";

/** Of what `wrangler deploy --env edge` uploads. */
export const bundle: Part = {
	name: "bundle",
	about: "size of the edge Worker: bidding and clicks alone",
	async run(bench) {
		bench.say("building the edge Worker");
		const deployed = await readFile(await buildWorker(bench, EDGE));
		return [atMost("bundle.edge.gzip", gzipped(deployed), "bytes", MAX_EDGE_BYTES), tell("bundle.edge.raw", deployed.byteLength, "bytes")];
	},
};

function gzipped(bytes: Uint8Array): number {
	return gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }).byteLength;
}
