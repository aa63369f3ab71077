import { compareWithBaseline } from "../compare.ts";
import { DEMO_STATE, LEARNED_STATE, prepareDemo, prepareLearned } from "../demo-state.ts";
import type { Part } from "../part.ts";

/** The same Worker over a book without learned prices. */
const BESIDE = [{ name: "operators_prices", entry: "src/edge.ts", state: DEMO_STATE }];

export const learned: Part = {
	name: "learned",
	about: "the bids of openrtb and serving-engine, by the same bars, where prices are learned and book:learned is full",
	async run(bench) {
		await prepareDemo(bench);
		const { openrtb, openrtbBytes, servingEngine, servingEngineBytes } = await prepareLearned(bench);
		return [
			...(await compareWithBaseline(bench, {
				name: "learned.openrtb",
				baseline: "test/bench/openrtb-baseline.ts",
				beside: BESIDE,
				state: LEARNED_STATE,
				targets: openrtb,
				answerBytes: openrtbBytes,
				throughputBar: 0.8,
				p99Bar: 2,
			})),
			...(await compareWithBaseline(bench, {
				name: "learned.serving_engine",
				baseline: "test/bench/serving-engine-baseline.ts",
				beside: BESIDE,
				state: LEARNED_STATE,
				targets: servingEngine,
				answerBytes: servingEngineBytes,
				throughputBar: 0.95,
				p99Bar: null,
			})),
		];
	},
};
