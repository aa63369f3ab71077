/** The origin Worker as it is, over bindings that fail. */
import type { Env } from "../../src/config.ts";
import origin from "../../src/origin.ts";
import { CONTROL_PATH, controlFaults, deliver, withFaults } from "./faults.ts";

let faulty: Env | undefined;

function over(env: Env): Env {
	faulty ??= withFaults(env);
	return faulty;
}

export default {
	fetch(request, env, ctx) {
		if (new URL(request.url).pathname === CONTROL_PATH) return controlFaults(request);
		return origin.fetch(request, over(env), ctx);
	},
	scheduled: (controller, env) => origin.scheduled(controller, over(env)),
	queue: (batch, env, ctx) => deliver(batch, (delivered) => origin.queue(delivered, over(env), ctx)),
} satisfies ExportedHandler<Env>;
