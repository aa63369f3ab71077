/** Sessions: who is signed in, for how long, and how lately they proved it. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { consoleSessions } from "../../db/schema/console.ts";
import type { Actor } from "../../http/actor.ts";
import { notThere } from "../../http/errors.ts";
import type { OperatorRole, PersonRole, PublisherRole, SignInMethod } from "../../lib/access-enums.ts";
import type { PublisherStatus } from "../../lib/enums.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../lib/time.ts";
import { MAX_SESSION_MS } from "../../retention/kept-for.ts";
import { hashToken, newToken, type Token } from "./token.ts";

export type SeenPublisher = { id: string; name: string; status: PublisherStatus };

/** Whoever is signed in. */
export type Person = {
	id: string;
	name: string;
	email: string | null;
	role: PersonRole;
	/** Theirs; null for staff. */
	publisher: SeenPublisher | null;
};

export type Session = {
	hash: string;
	person: Person;
	method: SignInMethod;
	createdAt: number;
	lastSeenAt: number;
	/** When a passkey or a one-time link was last used; null where neither was. */
	freshAt: number | null;
	/** The publisher whose console a member of staff looks at. */
	viewing: SeenPublisher | null;
};

/** How long a session lasts unused, and in all. */
const LASTS = { publisher: { idleMs: 12 * HOUR_MS, allMs: MAX_SESSION_MS }, staff: { idleMs: 8 * HOUR_MS, allMs: DAY_MS } } as const;

/** How long a passkey or a link counts for what is asked for again. */
export const FRESH_MS = 10 * MINUTE_MS;
const SEEN_NOTED_MS = MINUTE_MS;

export function isStaff(role: PersonRole): role is OperatorRole {
	return role !== "owner" && role !== "analyst";
}

/** Whether a role of a publisher may do what takes another. */
export function mayActForPublisher(held: PublisherRole, needed: PublisherRole): boolean {
	return held === "owner" || needed === "analyst";
}

export function isFresh({ freshAt }: Pick<Session, "freshAt">, now: number): boolean {
	return freshAt !== null && now - freshAt < FRESH_MS;
}

/** Who makes the changes of a person. */
export function actorOfPerson({ name, role, publisher }: Pick<Person, "name" | "role" | "publisher">, requestId: string): Actor {
	return { name: publisher === null ? name : `${name} (${publisher.id})`, role, requestId };
}

type Row = Omit<Session, "person" | "viewing"> & {
	personId: string;
	name: string;
	email: string | null;
	role: PersonRole;
	publisherId: string | null;
	seenId: string | null;
	seenName: string;
	seenStatus: SeenPublisher["status"];
};

/** The session of a cookie's token, as it is stored now; null where there is none, it is over, or its person may not sign in any more. */
export async function findSession(db: Database, token: string | undefined, now: number): Promise<Session | null> {
	const hash = await hashToken(token);
	if (hash === null) return null;
	const [row] =
		await db.all<Row>(sql`SELECT s.hash, s.method, s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt", s.fresh_at AS "freshAt",
			p.id AS "personId", p.name, p.email, p.role, p.publisher_id AS "publisherId",
			u.id AS "seenId", u.name AS "seenName", u.status AS "seenStatus"
		FROM console_sessions s JOIN console_people p ON p.id = s.person_id
		LEFT JOIN publishers u ON u.id = coalesce(p.publisher_id, s.viewing)
		WHERE s.hash = ${hash} AND p.disabled_at IS NULL`);
	if (row === undefined) return null;
	const { personId, name, email, role, publisherId, seenId, seenName, seenStatus, ...session } = row;
	if (isOver(row, publisherId === null, now)) return null;
	const seen = seenId === null ? null : { id: seenId, name: seenName, status: seenStatus };
	if (publisherId !== null && seen === null) return null;
	const person = { id: personId, name, email, role, publisher: publisherId === null ? null : seen };
	return { ...session, person, viewing: publisherId === null ? seen : null };
}

/** Whether a session has ended by itself. */
export function isOver({ createdAt, lastSeenAt }: Pick<Session, "createdAt" | "lastSeenAt">, ofStaff: boolean, now: number): boolean {
	const { idleMs, allMs } = LASTS[ofStaff ? "staff" : "publisher"];
	return now - createdAt >= allMs || now - lastSeenAt >= idleMs;
}

