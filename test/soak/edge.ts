/** The edge Worker as it is, over a queue that refuses messages now and then. */
import type { Env } from "../../src/config.ts";
import edge from "../../src/edge.ts";
import { CONTROL_PATH, controlFaults, withFaults } from "./faults.ts";

let faulty: Env | undefined;

export default {
	fetch(request, env, ctx) {
		if (new URL(request.url).pathname === CONTROL_PATH) return controlFaults(request);
		faulty ??= withFaults(env);
		return edge.fetch(request, faulty, ctx);
	},
} satisfies ExportedHandler<Env>;
