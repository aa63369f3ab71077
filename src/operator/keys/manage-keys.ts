/** Issues, rotates, revokes and lists keys: Access Keys and Publisher Keys of publishers, platform keys, and operator keys. */
import { and, asc, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { MANIFEST_CHANGED } from "../../db/schema/book.ts";
import { platforms } from "../../db/schema/platforms.ts";
import { accessKeys, publishers } from "../../db/schema/publishers.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import type { AuditVerb, CredentialKind, KeyKind } from "../../lib/access-enums.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { newKey } from "../../lib/key-format.ts";
import { HOUR_MS, isoTime, isoTimeOrNull } from "../../lib/time.ts";
import type { CredentialState, NewCredential } from "./keys-answers.ts";
import type { Grant } from "./operator-grant.ts";
import { hasRoom, noRoom, type OwnedKind } from "./require-room.ts";

export type KeysDeps = { db: Database; now: () => number };

/** Which credentials a list shows; all of them where nothing is named. */
export type ListFilter = {
	kind?: CredentialKind | undefined;
	owner?: string | undefined;
	/** Of a key, as the list has it. */
	id?: string | undefined;
};

/** Of a key's id: the beginning of its hash. */
export const ID_LENGTH = 12;

/** A key to be made; an operator key with what it allows. */
export type NewKey = OwnedKind<KeyKind> & { grant?: Grant | undefined };

/**
 * A further key: those that the owner has stay valid.
 * @param verb the operation that the audit names
 * @throws HttpError 422 where there is no such owner, or it has as many as it may
 */
export async function issueKey({ db, now }: KeysDeps, actor: Actor, wanted: NewKey, verb: AuditVerb = "issueKeys"): Promise<NewCredential> {
	const { kind, owner } = wanted;
	await requireOwner(db, kind, owner);
	const at = now();
	const { row, shown } = await makeKey(wanted, at);
	const { value: _, ...after } = shown;
	const [added] = await runTransaction(db, [
		addKey(row, hasRoom(wanted, at, null)),
		markBook(kind, owner),
		auditStatement(actor, at, { verb, subjectKind: kind, subjectId: owner, after }, { where: isAdded(row) }),
	]);
	if (added?.results.length !== 1) throw noRoom();
	return shown;
}

/**
 * A new key, in place of the owner's others of that kind: they end after the overlap, or when they were to end before.
 * @throws HttpError 422 where there is no such owner, or it has as many as it may
 */
export async function rotateKey(
	{ db, now }: KeysDeps,
	actor: Actor,
	{ overlapHours, ...wanted }: NewKey & { overlapHours: number },
): Promise<NewCredential> {
	const { kind, owner } = wanted;
	await requireOwner(db, kind, owner);
	const at = now();
	const { row, shown } = await makeKey(wanted, at);
	const { value: _, ...made } = shown;
	const endsAt = at + Math.round(overlapHours * HOUR_MS);
	const entry = { verb: "rotateKeys", subjectKind: kind, subjectId: owner, after: { ...made, others_end_at: isoTime(endsAt) } } as const;
	const [added] = await runTransaction(db, [
		addKey(row, hasRoom(wanted, at, overlapHours)),
		sql`UPDATE access_keys SET expires_at = ${endsAt} WHERE kind = ${kind} AND owner_id = ${owner} AND hash <> ${row.hash}
			AND (expires_at IS NULL OR expires_at > ${endsAt}) AND ${isAdded(row)}`,
		markBook(kind, owner),
		auditStatement(actor, at, entry, { where: isAdded(row) }),
	]);
	if (added?.results.length !== 1) throw noRoom();
	return shown;
}

/** Ends one valid key, or all of the owner's of that kind. Returns how many. @throws HttpError 422 where there is none */
export async function revokeKeys(
	{ db, now }: KeysDeps,
	actor: Actor,
	{ kind, owner, id }: OwnedKind<KeyKind> & { id?: string | undefined },
): Promise<number> {
	await requireOwner(db, kind, owner);
	const at = now();
	const isEnded = sql`kind = ${kind} AND owner_id = ${owner} AND (expires_at IS NULL OR expires_at > ${at})
		${id === undefined ? sql`` : sql`AND substr(hash, 1, ${ID_LENGTH}) = ${id}`}`;
	const entry = { verb: "revokeKeys", subjectKind: kind, subjectId: owner, after: { id: id ?? null } } as const;
	const [, result] = await runTransaction(db, [
		auditStatement(actor, at, entry, {
			where: sql`EXISTS (SELECT 1 FROM access_keys WHERE ${isEnded})`,
			counts: sql`'{"keys":' || (SELECT count(*) FROM access_keys WHERE ${isEnded}) || '}'`,
		}),
		sql`UPDATE access_keys SET expires_at = ${at} WHERE ${isEnded} RETURNING hash`,
		markBook(kind, owner),
	]);
	const ended = result?.results ?? [];
	if (ended.length === 0) throw invalidInput([{ path: id === undefined ? "owner" : "id", message: "has no such valid key" }]);
	return ended.length;
}

/** Keys that are or were valid, the newest of an owner first. */
export async function listKeys({ db, now }: KeysDeps, { kind, owner, id }: ListFilter): Promise<CredentialState[]> {
	const at = now();
	const rows = await db
		.select()
		.from(accessKeys)
		.where(
			and(
				kind === undefined ? undefined : eq(accessKeys.kind, kind as KeyKind),
				owner === undefined ? undefined : eq(accessKeys.ownerId, owner),
				// A hash has no letter behind f.
				id === undefined ? undefined : and(gte(accessKeys.hash, id), lt(accessKeys.hash, `${id}g`)),
			),
		)
		.orderBy(asc(accessKeys.ownerId), asc(accessKeys.kind), desc(accessKeys.createdAt), asc(accessKeys.hash));
	return rows.map((row) => ({
		owner: row.ownerId,
		kind: row.kind,
		id: row.hash.slice(0, ID_LENGTH),
		...describeEnd(row.expiresAt, at),
		created_at: isoTime(row.createdAt),
		last_used_on: row.lastUsedOn,
		...(row.role !== null && { role: row.role, last_used_at: isoTimeOrNull(row.lastUsedAt) }),
	}));
}

export function describeEnd(endsAt: number | null, now: number): Pick<CredentialState, "state" | "ends_at"> {
	if (endsAt === null) return { state: "valid", ends_at: null };
	return { state: endsAt > now ? "ending" : "ended", ends_at: isoTime(endsAt) };
}

/** @throws HttpError 422 where there is no such publisher or platform */
export async function requireOwner(db: Database, kind: CredentialKind, owner: string): Promise<void> {
	// Its holder is in no file: any name will do.
	if (kind === "operator_key") return;
	const table = kind === "platform_key" ? platforms : publishers;
	const found = await db.select({ id: table.id }).from(table).where(eq(table.id, owner));
	if (found.length === 0) throw invalidInput([{ path: "owner", message: `is no ${kind === "platform_key" ? "platform" : "publisher"}` }]);
}

async function makeKey({ kind, owner, grant }: NewKey, now: number) {
	const value = newKey(kind);
	const hash = await sha256Hex(value);
	const endsAt = grant?.expiresAt ?? null;
	const shown: NewCredential = {
		owner,
		kind,
		id: hash.slice(0, ID_LENGTH),
		...(grant !== undefined && { role: grant.role, ends_at: isoTimeOrNull(endsAt) }),
		value,
	};
	return { row: { hash, kind, ownerId: owner, createdAt: now, role: grant?.role ?? null, expiresAt: endsAt }, shown };
}

/** @param where a condition on the database as it is then */
function addKey(row: typeof accessKeys.$inferInsert, where: SQL): SQL {
	return insertRows(accessKeys, [row], sql`AND ${where} RETURNING hash`);
}

function isAdded({ hash }: Pick<typeof accessKeys.$inferInsert, "hash">): SQL {
	return sql`EXISTS (SELECT 1 FROM access_keys WHERE hash = ${hash})`;
}

/** The book has the Access Keys of publishers with options (`openrtb.nbr`): it is to be published after this. */
function markBook(kind: KeyKind, owner: string): SQL {
	return sql`UPDATE book_state SET manifest_dirty = ${MANIFEST_CHANGED}
		WHERE ${kind} = 'access_key' AND EXISTS (SELECT 1 FROM publishers WHERE id = ${owner} AND openrtb IS NOT NULL)`;
}
