/**
 * Bench-only Worker: the origin with a queue that takes every postback and keeps none, and says so a turn of the event loop later,
 * as what comes over a network does. In production the queue is another machine's work; the simulator's would be half of what is measured.
 */
import type { Env } from "../../src/config.ts";
import origin from "../../src/origin.ts";

const POSTBACKS = { send: () => scheduler.wait(0) };
let opened: Env | undefined;

export default {
	fetch(request, env, ctx) {
		opened ??= { ...env, POSTBACKS: POSTBACKS as unknown as Queue };
		return origin.fetch(request, opened, ctx);
	},
} satisfies ExportedHandler<Env>;
