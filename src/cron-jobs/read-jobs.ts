/** How the cron's jobs fare: what is late needs a person. */
import { asc } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { cronJobs } from "../db/schema/cron-jobs.ts";
import { CRON_JOBS, type CronJob } from "../lib/enums.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/time.ts";

export type JobState = {
	name: CronJob;
	/** When it last came to its end, to some five minutes, or was first heard of; Unix milliseconds. */
	endedAt: number;
	/** Since when each of its runs has failed; null where the last one did not. */
	failingSince: number | null;
};

/** Those that have had their turn, or should have; what earlier versions had is left out. */
export async function readJobs(db: Database): Promise<JobState[]> {
	const rows = await db.select().from(cronJobs).orderBy(asc(cronJobs.name));
	const known = new Map(rows.map((row) => [row.name, row]));
	return CRON_JOBS.flatMap((name) => {
		const row = known.get(name);
		return row === undefined ? [] : [{ ...row, name }];
	});
}

/** A job may fail now and then, as where a database is away for a moment. */
const FAILING_LATE_MS = 10 * MINUTE_MS;
/** Each long job comes first in every half hour. */
const ENDED_LATE_MS = HOUR_MS;

/** Those that have failed for ten minutes, or not come to their end for an hour, and since when. */
export function lateJobs(jobs: readonly JobState[], now: number): { name: CronJob; since: number }[] {
	return jobs.flatMap(({ name, endedAt, failingSince }) => {
		if (failingSince !== null && now - failingSince >= FAILING_LATE_MS) return [{ name, since: failingSince }];
		return now - endedAt >= ENDED_LATE_MS ? [{ name, since: endedAt }] : [];
	});
}
