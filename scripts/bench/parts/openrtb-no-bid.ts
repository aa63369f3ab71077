import { ACME } from "../../demo/well-known.ts";
import { compareWithBaseline } from "../compare.ts";
import { prepareDemo } from "../demo-state.ts";
import type { Part } from "../part.ts";
import { openRtbTarget } from "../requests.ts";

/** As many hosts as the demo network has brands. */
const HOSTS = 1_000;

export const openrtbNoBid: Part = {
	name: "openrtb-no-bid",
	about: "an OpenRTB no-bid for an unknown advertiser against a Worker that only parses the body and answers 204",
	async run(bench) {
		await prepareDemo(bench);
		return compareWithBaseline(bench, {
			name: "openrtb_no_bid",
			baseline: "test/bench/openrtb-baseline.ts",
			targets: Array.from({ length: HOSTS }, (_, at) => openRtbTarget(ACME.publisher_identity, `unknown-${at}.example`, at)),
			answerBytes: 0,
			throughputBar: 0.9,
			p99Bar: null,
		});
	},
};
