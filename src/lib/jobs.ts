/** Which jobs of an invocation run, and in which order, where it cannot do all of them. */
import { isAwayError } from "./away.ts";
import { logError, logInfo } from "./log.ts";
import { wordsOf } from "./log-limit.ts";
import type { Operated, Operations } from "./operations.ts";

export type Job<Name extends string = string> = {
	name: Name;
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
export function orderJobs<Name extends string>(
	small: readonly Job<Name>[],
	backlog: Job<Name>,
	long: readonly Job<Name>[],
	minute: number,
): Job<Name>[] {
	const first = Math.floor(minute / MINUTES_A_TURN) % long.length;
	const turned = [...long.slice(first), ...long.slice(0, first)];
	return minute % MINUTES_A_TURN === 0 ? [...small, ...turned, backlog] : [...small, backlog, ...turned];
}

/** The names of those that came to their end, threw, or found too little left. */
export type JobOutcomes<Name extends string = string> = Record<"ended" | "failed" | "waiting", readonly Name[]>;

/**
 * Runs those for which enough is left. One that fails keeps none of the others from theirs. Where something is away, the log has the first that
 * needed it at once, and the others in one line at the end.
 */
export async function runJobs<Name extends string>(jobs: readonly Job<Name>[], operations: Operations): Promise<JobOutcomes<Name>> {
	const outcomes = { ended: [] as Name[], failed: [] as Name[], waiting: [] as Name[] };
	const alike = new Map<string, { error: unknown; jobs: Name[] }>();
	for (const { name, needs = {}, run } of jobs) {
		if (!operations.has(needs)) {
			outcomes.waiting.push(name);
			continue;
		}
		try {
			await run();
			outcomes.ended.push(name);
		} catch (error) {
			outcomes.failed.push(name);
			const before = alike.get(wordsOf(error));
			if (before !== undefined) before.jobs.push(name);
			else logError("cron.failed", error, { job: name });
			if (before === undefined && isAwayError(error)) alike.set(wordsOf(error), { error, jobs: [] });
		}
	}
	for (const { error, jobs } of alike.values()) if (jobs.length > 0) logError("cron.failed", error, { job: jobs.join(", ") });
	if (outcomes.waiting.length > 0) logInfo("cron.waiting", { jobs: outcomes.waiting.join(", ") });
	return outcomes;
}
