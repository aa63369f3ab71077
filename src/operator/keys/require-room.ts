/** How many credentials an owner may have. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { invalidInput } from "../../http/errors.ts";
import type { CredentialKind, NameKind } from "../../lib/enums.ts";
import type { HttpError } from "../../lib/http.ts";
import { isName, isSigning } from "./keys-answers.ts";

/** What an owner has credentials of. */
export type OwnedKind<Kind extends CredentialKind = CredentialKind> = { kind: Kind; owner: string };

/**
 * Valid ones of a kind that an owner may have. Publishers make their own: each secret signs each of their callbacks, and keys are all read
 * where somebody guesses them.
 */
export const MAX_VALID = 20;

/**
 * @param overlapHours after which those end that the new one replaces; null where it replaces none
 * @throws HttpError 422 where the owner has {@link MAX_VALID}, unless they end at once
 */
export async function requireRoom(
	{ db, now }: { db: Database; now: () => number },
	owned: OwnedKind<CredentialKind>,
	overlapHours: number | null,
): Promise<void> {
	if (isName(owned.kind) || overlapHours === 0) return;
	const { n } = await db.get<{ n: number }>(sql`SELECT ${countValid(owned, now())} AS n`);
	if (n >= MAX_VALID) throw noRoom();
}

/** The same in the transaction that adds one, since others may add some meanwhile: a condition behind WHERE. */
export function hasRoom(owned: OwnedKind<Exclude<CredentialKind, NameKind>>, at: number, overlapHours: number | null): SQL {
	return overlapHours === 0 ? sql`true` : sql`${countValid(owned, at)} < ${MAX_VALID}`;
}

export function noRoom(): HttpError {
	return invalidInput([{ path: "kind", message: `has ${MAX_VALID} that are valid: revoke one first` }]);
}

function countValid({ kind, owner }: OwnedKind<CredentialKind>, at: number): SQL {
	const owned = isSigning(kind)
		? sql`callback_secrets WHERE publisher_id = ${owner}`
		: sql`access_keys WHERE kind = ${kind} AND owner_id = ${owner}`;
	return sql`(SELECT COUNT(*) FROM ${owned} AND (expires_at IS NULL OR expires_at > ${at}))`;
}
