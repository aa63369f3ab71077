/**
 * The least that a bid can cost: reads the body within a limit, parses it, encrypts a token's worth of bytes, and answers. What the
 * `openrtb` benchmark has beside its baseline, which encrypts nothing.
 */
import { fixedAnswer } from "./fixed-answer.ts";
import { sealAsToken } from "./seal-as-token.ts";

const MAX_BODY_BYTES = 131_072;
const HEADERS = new Headers({ "content-type": "application/json", "x-openrtb-version": "2.5" });
const DECODER = new TextDecoder();

let answer: string | undefined;

export default {
	async fetch(request, env) {
		answer ??= fixedAnswer(Number(env.ANSWER_BYTES));
		if (Number(request.headers.get("content-length")) > MAX_BODY_BYTES) return new Response(null, { status: 413 });
		const bytes = await request.arrayBuffer();
		const body = JSON.parse(DECODER.decode(bytes)) as { site?: { domain?: string } };
		bytes.transfer(0);
		const encoded = sealAsToken(body.site?.domain ?? "", request.headers.get("cf-connecting-ip"));
		return new Response(answer.slice(0, -2 - encoded.length) + encoded + answer.slice(-2), { headers: HEADERS });
	},
} satisfies ExportedHandler<{ ANSWER_BYTES: string }>;
