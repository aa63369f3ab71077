/** How many credentials an owner may have. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import type { CredentialKind, NameKind } from "../../lib/access-enums.ts";
import type { HttpError } from "../../lib/http.ts";
import { DAY_MS } from "../../lib/time.ts";
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

/** Those of a kind that a publisher's people may make within a day: lists have those that have ended, too. */
const MAX_MADE_A_DAY = 100;

/** @throws HttpError 422 where a publisher's person has made, with others, {@link MAX_MADE_A_DAY} of late; staff make as many as they need */
export async function requireCalm(
	{ db, now }: { db: Database; now: () => number },
	{ role }: Actor,
	owned: OwnedKind<CredentialKind>,
): Promise<void> {
	if (role !== "owner" || isName(owned.kind)) return;
	const { n } = await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM ${rowsOf(owned)} AND created_at > ${now() - DAY_MS}`);
	if (n < MAX_MADE_A_DAY) return;
	throw invalidInput([{ path: "kind", message: `has ${MAX_MADE_A_DAY} that were made within a day: wait, or ask your account manager` }]);
}

export function noRoom(): HttpError {
	return invalidInput([{ path: "kind", message: `has ${MAX_VALID} that are valid: revoke one first` }]);
}

function countValid(owned: OwnedKind<CredentialKind>, at: number): SQL {
	return sql`(SELECT COUNT(*) FROM ${rowsOf(owned)} AND (expires_at IS NULL OR expires_at > ${at}))`;
}

/** Up to behind WHERE. */
function rowsOf({ kind, owner }: OwnedKind<CredentialKind>): SQL {
	return isSigning(kind)
		? sql`callback_secrets WHERE publisher_id = ${owner}`
		: sql`access_keys WHERE kind = ${kind} AND owner_id = ${owner}`;
}
