/** What an operator key allows, and until when. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { readStaffNames } from "../../db/staff-names.ts";
import { BREAK_GLASS } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { type CredentialKind, OPERATOR_ROLES, type OperatorRole } from "../../lib/access-enums.ts";
import { DISGUISED, findLookAlike, foldName, isDisguised, looksLike } from "../../lib/names.ts";

export type Grant = {
	role: OperatorRole;
	/** Unix milliseconds; null for no end. */
	expiresAt: number | null;
};

/** A name or an address, as it is to stand in the audit. A blank at its end, which nobody sees, would be somebody else's. */
const OPERATOR_NAME = /^[\p{L}\d](?:[\p{L}\d ._@+-]{0,62}[\p{L}\d._@+-])?$/u;

/**
 * As {@link readGrant}, of a key that is to be issued.
 * @throws HttpError 422 also where its holder's name looks like that of another key or member of staff
 */
export async function readNewGrant(db: Database, asked: Asked, now: number): Promise<Grant | undefined> {
	const grant = readGrant(asked, now);
	if (grant === undefined) return undefined;
	const other = findLookAlike(asked.owner, await readStaffNames(db));
	if (other !== undefined) throw invalidInput([{ path: "owner", message: looksLike(other) }]);
	return grant;
}

type Asked = { kind: CredentialKind; owner: string; role?: OperatorRole | undefined; expires?: string | undefined };

/**
 * What a request asks of a new operator key; undefined for every other kind, which has neither a role nor an end.
 * @throws HttpError 422 where it lacks a role, its holder's name is none, or another kind has what only operator keys have
 */
function readGrant({ kind, owner, role, expires }: Asked, now: number): Grant | undefined {
	if (kind !== "operator_key") {
		const [path] = Object.entries({ role, expires }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
		if (path !== undefined) throw invalidInput([{ path, message: "is of operator keys alone" }]);
		return undefined;
	}
	if (isDisguised(owner)) throw invalidInput([{ path: "owner", message: DISGUISED }]);
	if (!OPERATOR_NAME.test(owner)) throw invalidInput([{ path: "owner", message: "must be the name of whoever is to hold it" }]);
	if (foldName(owner) === BREAK_GLASS) throw invalidInput([{ path: "owner", message: "is how whoever holds OPERATOR_KEY is called" }]);
	if (role === undefined) throw invalidInput([{ path: "role", message: `is required: one of ${OPERATOR_ROLES.join(", ")}` }]);
	return { role, expiresAt: readEnd(expires, now) };
}

/** @throws HttpError 422 where it is over */
function readEnd(expires: string | undefined, now: number): number | null {
	if (expires === undefined) return null;
	const at = Date.parse(expires);
	if (at > now) return at;
	throw invalidInput([{ path: "expires", message: "must be to come" }]);
}

/**
 * What the newest valid key of an operator allows: what the one in its place is to allow. @param expires another end
 * @throws HttpError 422 where there is none
 */
export async function readPresentGrant(db: Database, owner: string, expires: string | undefined, now: number): Promise<Grant> {
	const [present] = await db.all<Grant>(sql`SELECT role, expires_at AS "expiresAt" FROM access_keys
		WHERE kind = 'operator_key' AND owner_id = ${owner} AND (expires_at IS NULL OR expires_at > ${now})
		ORDER BY created_at DESC, hash LIMIT 1`);
	if (present === undefined) throw invalidInput([{ path: "owner", message: "has no valid operator key: issue one" }]);
	return expires === undefined ? present : { ...present, expiresAt: readEnd(expires, now) };
}
