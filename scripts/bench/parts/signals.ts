import { compareWithBaseline } from "../compare.ts";
import { prepareDemo } from "../demo-state.ts";
import type { Target } from "../load-protocol.ts";
import type { Part } from "../part.ts";

/** As IAB's encoders write them: 720 of 1,200 vendors and ten purposes consented to, all vendors disclosed, and no opt-out in the US and in California. */
const CONSENT =
	"CQuFeUAQuFeUAAKABAENDIEgAP_AAELAAAAAJYA_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_" +
	"D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8Pw_D8PwAAAAA.IJYQAYAAglgA.YAAAAAAAAAAA";
const GPP = "DBABrw~CUAqAAAAAABA.QA~BAoAAABA.QA";
const SECTIONS = [7, 8];
const US_PRIVACY = "1YNN";

/** Signals that allow: all of them are read to their end, and nothing of the answer is left out. */
export const signals: Part = {
	name: "signals",
	about: "the bids of openrtb and serving-engine, by the same bars, with consent and GPP strings in the request",
	async run(bench) {
		const demo = await prepareDemo(bench);
		return [
			...(await compareWithBaseline(bench, {
				name: "signals.openrtb",
				baseline: "test/bench/openrtb-baseline.ts",
				targets: demo.openrtb.map(withSignals),
				answerBytes: demo.openrtbBytes,
				throughputBar: 0.8,
				p99Bar: 2,
			})),
			...(await compareWithBaseline(bench, {
				name: "signals.serving_engine",
				baseline: "test/bench/serving-engine-baseline.ts",
				targets: demo.servingEngine.map(withParameters),
				answerBytes: demo.servingEngineBytes,
				throughputBar: 0.95,
				p99Bar: null,
			})),
		];
	},
};

function withSignals(target: Target): Target {
	const request = JSON.parse(target.body ?? "");
	const regs = { coppa: 0, gdpr: 1, us_privacy: US_PRIVACY, gpp: GPP, gpp_sid: SECTIONS, ext: { gdpr: 1, us_privacy: US_PRIVACY } };
	const user = { ...request.user, consent: CONSENT, ext: { ...request.user.ext, consent: CONSENT } };
	return { ...target, body: JSON.stringify({ ...request, regs, user }) };
}

function withParameters(target: Target): Target {
	const more = { gdpr: "1", gdpr_consent: CONSENT, us_privacy: US_PRIVACY, gpp: GPP, gpp_sid: SECTIONS.join("_") };
	return { ...target, path: `${target.path}&${new URLSearchParams(more)}` };
}
