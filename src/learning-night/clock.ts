/** The clock of a run, held against what was counted before it: one that is far ahead would forget all that was learned, and not come back. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { dayOf } from "../learning/cohorts.ts";
import { logError } from "../lib/log.ts";
import { DAY_MS } from "../lib/time.ts";

/** Days by which a run may be beyond all that was counted before. */
const MAX_AHEAD_DAYS = 3;
/** A clock that stays ahead is right: nothing was clicked, and nothing ran, for some days. It is believed after this time and as many runs. */
const BELIEVED_AFTER_MS = DAY_MS;
const BELIEVED_AFTER_RUNS = 60;

/** `learning_work`: since when the clock was ahead, and in how many runs; none where it is not. */
const CLOCK_AHEAD = "clock ahead";
type Ahead = { since: number; runs: number };

/**
 * What is wrong where the time is far beyond the last day that was clicked, tidied, or learned from; else null. Logged when it begins, and no
 * failure of the cron: it may well be right.
 */
export async function findAhead(db: Database, now: number): Promise<Error | null> {
	const today = dayOf(now);
	const [known] = await db.all<{ day: number | null; ahead: string | null }>(sql`SELECT
		(SELECT max(day) FROM (SELECT max(day) AS day FROM learning_nights WHERE finished_at IS NOT NULL
			UNION ALL SELECT CAST(value ->> 'day' AS BIGINT) AS day FROM learning_work WHERE name = 'tidy') done) AS day,
		(SELECT value FROM learning_work WHERE name = ${CLOCK_AHEAD}) AS ahead`);
	const isNear = (day: number | null) => day !== null && today <= day + MAX_AHEAD_DAYS;
	let newest = known?.day ?? null;
	if (!isNear(newest)) {
		// Of many sources, and so asked for only then.
		const [clicked] = await db.all<{ day: number | null }>(sql`SELECT max(last_day) AS day FROM learning_sources`);
		if (clicked?.day != null) newest = Math.max(newest ?? clicked.day, clicked.day);
	}
	const ahead = known?.ahead == null ? null : (JSON.parse(known.ahead) as Ahead);
	if (newest === null || isNear(newest)) {
		if (ahead !== null) await db.run(sql`DELETE FROM learning_work WHERE name = ${CLOCK_AHEAD}`);
		return null;
	}
	const next: Ahead = ahead === null || ahead.since > now ? { since: now, runs: 1 } : { ...ahead, runs: ahead.runs + 1 };
	if (now - next.since >= BELIEVED_AFTER_MS && next.runs >= BELIEVED_AFTER_RUNS) return null;
	await db.run(sql`INSERT INTO learning_work (name, value) VALUES (${CLOCK_AHEAD}, ${JSON.stringify(next)})
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`);
	const error = new Error(`the clock is ${today - newest} days beyond all that was counted: if it is right, learning goes on in a day`);
	if (next.runs === 1) logError("learning.clock_ahead", error);
	return error;
}