/** Notes that a session is in use, once a minute. */
export async function noteSeen(db: Database, { hash, lastSeenAt }: Session, now: number): Promise<void> {
	if (now - lastSeenAt < SEEN_NOTED_MS) return;
	await db.run(sql`UPDATE console_sessions SET last_seen_at = ${now} WHERE hash = ${hash} AND last_seen_at < ${now}`);
}

/** How long the browser keeps the cookie of a session: as long as it can last. */
export function cookieSeconds(role: PersonRole): number {
	return LASTS[isStaff(role) ? "staff" : "publisher"].allMs / SECOND_MS;
}

export type BeginDeps = { db: Database; now: () => number };
export type Beginner = Pick<Person, "id" | "name" | "role" | "publisher">;
export type Beginning = { person: Beginner; method: SignInMethod; requestId: string };

/**
 * Signs a person in: the statements that begin the session, with its audit, where `where` holds. They belong into the transaction of what
 * proves the person.
 * @param where a condition on the database as the statements before leave it
 */
export function sessionStatements({ hash }: Token, { person, method, requestId }: Beginning, at: number, where: SQL): SQL[] {
	const row = { hash, personId: person.id, method, createdAt: at, lastSeenAt: at, freshAt: method === "access" ? null : at };
	const entry = { verb: "signIn", subjectKind: "person", subjectId: person.id, after: { method } } as const;
	return [
		insertRows(
			consoleSessions,
			[row],
			sql`AND EXISTS (SELECT 1 FROM console_people WHERE id = ${person.id} AND disabled_at IS NULL) AND ${where}`,
		),
		auditStatement(actorOfPerson(person, requestId), at, entry, {
			where: sql`EXISTS (SELECT 1 FROM console_sessions WHERE hash = ${hash})`,
		}),
	];
}

/**
 * Signs a person in who has proved who they are.
 * @param where a condition by which what has proved it still does
 * @returns the token of the session; null where they may not sign in any more
 */
export async function beginSession({ db, now }: BeginDeps, beginning: Beginning, where = sql`true`): Promise<string | null> {
	const token = await newToken();
	const at = now();
	const results = await runTransaction(db, [
		...sessionStatements(token, beginning, at, where),
		sql`SELECT hash FROM console_sessions WHERE hash = ${token.hash}`,
	]);
	return results.at(-1)?.results.length === 1 ? token.token : null;
}

/**
 * A passkey was used in a session: for some minutes it may do what asks for one.
 * @param where a condition by which it still may be used
 */
export async function freshenSession(db: Database, hash: string, now: number, where = sql`true`): Promise<void> {
	await db.run(sql`UPDATE console_sessions SET fresh_at = ${now} WHERE hash = ${hash} AND ${where}`);
}

export async function endSession(db: Database, hash: string): Promise<void> {
	await db.run(sql`DELETE FROM console_sessions WHERE hash = ${hash}`);
}

/** Ends the session that a browser had when it was given another: no cookie leads to it any more. */
export async function endReplaced(db: Database, session: Session | null): Promise<void> {
	if (session !== null) await endSession(db, session.hash);
}

/**
 * Shows a member of staff a publisher's console, or their own again.
 * @param publisherId null for their own
 * @throws HttpError 404 where there is no such publisher
 */
export async function viewAs({ db, now }: BeginDeps, session: Session, publisherId: string | null, requestId: string): Promise<void> {
	if (publisherId !== null && (await db.all(sql`SELECT id FROM publishers WHERE id = ${publisherId}`)).length === 0) {
		throw notThere("There is no such publisher.");
	}
	const entry = {
		verb: "viewAs",
		subjectKind: "publisher",
		subjectId: publisherId ?? session.viewing?.id ?? "",
		after: { viewing: publisherId !== null },
	} as const;
	await runTransaction(db, [
		sql`UPDATE console_sessions SET viewing = ${publisherId} WHERE hash = ${session.hash}`,
		auditStatement(actorOfPerson(session.person, requestId), now(), entry),
	]);
}
