/**
 * The database that is moved to, PostgreSQL. `drizzle/postgres/0003_database_move.sql` has the functions. From the beginning of a move
 * until the network has switched it takes no writes but the move's: at no time do both databases take any.
 */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction, runUpkeep } from "../db/client.ts";
import type { MovePhase, MoveStep } from "../lib/enums.ts";
import { HttpError } from "../lib/http.ts";

/** How far a step has come with a table. */
export type Progress = {
	step: MoveStep;
	ofTable: string;
	lastKey: string;
	rowCount: number;
	differenceCount: number;
	/** JSON object of decimal integers. */
	sums: string;
	done: 0 | 1;
};

/**
 * Empties what an earlier, cancelled move has left, and lets only this move write. Again is no harm.
 * @param oldestAt when the oldest click was made, Unix milliseconds
 * @returns the tables that hold what no move has put there: then nothing was changed
 */
export async function beginMove(db: Database, moveId: string, now: number, oldestAt: number): Promise<string | null> {
	// Some hundred weeks of clicks take longer to make than other statements may.
	const [row] = await runUpkeep<{ held: string }>(
		db,
		sql`SELECT begin_move(${moveId}, CAST(${now} AS BIGINT), CAST(${oldestAt} AS BIGINT)) AS held`,
	);
	return row === undefined || row.held === "" ? null : row.held;
}

export function readProgress(db: Database): Promise<Progress[]> {
	return db.all<Progress>(
		sql`SELECT step, of_table AS "ofTable", last_key AS "lastKey", row_count AS "rowCount", difference_count AS "differenceCount", sums, done
		FROM database_move_progress`,
	);
}

/** What whoever moved is told once the move was taken back, whether or not another has begun. */
export const TAKEN_BACK = "the move was cancelled meanwhile";

/**
 * Keeps how far a step has come, in one transaction with what it has written.
 * @param lastKey where it stood before: nothing is kept where another run has come further meanwhile
 * @throws HttpError 412 where the move was taken back: what a later one is at is not touched
 */
export async function keepProgress(
	db: Database,
	moveId: string,
	lastKey: string,
	{ step, ofTable, ...next }: Progress,
	writes: readonly SQL[] = [],
): Promise<void> {
	const isUnderWay = sql`EXISTS (SELECT 1 FROM database_move WHERE id = 1 AND phase IN ('moving', 'moved') AND move_id = ${moveId})`;
	const results = await runTransaction(db, [
		sql`SELECT set_config('clickbourse.move', ${moveId}, true)`,
		...writes,
		sql`INSERT INTO database_move_progress (step, of_table) SELECT ${step}, ${ofTable} WHERE ${isUnderWay}
		ON CONFLICT (step, of_table) DO NOTHING`,
		sql`UPDATE database_move_progress SET last_key = ${next.lastKey}, row_count = ${next.rowCount},
			difference_count = ${next.differenceCount}, sums = ${next.sums}, done = ${next.done}
		WHERE step = ${step} AND of_table = ${ofTable} AND last_key = ${lastKey} AND done = 0 AND ${isUnderWay}`,
		sql`SELECT 1 AS stands WHERE ${isUnderWay}`,
	]);
	if (results.at(-1)?.results.length !== 1) throw new HttpError(412, { error: TAKEN_BACK });
}

/** What was compared is to be compared again. */
export async function forgetComparisons(db: Database): Promise<void> {
	await db.run(sql`DELETE FROM database_move_progress WHERE step IN ('sums', 'rows')`);
}

/**
 * The copy is whole, as the audit says from then on; it takes writes once the network has switched. The next brand gets an id behind those
 * that were copied.
 * @returns false where the move was cancelled meanwhile
 */
export async function becomeMoved(db: Database, moveId: string, audited: (where: SQL) => SQL): Promise<boolean> {
	const results = await runTransaction(db, [
		sql`SELECT set_config('clickbourse.move', ${moveId}, true)`,
		audited(sql`EXISTS (SELECT 1 FROM database_move WHERE id = 1 AND phase = 'moving' AND move_id = ${moveId})`),
		sql`SELECT setval(pg_get_serial_sequence('brands', 'id'), coalesce(max(id), 0) + 1, false) FROM brands`,
		sql`UPDATE database_move SET phase = 'moved' WHERE id = 1 AND phase = 'moving' AND move_id = ${moveId}`,
		sql`SELECT phase FROM database_move WHERE id = 1 AND phase IN ('moved', 'used') AND move_id = ${moveId}`,
	]);
	return results.at(-1)?.results.length === 1;
}

/** What was copied is of no use any more. @returns how the database stands; one that is in use stays so */
export async function cancelTarget(db: Database, moveId: string): Promise<MovePhase | undefined> {
	const [, state] = await runTransaction(db, [
		sql`UPDATE database_move SET phase = 'cancelled' WHERE id = 1 AND phase IN ('moving', 'moved') AND move_id = ${moveId}`,
		sql`SELECT phase FROM database_move WHERE id = 1`,
	]);
	return (state?.results[0] as { phase: MovePhase } | undefined)?.phase;
}

/** The network uses it: after a move it takes writes from now on. @returns how it stands */
export async function takeOver(db: Database): Promise<MovePhase | undefined> {
	const [row] = await db.all<{ phase: MovePhase }>(sql`SELECT take_over() AS phase`);
	return row?.phase;
}
