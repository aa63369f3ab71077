/** People of the console: who is invited, given a link, signed out, disabled. Each with its audit, in one transaction. */
import { type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { consoleLinks, consolePeople } from "../../db/schema/console.ts";
import { readStaffNames } from "../../db/staff-names.ts";
import { type Actor, BREAK_GLASS } from "../../http/actor.ts";
import { invalidInput, notThere } from "../../http/errors.ts";
import { readInput } from "../../http/read-input.ts";
import { type LinkPurpose, OPERATOR_ROLES, type PersonRole, PUBLISHER_ROLES } from "../../lib/enums.ts";
import { conflict, type HttpError } from "../../lib/http.ts";
import { leastIdAt, newTimeOrderedId } from "../../lib/ids.ts";
import { DISGUISED, findLookAlike, foldName, isDisguised, looksLike } from "../../lib/names.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import { personEmail, personName } from "./people-answers.ts";
import { newToken } from "./token.ts";

export type PeopleDeps = { db: Database; now: () => number };

export type KnownPerson = {
	id: string;
	/** publishers.id; null for staff. */
	publisherId: string | null;
	name: string;
	email: string | null;
	role: PersonRole;
	createdAt: number;
	disabledAt: number | null;
};

export type NewPerson = Pick<KnownPerson, "publisherId" | "name" | "email" | "role">;

/** A link that was made: its token is shown once. */
export type IssuedLink = { person: KnownPerson; token: string; purpose: LinkPurpose; expiresAt: number };

/** Of a session's hash, what names it: too little of it to be of use otherwise. */
export const SESSION_ID_LENGTH = 16;

/** People of a publisher who may sign in, or were made within a day, past which its owners make no more: rows stay, and pages show all. */
const MAX_PEOPLE = 100;

export const LASTS_MS: Record<LinkPurpose, number> = { invitation: 72 * HOUR_MS, sign_in: 15 * MINUTE_MS };

const PERSON = sql`id, publisher_id AS "publisherId", name, email, role, created_at AS "createdAt", disabled_at AS "disabledAt"`;

/** The address of a link. @param consoleUrl without a trailing slash */
export function linkUrl(consoleUrl: string, token: string): string {
	return `${consoleUrl}/console/sign-in/${token}`;
}

/** Everyone of a publisher, or of the staff, those who may sign in first. @param publisherId null for staff */
export function listPeople(db: Database, publisherId: string | null): Promise<KnownPerson[]> {
	return db.all<KnownPerson>(sql`SELECT ${PERSON} FROM console_people WHERE ${isOf(publisherId)}
		ORDER BY CASE WHEN disabled_at IS NULL THEN 0 ELSE 1 END, name`);
}

/** The same by their ids, which are time-ordered. @param after the id before the first one */
export function listPeoplePage(db: Database, publisherId: string | null, after: string, count: number): Promise<KnownPerson[]> {
	return db.all<KnownPerson>(
		sql`SELECT ${PERSON} FROM console_people WHERE ${isOf(publisherId)} AND id > ${after} ORDER BY id LIMIT ${count}`,
	);
}

/** Null where there is nobody of this name there. */
export async function findPersonByName(db: Database, publisherId: string | null, name: string): Promise<KnownPerson | null> {
	const [person] = await db.all<KnownPerson>(sql`SELECT ${PERSON} FROM console_people WHERE ${isOf(publisherId)} AND name = ${name}`);
	return person ?? null;
}

/** @throws HttpError 404 where there is nobody of this id there */
export async function findPerson(db: Database, publisherId: string | null, id: string): Promise<KnownPerson> {
	const [person] = await db.all<KnownPerson>(sql`SELECT ${PERSON} FROM console_people WHERE ${isOf(publisherId)} AND id = ${id}`);
	if (person === undefined) throw notThere("There is no such person.");
	return person;
}

/** Whoever has this id. @throws HttpError 404 where nobody has */
export async function findAnyone(db: Database, id: string): Promise<KnownPerson> {
	const [person] = await db.all<KnownPerson>(sql`SELECT ${PERSON} FROM console_people WHERE id = ${id}`);
	if (person === undefined) throw notThere("There is no such person.");
	return person;
}

/** Makes someone who may sign in, and their first link, an invitation. @throws HttpError 422 that names what is at fault, such as a name that is taken */
export async function invitePerson({ db, now }: PeopleDeps, actor: Actor, wanted: NewPerson): Promise<IssuedLink> {
	const at = now();
	const person = { ...(await readNewPerson(db, wanted)), id: newTimeOrderedId(at), createdAt: at, disabledAt: null };
	const { id, publisherId, name, email, role } = person;
	const { token, statement, expiresAt } = await linkFor(id, "invitation", at);
	const isThere = sql`EXISTS (SELECT 1 FROM console_people WHERE id = ${id})`;
	const after = { publisher: publisherId, name, email, role };
	const [made] = await runTransaction(db, [
		insertRows(consolePeople, [person], sql`AND ${hasRoom(publisherId, actor, at)} ON CONFLICT DO NOTHING RETURNING id`),
		statement,
		auditStatement(actor, at, { verb: "invitePerson", subjectKind: "person", subjectId: id, after }, { where: isThere }),
	]);
	if (made?.results.length !== 1) {
		if ((await findPersonByName(db, publisherId, name)) !== null) throw taken("name");
		await requireRoom(db, publisherId, actor, at);
		throw taken("email");
	}
	return { person, token, purpose: "invitation", expiresAt };
}

/** Another link of someone's, which ends the earlier ones. @throws HttpError 404 where there is nobody, 422 where they are disabled */
export async function issueSignInLink(
	{ db, now }: PeopleDeps,
	actor: Actor,
	person: KnownPerson,
	purpose: LinkPurpose = "sign_in",
): Promise<IssuedLink> {
	const at = now();
	const { token, statement, expiresAt } = await linkFor(person.id, purpose, at);
	const entry = { verb: "issueSignInLink", subjectKind: "person", subjectId: person.id, after: { name: person.name, purpose } } as const;
	const mayHave = sql`EXISTS (SELECT 1 FROM console_people WHERE id = ${person.id} AND disabled_at IS NULL)`;
	const [issued] = await runTransaction(db, [
		sql`SELECT id FROM console_people WHERE id = ${person.id} AND disabled_at IS NULL`,
		endLinks(person.id, at),
		statement,
		auditStatement(actor, at, entry, { where: mayHave }),
	]);
	if (issued?.results.length !== 1) throw disabled();
	return { person, token, purpose, expiresAt };
}

/** @throws HttpError 422 where an owner may make no more */
async function requireRoom(db: Database, publisherId: string | null, actor: Actor, at: number): Promise<void> {
	if ((await db.all(sql`SELECT 1 AS one WHERE ${hasRoom(publisherId, actor, at)}`)).length > 0) return;
	throw noRoom();
}

function noRoom(): HttpError {
	const message = `at most ${MAX_PEOPLE} people may sign in, those included that were made within a day: disable others, or ask your account manager`;
	return invalidInput([{ path: "", message }]);
}

function hasRoom(publisherId: string | null, { role }: Actor, at: number): SQL {
	if (role !== "owner") return sql`true`;
	return sql`(SELECT count(*) FROM console_people WHERE publisher_id = ${publisherId}
		AND (disabled_at IS NULL OR id >= ${leastIdAt(at - DAY_MS)})) < ${MAX_PEOPLE}`;
}

export function taken(path: "name" | "email"): HttpError {
	return invalidInput([{ path, message: "is someone else's" }]);
}

export function disabled(): HttpError {
	return invalidInput([{ path: "name", message: "is disabled: enable them first" }]);
}

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

/** Someone who is to be made. @throws HttpError 422 that names what is at fault */
export async function readNewPerson(db: Database, { publisherId, name, email, role }: NewPerson): Promise<NewPerson> {
	const read = readInput(v.strictObject({ name: personName, email: v.nullable(personEmail) }), { name, email });
	if (publisherId === null && foldName(read.name) === BREAK_GLASS) {
		throw invalidInput([{ path: "name", message: "is how whoever holds OPERATOR_KEY is called" }]);
	}
	if (publisherId !== null) {
		const found = await db.all(sql`SELECT id FROM publishers WHERE id = ${publisherId}`);
		if (found.length === 0) throw invalidInput([{ path: "publisher", message: "is no publisher" }]);
	}
	if (isDisguised(read.name)) throw invalidInput([{ path: "name", message: DISGUISED }]);
	const present = publisherId === null ? await readStaffNames(db) : (await listPeople(db, publisherId)).map((person) => person.name);
	const other = findLookAlike(read.name, present);
	if (other !== undefined) throw invalidInput([{ path: "name", message: looksLike(other) }]);
	return { ...read, publisherId, role: readRole(publisherId, role) };
}

/** @throws HttpError 422 where it is no role of theirs */
export function readRole(publisherId: string | null, role: string): PersonRole {
	const roles: readonly PersonRole[] = publisherId === null ? OPERATOR_ROLES : PUBLISHER_ROLES;
	const given = roles.find((known) => known === role);
	if (given === undefined) throw invalidInput([{ path: "role", message: `must be one of ${roles.join(", ")}` }]);
	return given;
}

function isOf(publisherId: string | null): SQL {
	return publisherId === null ? sql`publisher_id IS NULL` : sql`publisher_id = ${publisherId}`;
}

function endLinks(personId: string, at: number): SQL {
	return sql`UPDATE console_links SET used_at = ${at} WHERE person_id = ${personId} AND used_at IS NULL`;
}

/** A new link, and the statement that writes it where its person may sign in. */
async function linkFor(personId: string, purpose: LinkPurpose, at: number) {
	const { token, hash } = await newToken();
	const expiresAt = at + LASTS_MS[purpose];
	const statement = insertRows(
		consoleLinks,
		[{ hash, personId, purpose, createdAt: at, expiresAt }],
		sql`AND EXISTS (SELECT 1 FROM console_people WHERE id = ${personId} AND disabled_at IS NULL)`,
	);
	return { token, statement, expiresAt };
}
