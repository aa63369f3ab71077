/**
 * Bench-only Worker: the edge Worker with a queue that takes every click and keeps none. In production the queue is another
 * machine's work.
 */
import type { Env } from "../../src/config.ts";
import edge from "../../src/edge.ts";

const CLICKS = { send: async () => undefined };
let opened: Env | undefined;

export default {
	fetch(request, env, ctx) {
		opened ??= { ...env, CLICKS: CLICKS as unknown as Queue };
		return edge.fetch(request, opened, ctx);
	},
} satisfies ExportedHandler<Env>;
