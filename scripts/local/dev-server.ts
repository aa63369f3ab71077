import { once } from "node:events";
import { createInterface } from "node:readline";
import { Failure } from "./failure.ts";
import { DEV_VARS, STATE_DIR } from "./paths.ts";
import { CONNECTION_VARIABLE, writePostgresConfig } from "./postgres-config.ts";
import { descendantsOf, killAll } from "./processes.ts";
import { isHealthy } from "./running.ts";
import { spawnWrangler } from "./wrangler.ts";

const READY_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 5_000;
const POLL_MS = 150;
/** Lines of wrangler that say nothing to a user: one per request, and its blank ones. */
const NOISE = /^\s*$|^\[wrangler:info\]/;

export type DevServer = {
	/** Wrangler's process; undefined where it could not be started. */
	pid: number | undefined;
	/** Resolves once the Worker answers. Rejects with a Failure that holds wrangler's output where it does not come up. */
	ready: Promise<void>;
	/** Resolves once wrangler and the runtime it started have ended; to false where nobody asked them to. */
	ended: Promise<boolean>;
	stop: () => Promise<void>;
};

/**
 * Starts the Worker in the local runtime, on 127.0.0.1. What it logs once it is ready goes to standard output. Variables travel in
 * wrangler's environment, which, unlike its arguments, other users of the machine cannot see.
 * @param postgres the network database; null for D1
 */
export function startDevServer(
	port: number,
	variables: Record<string, string>,
	postgres: { url: string; name: string } | null = null,
): DevServer {
	const child = spawnWrangler(
		[
			...["dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", "0", "--show-interactive-dev-session=false"],
			// With an env file named, wrangler reads it and not .dev.vars by itself, and lets the environment override it.
			...["--env-file", DEV_VARS],
			...(postgres === null ? [] : ["--config", writePostgresConfig(postgres.name), "--persist-to", STATE_DIR]),
		],
		{
			...variables,
			CLOUDFLARE_INCLUDE_PROCESS_ENV: "true",
			...(postgres !== null && { [CONNECTION_VARIABLE]: postgres.url }),
		},
	);
	const early: string[] = [];
	const state = { ready: false, stopping: false, exited: false, broken: false };
	for (const stream of [child.stdout, child.stderr]) {
		if (stream === null) continue;
		createInterface({ input: stream }).on("line", (line) => {
			if (!state.ready) early.push(line);
			else if (!state.stopping && !NOISE.test(line)) console.log(line);
			if (line.includes("Build failed")) state.broken = true;
		});
	}
	const ended = once(child, "close").then(() => {
		state.exited = true;
		return state.stopping;
	});

	const stop = async (): Promise<void> => {
		if (state.exited || child.pid === undefined) return;
		state.stopping = true;
		const family = [...descendantsOf(child.pid), child.pid];
		child.kill("SIGTERM");
		const late = setTimeout(() => killAll(family), STOP_TIMEOUT_MS);
		await ended;
		clearTimeout(late);
	};

	const becomeReady = async (): Promise<void> => {
		const deadline = Date.now() + READY_TIMEOUT_MS;
		while (!(await isHealthy(port))) {
			if (state.exited || state.broken || Date.now() > deadline) {
				const why = state.broken
					? "the Worker cannot be built"
					: state.exited
						? "wrangler ended"
						: `no answer within ${READY_TIMEOUT_MS / 1_000} s`;
				await stop();
				throw new Failure(
					`${early.filter((line) => !NOISE.test(line)).join("\n")}\n\nThe server did not start: ${why} (its output is above).\n` +
						"Correct what it complains about and run `npm start` again; if only the stored state is broken, `npm run reset` clears it.",
				);
			}
			await new Promise((resolve) => setTimeout(resolve, POLL_MS));
		}
		state.ready = true;
	};
	return { pid: child.pid, ready: becomeReady(), ended, stop };
}
