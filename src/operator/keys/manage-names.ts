/**
 * Rotates, ends and lists publisher ids and identities. A publisher has one of each at a time; those it had stay its own for
 * good, so that clicks on links made under them still find it.
 */
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { bookState, MANIFEST_CHANGED } from "../../db/schema/book.ts";
import { publisherNames, publishers } from "../../db/schema/publishers.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import type { NameKind } from "../../lib/access-enums.ts";
import { HOUR_MS, isoTime } from "../../lib/time.ts";
import type { CredentialState, NewCredential } from "./keys-answers.ts";
import { describeEnd, type KeysDeps, type ListFilter } from "./manage-keys.ts";
import { newName } from "./new-credentials.ts";
import type { OwnedKind } from "./require-room.ts";

type Publisher = typeof publishers.$inferSelect;

/**
 * A new name in place of the present one, which requests may use until the overlap ends. The book is to be published after this.
 * @throws HttpError 422 where there is no such publisher, or the name is or was another's
 */
export async function rotateName(
	{ db, now }: KeysDeps,
	actor: Actor,
	{ kind, owner, overlapHours, value = newName(kind) }: OwnedKind<NameKind> & { overlapHours: number; value?: string | undefined },
): Promise<NewCredential> {
	const publisher = await requirePublisher(db, owner);
	const present = kind === "publisher_id" ? publisher.publisherId : publisher.publisherIdentity;
	const isNew = and(eq(publisherNames.kind, kind), eq(publisherNames.value, value));
	const [taken] = await db.select().from(publisherNames).where(isNew);
	if (taken !== undefined && taken.publisherId !== owner) throw invalidInput([{ path: "value", message: "is or was another publisher's" }]);
	const at = now();
	const endsAt = at + Math.round(overlapHours * HOUR_MS);
	// If another publisher has taken the name since, the insert leaves it, and nothing else happens.
	const isMine = sql`EXISTS (SELECT 1 FROM publisher_names WHERE kind = ${kind} AND value = ${value} AND publisher_id = ${owner})`;
	await runTransaction(db, [
		db.insert(publisherNames).values({ kind, value, publisherId: owner }).onConflictDoNothing(),
		sql`UPDATE publisher_names SET expires_at = CASE WHEN value = ${value} THEN NULL ELSE CAST(${endsAt} AS BIGINT) END
			WHERE kind = ${kind} AND publisher_id = ${owner} AND (value = ${value} OR expires_at IS NULL OR expires_at > ${endsAt}) AND ${isMine}`,
		kind === "publisher_id"
			? sql`UPDATE publishers SET publisher_id = ${value} WHERE id = ${owner} AND ${isMine}`
			: sql`UPDATE publishers SET publisher_identity = ${value} WHERE id = ${owner} AND ${isMine}`,
		db.update(bookState).set({ manifestDirty: MANIFEST_CHANGED }),
		...noteChange(owner, { [kind]: present }, { [kind]: value }, actor, at, isMine),
		auditStatement(
			actor,
			at,
			{
				verb: "rotateKeys",
				subjectKind: kind,
				subjectId: owner,
				before: { value: present },
				after: { value, others_end_at: isoTime(endsAt) },
			},
			{ where: isMine },
		),
	]);
	const [stored] = await db.select().from(publisherNames).where(isNew);
	if (stored?.publisherId !== owner) throw invalidInput([{ path: "value", message: "is or was another publisher's" }]);
	return { owner, kind, id: value, value };
}

/** A name stands in the network file: whoever has read the file before is told that it has changed. */
function noteChange(id: string, before: object, after: object, actor: Actor, at: number, isMine: SQL): SQL[] {
	const entries = JSON.stringify([{ section: "publishers", id, before, after }]);
	return [
		sql`INSERT INTO network_versions (version, id, kind, at, actor)
			SELECT CASE WHEN coalesce(MAX(version), 0) < CAST(${at} AS BIGINT) THEN CAST(${at} AS BIGINT) ELSE MAX(version) + 1 END,
				${crypto.randomUUID()}, 'names', CAST(${at} AS BIGINT), ${actor.name}
			FROM network_versions HAVING ${isMine}`,
		sql`INSERT INTO network_changes (version, seq, entries) SELECT MAX(version), 0, ${entries} FROM network_versions HAVING ${isMine}`,
	];
}

/**
 * Ends former names before their overlap does: one, or all of the kind. Returns how many. The present one can only be rotated.
 * @throws HttpError 422 where there is none to end
 */
export async function endNames(
	{ db, now }: KeysDeps,
	actor: Actor,
	{ kind, owner, id }: OwnedKind<NameKind> & { id?: string | undefined },
): Promise<number> {
	await requirePublisher(db, owner);
	const at = now();
	const isEnded = sql`kind = ${kind} AND publisher_id = ${owner} AND expires_at > ${at} ${id === undefined ? sql`` : sql`AND value = ${id}`}`;
	const entry = { verb: "revokeKeys", subjectKind: kind, subjectId: owner, after: { id: id ?? null } } as const;
	const isAny = sql`EXISTS (SELECT 1 FROM publisher_names WHERE ${isEnded})`;
	const [, , result] = await runTransaction(db, [
		auditStatement(actor, at, entry, {
			where: isAny,
			counts: sql`'{"names":' || (SELECT count(*) FROM publisher_names WHERE ${isEnded}) || '}'`,
		}),
		sql`UPDATE book_state SET manifest_dirty = ${MANIFEST_CHANGED} WHERE ${isAny}`,
		sql`UPDATE publisher_names SET expires_at = ${at} WHERE ${isEnded} RETURNING value`,
	]);
	const ended = result?.results ?? [];
	if (ended.length === 0) {
		const message = "has no such name in an overlap; the present one is replaced by a rotation (with an overlap of 0 at once)";
		throw invalidInput([{ path: id === undefined ? "owner" : "id", message }]);
	}
	return ended.length;
}

/** Present and former names. */
export async function listNames({ db, now }: KeysDeps, { kind, owner }: ListFilter): Promise<CredentialState[]> {
	const at = now();
	const rows = await db
		.select()
		.from(publisherNames)
		.where(
			and(
				kind === undefined ? undefined : eq(publisherNames.kind, kind as NameKind),
				owner === undefined ? undefined : eq(publisherNames.publisherId, owner),
			),
		)
		.orderBy(asc(publisherNames.publisherId), asc(publisherNames.kind), asc(publisherNames.value));
	return rows.map((row) => ({ owner: row.publisherId, kind: row.kind, id: row.value, ...describeEnd(row.expiresAt, at) }));
}

async function requirePublisher(db: Database, owner: string): Promise<Pick<Publisher, "publisherId" | "publisherIdentity">> {
	const { publisherId, publisherIdentity } = publishers;
	const [found] = await db.select({ publisherId, publisherIdentity }).from(publishers).where(eq(publishers.id, owner));
	if (found === undefined) throw invalidInput([{ path: "owner", message: "is no publisher" }]);
	return found;
}
