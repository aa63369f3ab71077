/** Baseline of the `openrtb` benchmark: parses the body as JSON and answers a fixed JSON as long as a bid, and nothing else. */
import { fixedAnswer } from "./fixed-answer.ts";

const HEADERS = { "content-type": "application/json" };
let answer: string | undefined;

export default {
	async fetch(request, env) {
		answer ??= fixedAnswer(Number(env.ANSWER_BYTES));
		await request.json();
		return new Response(answer, { headers: HEADERS });
	},
} satisfies ExportedHandler<{ ANSWER_BYTES: string }>;
