/** How many credentials an owner may have. */
import { sql } from "drizzle-orm";
import { invalidInput } from "../../http/errors.ts";
import type { CredentialKind } from "../../lib/enums.ts";
import { isName, isSigning } from "./keys-answers.ts";
import type { KeysDeps, OwnedKind } from "./manage-keys.ts";

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
	{ db, now }: KeysDeps,
	{ kind, owner }: OwnedKind<CredentialKind>,
	overlapHours: number | null,
): Promise<void> {
	if (isName(kind) || overlapHours === 0) return;
	const owned = isSigning(kind)
		? sql`callback_secrets WHERE publisher_id = ${owner}`
		: sql`access_keys WHERE kind = ${kind} AND owner_id = ${owner}`;
	const { n } = await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM ${owned} AND (expires_at IS NULL OR expires_at > ${now()})`);
	if (n >= MAX_VALID) throw invalidInput([{ path: "kind", message: `has ${MAX_VALID} that are valid: revoke one first` }]);
}
