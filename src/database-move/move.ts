/**
 * Moves the network database from D1 to PostgreSQL, some seconds a request: copies every table, has both add it up, compares every row,
 * and only then lets the network switch. From its beginning to the switch neither takes writes: queues keep what comes.
 */
import type { SQL } from "drizzle-orm";
import { auditStatement } from "../audit/audit-statement.ts";
import type { Database } from "../db/client.ts";
import type { Actor } from "../http/actor.ts";
import { MAX_WORK_MS } from "../http/limits.ts";
import { MOVE_STEPS, type MoveStep } from "../lib/enums.ts";
import { HttpError } from "../lib/http.ts";
import { newUuid } from "../lib/ids.ts";
import { logError, logInfo } from "../lib/log.ts";
import { compareRows } from "./compare-rows.ts";
import { compareSums } from "./compare-sums.ts";
import { copyRows } from "./copy-rows.ts";
import type { MoveAnswer, MoveDifference } from "./move-answers.ts";
import { endMove, holdWrites, IS_NOT_MOVED, type MoveState, readMoveState, readOldestClick, releaseWrites } from "./source.ts";
import { MOVED_TABLES, type MovedTable } from "./tables.ts";
import { becomeMoved, beginMove, cancelTarget, forgetComparisons, type Progress, readProgress, TAKEN_BACK } from "./target.ts";
import type { Walk } from "./walk.ts";

export type MoveDeps = {
	/** D1 and PostgreSQL; null where not both are bound. */
	move: { from: Database; to: Database; hasSwitched: boolean } | null;
	now: () => number;
};

const MAX_SHOWN = 100;

const UNBOUND = "a move needs both bindings, DB and POSTGRES: see docs/operations/postgresql.md";

const STEPS: Readonly<Record<MoveStep, (walk: Walk, moved: MovedTable, start: Progress) => Promise<Progress>>> = {
	copy: copyRows,
	sums: compareSums,
	rows: compareRows,
};

/**
 * @param mayBegin where none is under way; else that is one which was taken back meanwhile
 * @throws HttpError 412 where a move cannot begin or go on: nothing was changed then
 */
export async function moveDatabase({ move, now }: MoveDeps, actor: Actor, mayBegin = true): Promise<MoveAnswer> {
	if (move === null) throw refused(UNBOUND);
	const { from, to, hasSwitched } = move;
	const state = await readMoveState(from);
	if (hasSwitched) {
		if (state.phase !== "moved") throw refused('PostgreSQL is in use: to move to it, set NETWORK_DATABASE = "d1" and deploy first');
		return answer("switched", await readProgress(to));
	}
	const moveId = await ensureBegun({ from, to }, state, now(), actor, mayBegin);
	const endsAt = now() + MAX_WORK_MS;
	const differences: MoveDifference[] = [];
	const walk: Walk = { from, to, moveId, isOver: () => now() >= endsAt, report: (difference) => differences.push(difference) };
	for (const step of MOVE_STEPS) {
		const known = new Map((await readProgress(to)).filter((one) => one.step === step).map((one) => [one.ofTable, one]));
		for (const moved of MOVED_TABLES) {
			const start = known.get(moved.name) ?? unbegun(step, moved);
			const { done } = start.done === 1 ? start : await STEPS[step](walk, moved, start);
			if (done === 0) return answer("unfinished", await readProgress(to), { step, table: moved.name }, differences);
		}
	}
	return end(walk, differences, (where) => auditMove(actor, now(), moveId, "moved", where));
}

/** Everything was compared: the move has ended where nothing differs. */
async function end({ from, to, moveId }: Walk, differences: readonly MoveDifference[], audited: (where: SQL) => SQL): Promise<MoveAnswer> {
	const progress = await readProgress(to);
	if (progress.some(({ differenceCount }) => differenceCount > 0)) {
		logError("database_move.differs", new Error("the copy is not what it was copied from"), { differences: differences.length });
		// The next request compares again.
		await forgetComparisons(to);
		return answer("differs", progress, null, differences);
	}
	// D1 first: once PostgreSQL says so, a deployment may use it, and D1 must never take a write again.
	if (!(await endMove(from, moveId)) || !(await becomeMoved(to, moveId, audited))) throw refused(TAKEN_BACK);
	logInfo("database_move.moved", { move: moveId });
	return answer("moved", progress);
}

