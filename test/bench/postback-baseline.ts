/** Baseline of the `intake` benchmark: answers what a postback is answered. Where a queue is bound, a constant message goes there first. */
const ANSWER = JSON.stringify({ message: "Postback received successfully" });
const HEADERS = { "content-type": "application/json" };
const MESSAGE = { postback: "x".repeat(700) };

export default {
	async fetch(_request, env) {
		if (env.POSTBACKS !== undefined) await env.POSTBACKS.send(MESSAGE);
		return new Response(ANSWER, { headers: HEADERS });
	},
} satisfies ExportedHandler<{ POSTBACKS?: Queue }>;
