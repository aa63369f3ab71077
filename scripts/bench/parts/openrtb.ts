import { compareWithBaseline } from "../compare.ts";
import { prepareDemo } from "../demo-state.ts";
import type { Part } from "../part.ts";

export const openrtb: Part = {
	name: "openrtb",
	about: "a filled OpenRTB bid against a Worker that only parses the body and answers a fixed JSON, with a floor that encrypts as well",
	async run(bench) {
		const demo = await prepareDemo(bench);
		return compareWithBaseline(bench, {
			name: "openrtb",
			baseline: "test/bench/openrtb-baseline.ts",
			beside: [{ name: "floor", entry: "test/bench/openrtb-floor.ts" }],
			targets: demo.openrtb,
			answerBytes: demo.openrtbBytes,
			throughputBar: 0.8,
			p99Bar: 2,
			few: { connections: 16, throughputBar: 0.72 },
		});
	},
};
