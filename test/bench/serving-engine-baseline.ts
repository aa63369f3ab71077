/** Baseline of the `serving-engine` benchmark: parses the query and answers a fixed JSON as long as a bid, and nothing else. */
import { fixedAnswer } from "./fixed-answer.ts";

const HEADERS = { "content-type": "application/json" };
let answer: string | undefined;

export default {
	fetch(request, env) {
		answer ??= fixedAnswer(Number(env.ANSWER_BYTES));
		const { url } = request;
		const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
		return new Response(query.get("bd") === null ? "{}" : answer, { headers: HEADERS });
	},
} satisfies ExportedHandler<{ ANSWER_BYTES: string }>;
