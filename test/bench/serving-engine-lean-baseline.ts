/** The leanest baseline of the `serving-engine` benchmark: the query is parsed, but only one of its parameters is ever read. */
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
