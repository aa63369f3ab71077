/** Signs people of the console out, disables and enables them, and changes their roles. Each with its audit, in one transaction. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput, notThere } from "../../http/errors.ts";
import type { PersonRole } from "../../lib/access-enums.ts";
import { conflict } from "../../lib/http.ts";
import { endLinks, MAX_PEOPLE, noRoom } from "./invite.ts";
import { type KnownPerson, type PeopleDeps, readRole } from "./people.ts";

/** Of a session's hash, what names it: too little of it to be of use otherwise. */
export const SESSION_ID_LENGTH = 16;

/** Ends one session of someone's. @param id the beginning of its hash @throws HttpError 404 where they have no such session */
export async function endOneSession({ db, now }: PeopleDeps, actor: Actor, person: KnownPerson, id: string): Promise<void> {
	const isIt = sql`person_id = ${person.id} AND substr(hash, 1, ${SESSION_ID_LENGTH}) = ${id}`;
	const entry = { verb: "endSessions", subjectKind: "person", subjectId: person.id, after: { session: id } } as const;
	const [, ended] = await runTransaction(db, [
		auditStatement(actor, now(), entry, { where: sql`EXISTS (SELECT 1 FROM console_sessions WHERE ${isIt})` }),
		sql`DELETE FROM console_sessions WHERE ${isIt} RETURNING hash`,
	]);
	if (ended?.results.length !== 1) throw notThere("There is no such session: it may have ended.");
}

/** Signs someone out everywhere, and ends their links. */
export async function endSessions({ db, now }: PeopleDeps, actor: Actor, person: KnownPerson): Promise<void> {
	const at = now();
	await runTransaction(db, [
		auditStatement(
			actor,
			at,
			{ verb: "endSessions", subjectKind: "person", subjectId: person.id },
			{ counts: sql`'{"sessions":' || (SELECT count(*) FROM console_sessions WHERE person_id = ${person.id}) || '}'` },
		),
		sql`DELETE FROM console_sessions WHERE person_id = ${person.id}`,
		endLinks(person.id, at),
	]);
}

/**
 * They may not sign in any more, and are signed out everywhere; doing it again changes nothing.
 * @throws HttpError 422 where they are the last admin of the staff who may, or the last owner and an owner does it
 */
export async function disablePerson({ db, now }: PeopleDeps, actor: Actor, person: KnownPerson): Promise<void> {
	const at = now();
	const goes = sql`id = ${person.id} AND disabled_at IS NULL AND NOT (${isNeeded(person.id, actor)})`;
	const isGone = sql`EXISTS (SELECT 1 FROM console_people WHERE id = ${person.id} AND disabled_at IS NOT NULL)`;
	const results = await runTransaction(db, [
		auditStatement(
			actor,
			at,
			{ verb: "disablePerson", subjectKind: "person", subjectId: person.id, after: { name: person.name } },
			{ where: sql`EXISTS (SELECT 1 FROM console_people WHERE ${goes})` },
		),
		sql`UPDATE console_people SET disabled_at = ${at} WHERE ${goes}`,
		sql`DELETE FROM console_sessions WHERE person_id = ${person.id} AND ${isGone}`,
		sql`UPDATE console_links SET used_at = ${at} WHERE person_id = ${person.id} AND used_at IS NULL AND ${isGone}`,
		sql`SELECT id FROM console_people WHERE id = ${person.id} AND disabled_at IS NOT NULL`,
	]);
	if (results.at(-1)?.results.length !== 1) throw invalidInput([{ path: "", message: neededAs(actor) }]);
}

/**
 * They may sign in again, by a new link or the passkeys that they have.
 * @throws HttpError 422 where an owner does it, and {@link MAX_PEOPLE} may sign in
 */
