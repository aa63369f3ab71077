/** Lets people into the console: invitations and links to sign in. Each with its audit, in one transaction. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { consoleLinks, consolePeople } from "../../db/schema/console.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import type { LinkPurpose } from "../../lib/access-enums.ts";
import type { HttpError } from "../../lib/http.ts";
import { leastIdAt, newTimeOrderedId } from "../../lib/ids.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/time.ts";
import { disabled, findPersonByName, type KnownPerson, type NewPerson, type PeopleDeps, readNewPerson, taken } from "./people.ts";
import { newToken } from "./token.ts";

/** A link that was made: its token is shown once. */
export type IssuedLink = { person: KnownPerson; token: string; purpose: LinkPurpose; expiresAt: number };

/** People of a publisher who may sign in, or were made within a day, past which its owners make no more: rows stay, and pages show all. */
export const MAX_PEOPLE = 100;

export const LASTS_MS: Record<LinkPurpose, number> = { invitation: 72 * HOUR_MS, sign_in: 15 * MINUTE_MS };

/** The address of a link. @param consoleUrl without a trailing slash */
export function linkUrl(consoleUrl: string, token: string): string {
	return `${consoleUrl}/console/sign-in/${token}`;
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

export function noRoom(): HttpError {
	const message = `at most ${MAX_PEOPLE} people may sign in, those included that were made within a day: disable others, or ask your account manager`;
	return invalidInput([{ path: "", message }]);
}

function hasRoom(publisherId: string | null, { role }: Actor, at: number): SQL {
	if (role !== "owner") return sql`true`;
	return sql`(SELECT count(*) FROM console_people WHERE publisher_id = ${publisherId}
		AND (disabled_at IS NULL OR id >= ${leastIdAt(at - DAY_MS)})) < ${MAX_PEOPLE}`;
}

export function endLinks(personId: string, at: number): SQL {
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
