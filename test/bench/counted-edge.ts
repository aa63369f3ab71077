/**
 * Bench-only Worker: the edge Worker with its KV reads counted. GET /bench/stats tells them, with what the book has in memory, and those
 * before the first answer.
 */
import type { Env } from "../../src/config.ts";
import edge, { edgeOf } from "../../src/edge.ts";
import { countKv } from "./counted-kv.ts";

function openCounted(env: Env) {
	const { kv, counts } = countKv(env.BOOK);
	return { env: { ...env, BOOK: kv }, counts };
}

let beforeFirst: { gets: number; keysRead: number } | undefined;

let opened: ReturnType<typeof openCounted> | undefined;

export default {
	fetch(request, env, ctx) {
		opened ??= openCounted(env);
		if (request.url.endsWith("/bench/stats")) {
			const { gets, keysRead } = opened.counts;
			return Response.json({ ...edgeOf(opened.env).book.stats, gets, keysRead, beforeFirst: beforeFirst ?? { gets, keysRead } });
		}
		const answer = edge.fetch(request, opened.env, ctx);
		if (beforeFirst !== undefined || !(answer instanceof Promise)) return answer;
		const { counts } = opened;
		return answer.then((response) => {
			if (new URL(request.url).pathname !== "/health") beforeFirst ??= { gets: counts.gets, keysRead: counts.keysRead };
			return response;
		});
	},
} satisfies ExportedHandler<Env>;
