/** Notes how the cron's jobs fared, so that an operator sees one that fails, or never has its turn. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { cronJobs } from "../db/schema/cron-jobs.ts";
import type { JobOutcomes } from "../lib/jobs.ts";
import { MINUTE_MS } from "../lib/time.ts";

/** The most that it takes. */
export const NOTE_STATEMENTS = 2;

/** Where nothing has changed but the time, it is written so seldom. */
const WRITTEN_EVERY_MS = 5 * MINUTE_MS;

/**
 * A job that waited is as it was before; one not heard of before has from now on to come to its end.
 * @param now Unix milliseconds
 */
export async function noteJobs(db: Database, { ended, failed, waiting }: JobOutcomes, now: number): Promise<void> {
	const row = (failingSince: number | null) => (name: string) => ({ name, endedAt: now, failingSince });
	const ran = [...ended.map(row(null)), ...failed.map(row(now))];
	const statements = [
		...(ran.length === 0 ? [] : [insertRows(cronJobs, ran, RAN_AGAIN)]),
		...(waiting.length === 0 ? [] : [insertRows(cronJobs, waiting.map(row(null)), sql`ON CONFLICT (name) DO NOTHING`)]),
	];
	if (statements.length > 0) await runTransaction(db, statements);
}

const RAN_AGAIN = sql`ON CONFLICT (name) DO UPDATE SET
		ended_at = CASE WHEN excluded.failing_since IS NULL THEN excluded.ended_at ELSE cron_jobs.ended_at END,
		failing_since = excluded.failing_since
	WHERE (excluded.failing_since IS NULL AND cron_jobs.failing_since IS NOT NULL)
		OR (excluded.failing_since IS NOT NULL AND cron_jobs.failing_since IS NULL)
		OR (excluded.failing_since IS NULL AND excluded.ended_at - cron_jobs.ended_at >= ${WRITTEN_EVERY_MS})`;
