/** People of the console: who is there, and who may be. */
import { type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import type { Database } from "../../db/client.ts";
import { readStaffNames } from "../../db/staff-names.ts";
import { BREAK_GLASS } from "../../http/actor.ts";
import { invalidInput, notThere } from "../../http/errors.ts";
import { readInput } from "../../http/read-input.ts";
import { OPERATOR_ROLES, type PersonRole, PUBLISHER_ROLES } from "../../lib/access-enums.ts";
import type { HttpError } from "../../lib/http.ts";
import { DISGUISED, findLookAlike, foldName, isDisguised, looksLike } from "../../lib/names.ts";
import { personEmail, personName } from "./people-answers.ts";

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

const PERSON = sql`id, publisher_id AS "publisherId", name, email, role, created_at AS "createdAt", disabled_at AS "disabledAt"`;

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

export function taken(path: "name" | "email"): HttpError {
	return invalidInput([{ path, message: "is someone else's" }]);
}

export function disabled(): HttpError {
	return invalidInput([{ path: "name", message: "is disabled: enable them first" }]);
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
