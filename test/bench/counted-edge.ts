/** Bench-only Worker: the edge Worker with its KV reads counted. GET /bench/stats tells them, with what the book has in memory. */
import type { Env } from "../../src/config.ts";
import edge, { edgeOf } from "../../src/edge.ts";
import { countKv } from "./counted-kv.ts";

function openCounted(env: Env) {
	const { kv, counts } = countKv(env.BOOK);
	return { env: { ...env, BOOK: kv }, counts };
}

let opened: ReturnType<typeof openCounted> | undefined;

export default {
	fetch(request, env, ctx) {
		opened ??= openCounted(env);
		if (request.url.endsWith("/bench/stats")) {
			return Response.json({ ...edgeOf(opened.env).book.stats, gets: opened.counts.gets, keysRead: opened.counts.keysRead });
		}
		return edge.fetch(request, opened.env, ctx);
	},
} satisfies ExportedHandler<Env>;
