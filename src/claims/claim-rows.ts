/** Claims as they are stored: read, listed, and changed with their audit. */
import { type SQL, sql } from "drizzle-orm";
import { type AuditActor, auditStatement } from "../audit/audit-statement.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { allColumns } from "../db/json-rows.ts";
import { claims } from "../db/schema/claims.ts";
import { invalidInput } from "../http/errors.ts";
import { endOf } from "../http/period.ts";
import type { ClaimState } from "../lib/enums.ts";
import { HttpError } from "../lib/http.ts";
import { leastIdAt } from "../lib/ids.ts";
import { formatUsd } from "../lib/money.ts";
import { OPERATOR_CURSOR } from "../lib/page-cursor.ts";
import { isoTime, isoTimeOrNull } from "../lib/time.ts";
import type { Claim, OperatorClaim, ThreadEntry } from "./claim-answers.ts";

export type ClaimRow = typeof claims.$inferSelect;

/** Texts of a claim, to and fro. */
const MAX_TEXTS = 40;

type Wanted = {
	publisher?: string | undefined;
	id?: string | undefined;
	state?: ClaimState | undefined;
	/** When they were made, as `moment` has it; a date of `to` is included. */
	from?: string | undefined;
	to?: string | undefined;
	limit: number;
	cursor?: string | undefined;
};

/** The newest first. */
export async function readClaims(db: Database, wanted: Wanted): Promise<{ rows: ClaimRow[]; next: string | null }> {
	const { publisher, id, state, from, to, limit, cursor } = wanted;
	const after = OPERATOR_CURSOR.read(cursor);
	const conditions = [
		publisher === undefined ? null : sql`publisher_id = ${publisher}`,
		id === undefined ? null : sql`id = ${id}`,
		state === undefined ? null : sql`state = ${state}`,
		// Ids are of the time at which claims were made.
		from === undefined ? null : sql`id >= ${leastIdAt(Date.parse(from))}`,
		to === undefined ? null : sql`id < ${leastIdAt(endOf(to))}`,
		after === null ? null : sql`id < ${after.id}`,
	].filter((condition) => condition !== null);
	const where = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
	const rows = await db.all<ClaimRow>(
		sql`SELECT ${allColumns(claims, "c")} FROM claims c WHERE ${where} ORDER BY c.id DESC LIMIT ${limit + 1}`,
	);
	const page = rows.slice(0, limit);
	const last = page.at(-1);
	return {
		rows: page,
		next: rows.length > limit && last !== undefined ? OPERATOR_CURSOR.write({ at: last.createdAt, id: last.id }) : null,
	};
}

/** @param publisher whose it has to be; absent for whoever's @throws HttpError 404 */
export async function findClaim(db: Database, id: string, publisher?: string): Promise<ClaimRow> {
	const { rows } = await readClaims(db, { id, publisher, limit: 1 });
	if (rows[0] === undefined) throw new HttpError(404, { error: "Not found" });
	return rows[0];
}

export type ClaimChange = {
	verb: string;
	actor: AuditActor;
	at: number;
	by: ThreadEntry["by"];
	state: ClaimState;
	text: string;
	adjustmentId?: string;
};

/**
 * A claim as a text and its next state leave it.
 * @throws HttpError 409 where it has ended; 422 where it holds too many texts
 */
export function nextClaim(claim: ClaimRow, change: ClaimChange): ClaimRow {
	const { at, by, state, text, adjustmentId = claim.adjustmentId } = change;
	assertUnderWay(claim);
	const thread = threadOf(claim);
	// The end of it is always written.
	if (thread.length >= MAX_TEXTS && (state === "open" || state === "answered"))
		throw invalidInput([{ path: "text", message: `may not be added: there are ${MAX_TEXTS}` }]);
	const written = JSON.stringify([...thread, { at: isoTime(at), by, state, text }]);
	return { ...claim, state, thread: written, version: claim.version + 1, changedAt: at, adjustmentId };
}

/**
 * Writes a text to a claim that is under way, and its next state.
 * @throws HttpError 409 where it has ended, or was changed meanwhile; 422 where it holds too many texts
 */
export async function changeClaim(db: Database, claim: ClaimRow, change: ClaimChange): Promise<ClaimRow> {
	const { verb, actor, at, state } = change;
	const next = nextClaim(claim, change);
	const { thread, adjustmentId } = next;
	const isSeen: SQL = sql`id = ${claim.id} AND version = ${claim.version}`;
	const entry = {
		verb,
		subjectKind: "claim",
		subjectId: claim.id,
		before: { state: claim.state },
		after: { state, publisher: claim.publisherId, adjustment: adjustmentId },
	};
	const results = await runTransaction(db, [
		auditStatement(actor, at, entry, { where: sql`EXISTS (SELECT 1 FROM claims WHERE ${isSeen})` }),
		sql`UPDATE claims SET state = ${state}, thread = ${thread}, version = version + 1, changed_at = ${at}, adjustment_id = ${adjustmentId}
			WHERE ${isSeen} RETURNING id`,
	]);
	if (results.at(-1)?.results.length !== 1) throw conflict("Someone else has changed it meanwhile. Nothing was changed: look at it again.");
	return next;
}

/** @throws HttpError 409 where the claim has ended */
export function assertUnderWay({ state }: ClaimRow): void {
	if (state !== "open" && state !== "answered") throw conflict(`It is ${state}, and so at its end.`);
}

function conflict(message: string): HttpError {
	return new HttpError(409, { error: "Conflict", message });
}

function threadOf({ thread }: ClaimRow): ThreadEntry[] {
	return JSON.parse(thread) as ThreadEntry[];
}

export function showClaim(row: ClaimRow): Claim {
	return {
		id: row.id,
		kind: row.kind,
		about: row.aboutId,
		brand: row.brand,
		at: isoTimeOrNull(row.soldAt),
		amount: row.amountMicros === null ? null : formatUsd(row.amountMicros),
		state: row.state,
		thread: threadOf(row),
		created_at: isoTime(row.createdAt),
		changed_at: isoTime(row.changedAt),
	};
}

export function showToOperator(row: ClaimRow): OperatorClaim {
	return { ...showClaim(row), publisher: row.publisherId, adjustment: row.adjustmentId };
}