/** @returns the id of the move that is under way, or has begun now */
async function ensureBegun(
	{ from, to }: { from: Database; to: Database },
	state: MoveState,
	now: number,
	actor: Actor,
	mayBegin: boolean,
): Promise<string> {
	const target = await readMoveState(to);
	// Where it was taken back by half, PostgreSQL is cancelled already and D1 still held, moved or not: the copy begins over.
	const isOurs = target.moveId === state.moveId && target.phase !== "cancelled" && target.phase !== "none";
	if (state.phase !== "none" && isOurs) return state.moveId;
	if (!mayBegin) throw refused(TAKEN_BACK);
	// It was taken back on D1, which keeps its id, while PostgreSQL was away or another request was at it.
	if (state.phase === "none" && target.phase === "moving" && target.moveId === state.moveId) await cancelTarget(to, state.moveId);
	// What is refused is refused before D1 stops to take writes. Between the two the last request may have ended.
	const isHalfBegun = state.phase === "none" && target.phase === "moving" && (await readProgress(to)).length === 0;
	const moveId = state.phase !== "none" ? state.moveId : isHalfBegun ? target.moveId : newUuid();
	const held = await beginMove(to, moveId, now, (await readOldestClick(from)) ?? now);
	if (held !== null) throw refused(`the PostgreSQL database is not empty (${held}): make a new one, and migrate it`);
	if (state.phase === "none") {
		await holdWrites(from, moveId, now, auditMove(actor, now, moveId, "begun", IS_NOT_MOVED));
		logInfo("database_move.begun", { move: moveId });
	}
	const begun = await readMoveState(from);
	if (begun.moveId !== moveId) throw refused("another move has begun meanwhile");
	return moveId;
}

/** @throws HttpError 412 where the network has switched: there is no way back */
export async function cancelMove({ move, now }: MoveDeps, actor: Actor): Promise<MoveAnswer> {
	if (move === null) throw refused(UNBOUND);
	const { from, to, hasSwitched } = move;
	if (hasSwitched) throw refused("the network has switched to PostgreSQL");
	const { phase, moveId } = await readMoveState(from);
	if (phase === "none") throw refused("no move is under way");
	try {
		const left = await cancelTarget(to, moveId);
		if (left === "used") throw refused("the network has switched to PostgreSQL");
	} catch (error) {
		// A copy that is not whole is never used. One that is may be, unless it says itself that it is not.
		if (phase === "moved" || error instanceof HttpError) throw error;
		logError("database_move.target_not_cancelled", error, { move: moveId });
	}
	await releaseWrites(from, phase, auditMove(actor, now(), moveId, "cancelled"));
	logInfo("database_move.cancelled", { move: moveId });
	return answer("cancelled", []);
}

function auditMove(actor: Actor, at: number, moveId: string, state: string, where?: SQL): SQL {
	const entry = { verb: "moveDatabase", subjectKind: "database_move", subjectId: moveId, after: { state } } as const;
	return auditStatement(actor, at, entry, where === undefined ? {} : { where });
}

function unbegun(step: MoveStep, { name }: MovedTable): Progress {
	return { step, ofTable: name, lastKey: "", rowCount: 0, differenceCount: 0, sums: "{}", done: 0 };
}

function answer(
	outcome: MoveAnswer["outcome"],
	progress: readonly Progress[],
	at: { step: MoveStep; table: string } | null = null,
	differences: readonly MoveDifference[] = [],
): MoveAnswer {
	const of = new Map(progress.map((one) => [`${one.step} ${one.ofTable}`, one]));
	return {
		outcome,
		step: at?.step ?? null,
		table: at?.table ?? null,
		tables: MOVED_TABLES.map(({ name }) => ({
			table: name,
			copied: of.get(`copy ${name}`)?.rowCount ?? 0,
			compared: of.get(`rows ${name}`)?.rowCount ?? 0,
			sums: JSON.parse(of.get(`sums ${name}`)?.sums ?? "{}") as Record<string, string>,
		})),
		difference_count: progress.reduce((sum, { differenceCount }) => sum + differenceCount, 0),
		differences: differences.slice(0, MAX_SHOWN),
	};
}

function refused(error: string): HttpError {
	return new HttpError(412, { error });
}
