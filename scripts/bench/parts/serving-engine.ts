import { compareWithBaseline } from "../compare.ts";
import { prepareDemo } from "../demo-state.ts";
import type { Part } from "../part.ts";

export const servingEngine: Part = {
	name: "serving-engine",
	about:
		"a filled Serving Engine bid against a Worker that only parses the query and answers a fixed JSON, with a floor that encrypts as well",
	async run(bench) {
		const demo = await prepareDemo(bench);
		return compareWithBaseline(bench, {
			name: "serving_engine",
			baseline: "test/bench/serving-engine-baseline.ts",
			beside: [
				{ name: "lean_baseline", entry: "test/bench/serving-engine-lean-baseline.ts" },
				{ name: "floor", entry: "test/bench/serving-engine-floor.ts" },
			],
			targets: demo.servingEngine,
			answerBytes: demo.servingEngineBytes,
			throughputBar: 0.95,
			p99Bar: null,
		});
	},
};
