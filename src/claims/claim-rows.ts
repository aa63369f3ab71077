/** Claims as they are stored: read, listed, and changed with their audit. */
import { type SQL, sql } from "drizzle-orm";
import { type AuditActor, type AuditEntry, auditStatement } from "../audit/audit-statement.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { allColumns } from "../db/json-rows.ts";
import { isConstraintError, isOvertaken } from "../db/overtaken.ts";
import { claims } from "../db/schema/claims.ts";
import { invalidInput, notThere } from "../http/errors.ts";
import type { AuditVerb } from "../lib/access-enums.ts";
import type { ClaimState } from "../lib/enums.ts";
import { conflict } from "../lib/http.ts";
import { leastIdAt } from "../lib/ids.ts";
import { formatUsd } from "../lib/money.ts";
import { OPERATOR_CURSOR } from "../lib/page-cursor.ts";
import { isoTime, isoTimeOrNull } from "../lib/time.ts";
import type { Claim, OperatorClaim, ThreadEntry } from "./claim-answers.ts";

export type ClaimRow = typeof claims.$inferSelect & {
	/** When the adjustment that granted it was undone; null where it stands, or there is none. */
	undoneAt: number | null;
};

/** The fields of a claim `c`. */
export const CLAIM_FIELDS: SQL = sql`${allColumns(claims, "c")},
	(SELECT u.at FROM adjustments u WHERE u.undoes = c.adjustment_id) AS "undoneAt"`;

/** Texts of a claim, to and fro, and those of the publisher's that nobody has answered yet. */
const MAX_TEXTS = 40;
const MAX_UNANSWERED = 5;
/** Characters of the threads of one page, but for its first claim: what is longer comes with the next. */
const MAX_PAGE_LENGTH = 300_000;

type Wanted = {
	publisher?: string | undefined;
	id?: string | undefined;
	state?: ClaimState | undefined;
	/** When they were made, Unix milliseconds; `to` is excluded. */
	from?: number | undefined;
	to?: number | undefined;
	limit: number;
	cursor?: string | undefined;
};

/** The newest first; fewer than asked for where much was written. */
export async function readClaims(db: Database, wanted: Wanted): Promise<{ rows: ClaimRow[]; next: string | null }> {
	const { publisher, id, state, from, to, limit, cursor } = wanted;
	const after = OPERATOR_CURSOR.read(cursor);
	const conditions = [
		publisher === undefined ? null : sql`publisher_id = ${publisher}`,
		id === undefined ? null : sql`id = ${id}`,
		state === undefined ? null : sql`state = ${state}`,
		// Ids are of the time at which claims were made.
		from === undefined ? null : sql`id >= ${leastIdAt(from)}`,
		to === undefined ? null : sql`id < ${leastIdAt(to)}`,
		after === null ? null : sql`id < ${after.id}`,
	].filter((condition) => condition !== null);
	const where = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
	const rows = await db.all<ClaimRow & { found: number }>(
		sql`SELECT ${CLAIM_FIELDS}, w.found FROM (
				SELECT id, count(*) OVER () AS found, sum(length) OVER (ORDER BY id DESC) - length AS before
				FROM (SELECT id, length(thread) AS length FROM claims WHERE ${where} ORDER BY id DESC LIMIT ${limit + 1}) p
			) w CROSS JOIN claims c
			WHERE c.id = w.id AND w.before < ${MAX_PAGE_LENGTH} ORDER BY c.id DESC`,
	);
	const page = rows.slice(0, limit).map(({ found: _, ...row }) => row);
	const last = page.at(-1);
	const hasMore = last !== undefined && (rows[0]?.found ?? 0) > page.length;
	return { rows: page, next: hasMore ? OPERATOR_CURSOR.write({ at: last.createdAt, id: last.id }) : null };
}

/** @param publisher whose it has to be; absent for whoever's @throws HttpError 404 */
export async function findClaim(db: Database, id: string, publisher?: string): Promise<ClaimRow> {
	const { rows } = await readClaims(db, { id, publisher, limit: 1 });
	if (rows[0] === undefined) throw notThere("There is no such claim.");
	return rows[0];
}

