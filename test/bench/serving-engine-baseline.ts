/**
 * Baseline of the `serving-engine` benchmark: parses the query into an object (as the other baseline's JSON is parsed) and answers
 * a fixed JSON as long as a bid, and nothing else.
 */
import { fixedAnswer } from "./fixed-answer.ts";

const HEADERS = { "content-type": "application/json" };
let answer: string | undefined;

export default {
	fetch(request, env) {
		answer ??= fixedAnswer(Number(env.ANSWER_BYTES));
		const query = Object.fromEntries(new URL(request.url).searchParams);
		return new Response(query.bd === undefined ? "{}" : answer, { headers: HEADERS });
	},
} satisfies ExportedHandler<{ ANSWER_BYTES: string }>;
