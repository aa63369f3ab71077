/** Baseline of the `redirect` benchmark: a constant 302. Where a queue is bound, it also sends it a constant message, after its answer. */
const HEADERS = {
	location: "https://track.northwind.example/c?m=301&sub=0123456789abcdef0123456789abcdef",
	"cache-control": "no-store",
	"referrer-policy": "strict-origin-when-cross-origin",
	"x-robots-tag": "noindex, nofollow",
};
const MESSAGE = { click: "x".repeat(500) };

export default {
	fetch(_request, env, ctx) {
		if (env.CLICKS !== undefined) ctx.waitUntil(env.CLICKS.send(MESSAGE));
		return new Response(null, { status: 302, headers: HEADERS });
	},
} satisfies ExportedHandler<{ CLICKS?: Queue }>;
