/**
 * The least that a bid of the Serving Engine can cost: reads a few parameters, encrypts a token's worth of bytes, and answers. What the
 * `serving-engine` benchmark has beside its baseline, which encrypts nothing.
 */
import { Query } from "../../src/lib/query.ts";
import { fixedAnswer } from "./fixed-answer.ts";
import { sealAsToken } from "./seal-as-token.ts";

const HEADERS = new Headers({ "content-type": "application/json", "cache-control": "no-store" });
const READ = ["pubi", "bd", "cc", "kw", "dl", "subid", "fbid", "clickid", "ip"];

let answer: string | undefined;

export default {
	fetch(request, env) {
		answer ??= fixedAnswer(Number(env.ANSWER_BYTES));
		const { url } = request;
		const query = new Query(url.slice(url.indexOf("?") + 1));
		const read = READ.map((name) => query.get(name));
		const encoded = sealAsToken(read[1] ?? "", request.headers.get("cf-connecting-ip"));
		return new Response(answer.slice(0, -2 - encoded.length) + encoded + answer.slice(-2), { headers: HEADERS });
	},
} satisfies ExportedHandler<{ ANSWER_BYTES: string }>;
