/**
 * Computes the digest of a publisher's day, slice by slice: how far it has come is in its row. It counts only where the day's sums are at the
 * end what they were at the beginning; else it begins again.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { removedFrom } from "../db/removed-clicks.ts";
import { DAY_SUMS } from "./day-sums.ts";
import { addToDigest, NO_RECORDS } from "./digest.ts";
import { BEGINNING, type Position, type PublisherDay, readRecords } from "./read-records.ts";

export type DaysDeps = { db: Database; now: () => number };

type Progress = { startedAt: number; sums: string | null; position: Position; digest: string; recordCount: number };
/** Of a day whose last try has failed. */
type Failure = { failedAt: number };
type State = { version: number; progress: string | null; sums: string | null; areClicksGone: number };

export const RECORDS_A_SLICE = 5_000;

/** @returns how many records were read: at most `limit`, in whole slices */
export async function computeDigest({ db, now }: DaysDeps, of: PublisherDay, limit: number): Promise<number> {
	const { publisherId, day } = of;
	const isIt = sql`publisher_id = ${publisherId} AND day = ${day}`;
	const sumsNow = sql`(SELECT ${DAY_SUMS} FROM daily_publishers s WHERE s.publisher_id = ${publisherId} AND s.date = ${day})`;
	const [state] = await db.all<State>(sql`SELECT version, progress, ${sumsNow} AS sums,
			EXISTS (${removedFrom("clicks", Date.parse(day))}) AS "areClicksGone"
		FROM day_digests WHERE ${isIt} AND due = 1`);
	if (state === undefined) return 0;
	if (state.areClicksGone === 1) {
		// What is left is not the day: the digest that there is stays, and is of what was.
		await db.run(sql`UPDATE day_digests SET due = 0, sums = NULL, progress = NULL, version = version + 1
			WHERE ${isIt} AND version = ${state.version}`);
		return 0;
	}
	const begun = state.progress === null ? null : (JSON.parse(state.progress) as Progress | Failure);
	const progress =
		begun !== null && "sums" in begun && begun.sums === state.sums
			? begun
			: { startedAt: now(), sums: state.sums, position: BEGINNING, digest: NO_RECORDS, recordCount: 0 };
	let read = 0;
	let position: Position | null = progress.position;
	while (position !== null && read < limit) {
		const slice = await readRecords(db, of, position, RECORDS_A_SLICE);
		progress.digest = await addToDigest(progress.digest, slice.records);
		progress.recordCount += slice.records.length;
		read += slice.records.length;
		position = slice.next;
	}
	if (position !== null) {
		const text = JSON.stringify({ ...progress, position });
		await db.run(sql`UPDATE day_digests SET progress = ${text}, version = version + 1 WHERE ${isIt} AND version = ${state.version}`);
		return read;
	}
	const { digest, recordCount, sums, startedAt } = progress;
	const isSame = sql`${sumsNow} IS NOT DISTINCT FROM ${sums}`;
	await db.run(sql`UPDATE day_digests SET version = version + 1, progress = NULL, due = CASE WHEN ${isSame} THEN 0 ELSE 1 END,
			digest = CASE WHEN ${isSame} THEN ${digest} ELSE digest END, record_count = CASE WHEN ${isSame} THEN ${recordCount} ELSE record_count END,
			sums = CASE WHEN ${isSame} THEN ${sums} ELSE sums END, computed_at = CASE WHEN ${isSame} THEN ${startedAt} ELSE computed_at END
		WHERE ${isIt} AND version = ${state.version}`);
	return read;
}
