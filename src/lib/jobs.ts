/** Which jobs of an invocation run, and in which order, where it cannot do all of them. */
import { logError, logInfo } from "./log.ts";
import type { Operated, Operations } from "./operations.ts";

export type Job = {
	name: string;
	/** What it may take at the most, or what it needs to come on: without as much left it waits for a later minute. */
	needs?: Partial<Operated>;
	run: () => Promise<unknown>;
};

/** In one minute of so many the long jobs come before the backlog, so that they have their turn however much of it there is. */
export const MINUTES_A_TURN = 5;

/**
 * The jobs of a minute in order: the small ones, the backlog, and the long ones; in every fifth minute the backlog last. Another long job is
 * the first each time, so that in the end none has waited for the others only.
 * @param minute minutes since 1970
 */
export function orderJobs(small: readonly Job[], backlog: Job, long: readonly Job[], minute: number): Job[] {
	const first = Math.floor(minute / MINUTES_A_TURN) % long.length;
	const turned = [...long.slice(first), ...long.slice(0, first)];
	return minute % MINUTES_A_TURN === 0 ? [...small, ...turned, backlog] : [...small, backlog, ...turned];
}

/**
 * Runs those for which enough is left. One that fails keeps none of the others from theirs.
 * @throws Error that names those that failed
 */
export async function runJobs(jobs: readonly Job[], operations: Operations): Promise<void> {
	const failed: string[] = [];
	const waiting: string[] = [];
	for (const { name, needs = {}, run } of jobs) {
		if (!operations.has(needs)) {
			waiting.push(name);
			continue;
		}
		try {
			await run();
		} catch (error) {
			logError("cron.failed", error, { job: name });
			failed.push(name);
		}
	}
	if (waiting.length > 0) logInfo("cron.waiting", { jobs: waiting.join(", ") });
	if (failed.length > 0) throw new Error(`failed: ${failed.join(", ")}`);
}
