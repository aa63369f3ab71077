import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { measureManyPublishers } from "../../../test/bench/many-publishers.ts";
import { Random } from "../../demo/random.ts";
import { Zipf } from "../catalogue/zipf.ts";
import { atMost, type Figure, tell } from "../figure.ts";
import type { Part } from "../part.ts";

const PUBLISHERS = 10_000;
const BLOCKS_EACH = 100;
const BRANDS = 20_000;
const SEED = 80;
const MEGABYTE = 1_000_000;
/** What KV takes in one value. */
const MAX_VALUE_MB = 25;

export const publishers: Part = {
	name: "publishers",
	about: "a packed book of 10,000 publishers with 100 blocks each, in Node: sizes, time to open, memory",
	async run({ say }) {
		setFlagsFromString("--expose-gc");
		const collect = runInNewContext("gc") as () => void;
		const heldBytes = () => {
			collect();
			collect();
			const { heapUsed, arrayBuffers } = process.memoryUsage();
			return heapUsed + arrayBuffers;
		};
		const figures: Figure[] = [];
		for (const blocksEach of [BLOCKS_EACH / 5, BLOCKS_EACH]) {
			say(`${PUBLISHERS} publishers with ${blocksEach} blocks each`);
			const zipf = new Zipf(new Random(SEED), BRANDS);
			const pick = (count: number) => zipf.distinct(count);
			const of = await measureManyPublishers({ publishers: PUBLISHERS, blocksEach, brands: BRANDS }, pick, heldBytes);
			const name = (figure: string) => `publishers.blocks_${blocksEach}.${figure}`;
			figures.push(
				tell(name("head"), of.headBytes, "bytes"),
				tell(name("chunks"), of.publisherChunks, "chunks of publishers"),
				tell(name("chunk"), of.publisherBytes / of.publisherChunks, "bytes a chunk of publishers"),
				atMost(name("largest"), of.largestBytes / MEGABYTE, "MB, the largest value in KV", MAX_VALUE_MB),
				tell(name("block"), (of.factsBytes - of.unblockedFactsBytes) / (PUBLISHERS * blocksEach), "bytes a block"),
				tell(name("open"), of.openMs, "ms"),
				tell(name("fill"), of.fillMs, "ms"),
				tell(name("held"), of.heldBytes / MEGABYTE, "MB, facts among them"),
				tell(name("facts"), of.factsBytes / MEGABYTE, "MB"),
				tell(name("blocked_lookup"), of.blockedLookupMicros, "µs"),
				tell(name("format_1.manifest"), of.manifestBytes / MEGABYTE, "MB"),
				tell(name("format_1.open"), of.manifestOpenMs, "ms"),
				tell(name("format_1.held"), of.manifestHeldBytes / MEGABYTE, "MB"),
			);
		}
		return figures;
	},
};