export type ClaimChange = {
	verb: AuditVerb;
	actor: AuditActor;
	at: number;
	by: ThreadEntry["by"];
	state: ClaimState;
	text: string;
	adjustmentId?: string;
	/** How many texts were read before this was written; absent for whoever does not say. */
	seen?: number | undefined;
};

/**
 * A claim as a text and its next state leave it.
 * @throws HttpError 412 where it has ended, or has other texts than were read; 422 where it holds too many, or too many wait for an answer
 */
export function nextClaim(claim: ClaimRow, change: ClaimChange): ClaimRow {
	const { at, by, state, text, adjustmentId = claim.adjustmentId, seen } = change;
	assertUnderWay(claim);
	const thread = threadOf(claim);
	if (seen !== undefined && seen !== thread.length)
		throw conflict("Something was written to it meanwhile. Read that first, and send this again.");
	// The end of it is always written.
	if (thread.length >= MAX_TEXTS && (state === "open" || state === "answered"))
		throw invalidInput([{ path: "text", message: `may not be added: there are ${MAX_TEXTS}` }]);
	const unanswered = thread.length - 1 - thread.findLastIndex((entry) => entry.by === "network");
	if (by === "publisher" && state === "open" && unanswered >= MAX_UNANSWERED)
		throw invalidInput([{ path: "text", message: `may not be added: ${MAX_UNANSWERED} wait for an answer` }]);
	const written = JSON.stringify([...thread, { at: isoTime(at), by, state, text }]);
	return { ...claim, state, thread: written, version: claim.version + 1, changedAt: at, adjustmentId };
}

/**
 * What writes a claim as {@link nextClaim} leaves it, with its audit. Where the claim was changed meanwhile, its transaction fails by a
 * constraint.
 */
export function writeClaim(claim: ClaimRow, change: ClaimChange, { state, thread, version, changedAt, adjustmentId }: ClaimRow): SQL[] {
	const entry: AuditEntry = {
		verb: change.verb,
		subjectKind: "claim",
		subjectId: claim.id,
		before: { state: claim.state },
		after: { state, publisher: claim.publisherId, adjustment: adjustmentId },
	};
	return [
		auditStatement(change.actor, change.at, entry),
		// Null, which its column refuses, where another has changed it.
		sql`UPDATE claims SET state = ${state}, thread = ${thread}, changed_at = ${changedAt}, adjustment_id = ${adjustmentId},
			version = CASE WHEN version = ${claim.version} THEN CAST(${version} AS BIGINT) END WHERE id = ${claim.id}`,
	];
}

/**
 * Writes a text to a claim that is under way, and its next state.
 * @throws HttpError 412 where it has ended, or was changed meanwhile; 422 as {@link nextClaim}
 */
export async function changeClaim(db: Database, claim: ClaimRow, change: ClaimChange): Promise<ClaimRow> {
	const next = nextClaim(claim, change);
	await unlessChanged(() => runTransaction(db, writeClaim(claim, change, next)));
	return next;
}

/** Runs what writes a claim. @throws HttpError 412 where another has changed it meanwhile */
export async function unlessChanged<Result>(write: () => Promise<Result>): Promise<Result> {
	try {
		return await write();
	} catch (error) {
		if (!isConstraintError(error) && !isOvertaken(error)) throw error;
		throw conflict("Someone else has changed it meanwhile. Nothing was changed: look at it again.");
	}
}

/** @throws HttpError 412 where the claim has ended */
export function assertUnderWay({ state }: ClaimRow): void {
	if (state !== "open" && state !== "answered") throw conflict(`It is ${state}, and so at its end.`);
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
		undone_at: isoTimeOrNull(row.undoneAt),
	};
}

export function showToOperator(row: ClaimRow): OperatorClaim {
	return { ...showClaim(row), publisher: row.publisherId, adjustment: row.adjustmentId };
}
