/** Baseline of the `intake` benchmark: answers what a postback is answered, and does nothing else. */
const ANSWER = JSON.stringify({ message: "Postback received successfully" });
const HEADERS = { "content-type": "application/json" };

export default {
	fetch: () => new Response(ANSWER, { headers: HEADERS }),
} satisfies ExportedHandler;
