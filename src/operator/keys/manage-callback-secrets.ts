/** Issues, rotates, revokes and lists the secrets that callbacks are signed with. */
import { asc, desc, eq, sql } from "drizzle-orm";
import { type AuditEntry, auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { callbackSecrets } from "../../db/schema/callbacks.ts";
import { publishers } from "../../db/schema/publishers.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import { HOUR_MS, isoTime } from "../../lib/time.ts";
import type { CredentialState, NewCredential } from "./keys-answers.ts";
import { describeEnd } from "./manage-keys.ts";
import { hasRoom, noRoom } from "./require-room.ts";

export type SecretsDeps = { db: Database; now: () => number; box: SecretBox };

const KIND = "callback_secret";
const ID_LENGTH = 12;
const SECRET_BYTES = 32;

/**
 * A further secret, which signs from now on, beside the others; with `overlapHours` these end after it, or when they were to end before.
 * @throws HttpError 422 where there is no such publisher, or it has as many as it may
 */
export async function issueSecret(
	{ db, now, box }: SecretsDeps,
	actor: Actor,
	owner: string,
	overlapHours?: number,
): Promise<NewCredential> {
	await requirePublisher(db, owner);
	const value = `whsec_${crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64()}`;
	const id = (await sha256Hex(value)).slice(0, ID_LENGTH);
	const at = now();
	const endsAt = overlapHours === undefined ? null : at + Math.round(overlapHours * HOUR_MS);
	const isAdded = sql`EXISTS (SELECT 1 FROM callback_secrets WHERE id = ${id})`;
	const ending = sql`UPDATE callback_secrets SET expires_at = ${endsAt}
		WHERE publisher_id = ${owner} AND id <> ${id} AND (expires_at IS NULL OR expires_at > ${endsAt}) AND ${isAdded}`;
	const row = { id, publisherId: owner, sealed: await box.seal(value, owner), createdAt: at };
	const entry = { subjectKind: KIND, subjectId: owner } as const;
	const done: AuditEntry =
		endsAt === null
			? { ...entry, verb: "issueKeys", after: { id } }
			: { ...entry, verb: "rotateKeys", after: { id, others_end_at: isoTime(endsAt) } };
	const room = hasRoom({ kind: KIND, owner }, at, overlapHours ?? null);
	const [added] = await runTransaction(db, [
		insertRows(callbackSecrets, [row], sql`AND ${room} RETURNING id`),
		...(endsAt === null ? [] : [ending]),
		auditStatement(actor, at, done, { where: isAdded }),
	]);
	if (added?.results.length !== 1) throw noRoom();
	return { owner, kind: KIND, id, value };
}

/** Ends one that signs, or all of the publisher's: without any, nothing is signed. Returns how many. @throws HttpError 422 where there is none */
export async function revokeSecrets({ db, now }: SecretsDeps, actor: Actor, owner: string, id: string | undefined): Promise<number> {
	await requirePublisher(db, owner);
	const at = now();
	const isEnded = sql`publisher_id = ${owner} AND (expires_at IS NULL OR expires_at > ${at}) ${id === undefined ? sql`` : sql`AND id = ${id}`}`;
	const entry = { verb: "revokeKeys", subjectKind: KIND, subjectId: owner, after: { id: id ?? null } } as const;
	const [, result] = await runTransaction(db, [
		auditStatement(actor, at, entry, {
			where: sql`EXISTS (SELECT 1 FROM callback_secrets WHERE ${isEnded})`,
			counts: sql`'{"keys":' || (SELECT count(*) FROM callback_secrets WHERE ${isEnded}) || '}'`,
		}),
		sql`UPDATE callback_secrets SET expires_at = ${at} WHERE ${isEnded} RETURNING id`,
	]);
	const ended = result?.results.length ?? 0;
	if (ended === 0) throw invalidInput([{ path: id === undefined ? "owner" : "id", message: "has no such valid key" }]);
	return ended;
}

export async function listSecrets({ db, now }: Pick<SecretsDeps, "db" | "now">, owner: string | undefined): Promise<CredentialState[]> {
	const at = now();
	const { publisherId, createdAt, id } = callbackSecrets;
	const rows = await db
		.select()
		.from(callbackSecrets)
		.where(owner === undefined ? undefined : eq(publisherId, owner))
		.orderBy(asc(publisherId), desc(createdAt), asc(id));
	return rows.map((row) => ({
		owner: row.publisherId,
		kind: KIND,
		id: row.id,
		...describeEnd(row.expiresAt, at),
		created_at: isoTime(row.createdAt),
	}));
}

async function requirePublisher(db: Database, owner: string): Promise<void> {
	const found = await db.select({ id: publishers.id }).from(publishers).where(eq(publishers.id, owner));
	if (found.length === 0) throw invalidInput([{ path: "owner", message: "is no publisher" }]);
}