export async function enablePerson({ db, now }: PeopleDeps, actor: Actor, person: KnownPerson): Promise<void> {
	const mayEnter = sql`SELECT count(*) FROM console_people WHERE publisher_id = ${person.publisherId} AND disabled_at IS NULL`;
	const changes = sql`id = ${person.id} AND disabled_at IS NOT NULL AND ${actor.role === "owner" ? sql`(${mayEnter}) < ${MAX_PEOPLE}` : sql`true`}`;
	const [, , left] = await runTransaction(db, [
		auditStatement(
			actor,
			now(),
			{ verb: "enablePerson", subjectKind: "person", subjectId: person.id, after: { name: person.name } },
			{ where: sql`EXISTS (SELECT 1 FROM console_people WHERE ${changes})` },
		),
		sql`UPDATE console_people SET disabled_at = NULL WHERE ${changes}`,
		sql`SELECT id FROM console_people WHERE id = ${person.id} AND disabled_at IS NOT NULL`,
	]);
	if (left?.results.length !== 0) throw noRoom();
}

/**
 * Gives someone another role, which holds from their next page on.
 * @throws HttpError 422 where it is no role of theirs, they are the last admin of the staff, or the last owner and an owner does it; 412
 * where they have another role by now than `person` says
 */
export async function changeRole({ db, now }: PeopleDeps, actor: Actor, person: KnownPerson, role: string): Promise<void> {
	const given = readRole(person.publisherId, role);
	if (given === person.role) return;
	const changes = sql`id = ${person.id} AND role = ${person.role} AND NOT (${isNeeded(person.id, actor)})`;
	const entry = {
		verb: "changeRole",
		subjectKind: "person",
		subjectId: person.id,
		before: { role: person.role },
		after: { role: given },
	} as const;
	const [, , present] = await runTransaction(db, [
		auditStatement(actor, now(), entry, { where: sql`EXISTS (SELECT 1 FROM console_people WHERE ${changes})` }),
		sql`UPDATE console_people SET role = ${given} WHERE ${changes}`,
		sql`SELECT role FROM console_people WHERE id = ${person.id}`,
	]);
	const held = (present?.results as { role: PersonRole }[] | undefined)?.[0]?.role;
	if (held === given) return;
	if (held === person.role) throw invalidInput([{ path: "role", message: neededAs(actor) }]);
	throw conflict(`Someone has made them ${held} meanwhile. Nothing was changed.`);
}

/** @param was the role that whoever changes it has seen @throws HttpError 412 where it is another one by now */
export function assertRole(person: KnownPerson, was: string | undefined): void {
	if (was === undefined || was === person.role) return;
	throw conflict(`Their role is ${person.role} by now. Nothing was changed: look at the list again.`);
}

/** @throws HttpError 422 where someone may not be disabled, or given another role, as {@link disablePerson} and {@link changeRole} have it */
export async function assertNotNeeded(db: Database, actor: Actor, person: KnownPerson, path: "" | "role"): Promise<void> {
	const needed = await db.all(sql`SELECT id FROM console_people WHERE id = ${person.id} AND ${isNeeded(person.id, actor)}`);
	if (needed.length > 0) throw invalidInput([{ path, message: neededAs(actor) }]);
}

function neededAs({ role }: Actor): string {
	return `they are the last ${role === "owner" ? role : "admin"} who may sign in: make another one first`;
}

/**
 * Of the row of a person: nobody would be left who lets others in. Staff may take a publisher's last owner, since they can invite another;
 * of the staff whoever holds OPERATOR_KEY alone could.
 */
function isNeeded(id: string, { role }: Actor): SQL {
	return role === "owner"
		? sql`role = 'owner' AND disabled_at IS NULL AND NOT EXISTS (SELECT 1 FROM console_people o
			WHERE o.publisher_id = console_people.publisher_id AND o.role = 'owner' AND o.disabled_at IS NULL AND o.id <> ${id})`
		: sql`publisher_id IS NULL AND role = 'admin' AND disabled_at IS NULL AND NOT EXISTS (SELECT 1 FROM console_people o
			WHERE o.publisher_id IS NULL AND o.role = 'admin' AND o.disabled_at IS NULL AND o.id <> ${id})`;
}
