/**
 * The database that is left, D1. While it is being moved, and for good afterwards, its own triggers refuse every write, whoever makes it:
 * an isolate or a deployment that knows nothing of the move, too. D1 takes one transaction after the other, so that what was written
 * before is there to be copied, and nothing comes after.
 */
import { eq, type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { derivedName, tableName } from "../db/json-rows.ts";
import { databaseMove } from "../db/schema/database-move.ts";
import type { MovePhase } from "../lib/enums.ts";
import { HELD_TABLES } from "./tables.ts";

export type MoveState = typeof databaseMove.$inferSelect;

/** How a database stands. @throws where its schema is older than moves are */
export async function readMoveState(db: Database): Promise<MoveState> {
	const [state] = await db.select().from(databaseMove).where(eq(databaseMove.id, 1));
	if (state === undefined) throw new Error("the table database_move is empty");
	return state;
}

/** Whether a database that is in use takes no more writes, since it is being moved or was. */
export async function isHeld(db: Database): Promise<boolean> {
	return (await readMoveState(db)).phase !== "none";
}

/** When the oldest click was made, Unix milliseconds; null where there is none. */
export async function readOldestClick(db: Database): Promise<number | null> {
	const [oldest] = await db.all<{ at: number }>(sql`SELECT clicked_at AS at FROM clicks ORDER BY id LIMIT 1`);
	return oldest?.at ?? null;
}

/** Holds in a transaction that begins a move, before it does. */
export const IS_NOT_MOVED: SQL = sql`EXISTS (SELECT 1 FROM database_move WHERE id = 1 AND phase = 'none')`;

/**
 * From here on it takes no writes. Where a move has begun already, nothing changes.
 * @param last written before, in the same transaction
 */
export async function holdWrites(db: Database, moveId: string, now: number, last: SQL): Promise<void> {
	await runTransaction(db, [
		last,
		sql`UPDATE database_move SET phase = 'moving', move_id = ${moveId}, started_at = ${now} WHERE id = 1 AND phase = 'none'`,
		...HELD_TABLES.flatMap((table) => [
			sql`CREATE TRIGGER IF NOT EXISTS ${derivedName(table, "_holds_insert")} BEFORE INSERT ON ${tableName(table)} ${REFUSE}`,
			sql`CREATE TRIGGER IF NOT EXISTS ${derivedName(table, "_holds_update")} BEFORE UPDATE ON ${tableName(table)} ${REFUSE}`,
			sql`CREATE TRIGGER IF NOT EXISTS ${derivedName(table, "_holds_delete")} BEFORE DELETE ON ${tableName(table)} ${REFUSE}`,
		]),
	]);
}

const REFUSE = sql`BEGIN SELECT RAISE(ABORT, 'the network database is being moved'); END`;

/** It takes writes again, `first` before all others. @throws a constraint's error where it does not stand in `phase` */
export async function releaseWrites(db: Database, phase: MovePhase, first: SQL): Promise<void> {
	const otherwiseFail = sql`INSERT INTO database_move (id, phase) SELECT 1, 'none'
		WHERE NOT EXISTS (SELECT 1 FROM database_move WHERE id = 1 AND phase = ${phase})`;
	const drops = HELD_TABLES.flatMap((table) =>
		["_holds_insert", "_holds_update", "_holds_delete"].map((suffix): SQL => sql`DROP TRIGGER IF EXISTS ${derivedName(table, suffix)}`),
	);
	await runTransaction(db, [otherwiseFail, ...drops, first, sql`UPDATE database_move SET phase = 'none' WHERE id = 1`]);
}

/** The copy is whole. @returns false where the move was cancelled meanwhile */
export async function endMove(db: Database, moveId: string): Promise<boolean> {
	const [ended] = await db.all(
		sql`UPDATE database_move SET phase = 'moved' WHERE id = 1 AND phase IN ('moving', 'moved') AND move_id = ${moveId} RETURNING id`,
	);
	return ended !== undefined;
}
