/** Which days are to get a digest, told once an hour; and the digests of some of them with every run of the cron until none is left. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { logError } from "../lib/log.ts";
import { DAY_MS, HOUR_MS, utcDay } from "../lib/time.ts";
import { changedDays, unseenSince } from "../reconcile/changed-days.ts";
import { firstDay, firstDayFrom } from "../reconcile/first-day.ts";
import { computeDigest, type DaysDeps, RECORDS_A_SLICE } from "./compute-digest.ts";
import { DAY_SUMS } from "./day-sums.ts";
import type { PublisherDay } from "./read-records.ts";

/** What one run computes: a record costs 20 µs. */
const DAYS_A_RUN = 40;
const RECORDS_A_RUN = 20_000;
/** The most that a run takes: choosing the days, seven for each, and some where a day has more than one slice. */
export const DAYS_STATEMENTS = 20 + DAYS_A_RUN * 7 + 20;
/** Days that have their turn in an hour, whether or not they are known to have changed. */
const TURN_DAYS = 31;
/** Days of publishers that are taken from the changes of one hour; others come with their turn. */
const MAX_CHANGED = 5_000;

type State = { selectedAt: number; turnDay: string | null };

export async function sweepDays(deps: DaysDeps): Promise<void> {
	const { db } = deps;
	const now = deps.now();
	const [state] = await db.all<State>(sql`SELECT selected_at AS "selectedAt", turn_day AS "turnDay" FROM day_digest_state WHERE id = 1`);
	if (state === undefined) throw new Error("day_digest_state has no row: the migrations did not run");
	if (now - state.selectedAt >= HOUR_MS || utcDay(now) !== utcDay(state.selectedAt)) await selectDays(db, state, now);
	let left = RECORDS_A_RUN;
	const failed: string[] = [];
	for (const of of await readDue(db, now)) {
		if (left <= 0) break;
		try {
			left -= await computeDigest(deps, of, left);
		} catch (error) {
			logError("days.digest_failed", error, { publisher: of.publisherId, day: of.day });
			await noteFailure(db, of, deps.now());
			failed.push(`${of.publisherId} ${of.day}`);
			left -= RECORDS_A_SLICE;
		}
	}
	if (failed.length > 0) throw new Error(`no digest could be computed of ${failed.join(", ")}`);
}

/** What `progress` begins with where the last try has failed: such a day begins anew. */
const FAILED = '{"failedAt":';
/** After this long it has a turn though others are due. */
const FAILED_TURN_MS = HOUR_MS;

/**
 * Days whose turn it is: one that has failed long ago, those that have not failed, and in what room they leave others that have, of them
 * the one first that has waited longest. One a run: many that fail must not take the time of all others.
 */
async function readDue(db: Database, now: number): Promise<PublisherDay[]> {
	const begins = sql`substr(coalesce(progress, ''), 1, ${FAILED.length})`;
	const failed = await db.all<PublisherDay & { progress: string }>(sql`SELECT publisher_id AS "publisherId", day, progress FROM day_digests
		WHERE due = 1 AND ${begins} = ${FAILED} ORDER BY progress, day DESC, publisher_id LIMIT ${DAYS_A_RUN}`);
	const waited = failed
		.filter(({ progress }) => now - (JSON.parse(progress) as { failedAt: number }).failedAt >= FAILED_TURN_MS)
		.slice(0, 1);
	const due = await db.all<PublisherDay>(sql`SELECT publisher_id AS "publisherId", day FROM day_digests
		WHERE due = 1 AND ${begins} <> ${FAILED} ORDER BY day DESC, publisher_id LIMIT ${DAYS_A_RUN - waited.length}`);
	return [...waited, ...due, ...failed.slice(waited.length)].slice(0, DAYS_A_RUN);
}

async function noteFailure(db: Database, { publisherId, day }: PublisherDay, at: number): Promise<void> {
	await db.run(sql`UPDATE day_digests SET progress = ${`${FAILED}${at}}`}, version = version + 1
		WHERE publisher_id = ${publisherId} AND day = ${day} AND due = 1`);
}

/** Notes closed days whose sums are not those of their digest, and those of which records came, changed or went since. */
async function selectDays(db: Database, { selectedAt, turnDay }: State, now: number): Promise<void> {
	const today = utcDay(now);
	const since = unseenSince(selectedAt);
	const first = turnDay !== null && turnDay < today ? await firstDayFrom(db, turnDay, now) : await firstDay(db, now);
	const turn = Array.from({ length: TURN_DAYS }, (_, at) => utcDay(Date.parse(first) + at * DAY_MS));
	const days = [...new Set([utcDay(now - DAY_MS), utcDay(now - 2 * DAY_MS), ...turn, ...(await changedDays(db, since))])];
	const outdated = await readOutdated(db, since);
	await runTransaction(db, [
		sql`INSERT INTO day_digests (publisher_id, day, due)
			SELECT s.publisher_id, s.date, 1 FROM json_each(${JSON.stringify(days.filter((day) => day < today))}) j
				CROSS JOIN publishers p CROSS JOIN daily_publishers s
			WHERE s.publisher_id = p.id AND s.date = j.atom
				AND (SELECT d.sums FROM day_digests d WHERE d.publisher_id = s.publisher_id AND d.day = s.date) IS DISTINCT FROM ${DAY_SUMS}
			ON CONFLICT (publisher_id, day) DO UPDATE SET due = 1, version = day_digests.version + 1, progress = NULL WHERE day_digests.due = 0`,
		sql`INSERT INTO day_digests (publisher_id, day, due)
			SELECT value ->> 'publisherId', value ->> 'day', 1 FROM json_each(${JSON.stringify(outdated)}) WHERE true
			ON CONFLICT (publisher_id, day) DO UPDATE SET due = 1, version = day_digests.version + 1, progress = NULL`,
		sql`UPDATE day_digest_state SET selected_at = ${now}, turn_day = ${utcDay(Date.parse(first) + TURN_DAYS * DAY_MS)} WHERE id = 1`,
	]);
}

/**
 * Days whose digests were said to be of other records than theirs are since (src/db/digests-of-days.ts), whatever they add up to: one that
 * comes as another goes may leave all sums.
 */
function readOutdated(db: Database, since: number): Promise<PublisherDay[]> {
	const changed = (at: SQL) =>
		sql`SELECT publisher_id, date(${at} / 1000, 'unixepoch') AS day FROM conversion_changes WHERE at >= ${since} AND ${at} IS NOT NULL`;
	return db.all(sql`SELECT DISTINCT d.publisher_id AS "publisherId", d.day
		FROM (${changed(sql`event_at`)} UNION ALL ${changed(sql`old_event_at`)}) k
			JOIN day_digests d ON d.publisher_id = k.publisher_id AND d.day = k.day
		WHERE d.sums IS NULL LIMIT ${MAX_CHANGED}`);
}
