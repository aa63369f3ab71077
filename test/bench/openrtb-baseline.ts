/**
 * Baseline of the `openrtb` benchmarks: parses the body as JSON and answers a fixed JSON as long as a bid, or of no bytes, an empty 204 like
 * a no-bid; and nothing else.
 */
import { fixedAnswer } from "./fixed-answer.ts";

const HEADERS = { "content-type": "application/json" };
const NO_BID_HEADERS = { "x-openrtb-version": "2.5" };
let answer: string | undefined;

export default {
	async fetch(request, env) {
		answer ??= fixedAnswer(Number(env.ANSWER_BYTES));
		await request.json();
		if (env.ANSWER_BYTES === "0") return new Response(null, { status: 204, headers: NO_BID_HEADERS });
		return new Response(answer, { headers: HEADERS });
	},
} satisfies ExportedHandler<{ ANSWER_BYTES: string }>;
