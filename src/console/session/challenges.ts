/**
 * What passkeys sign. A challenge is sealed, so that asking for one writes nothing; whoever answers it first has used it up.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import type { ChallengePurpose } from "../../lib/access-enums.ts";
import { fromBase64Url } from "../../lib/base64-url.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { parseJson } from "../../lib/json.ts";
import type { SecretBox } from "../../lib/secret-box.ts";
import { MINUTE_MS } from "../../lib/time.ts";

export type ChallengeDeps = { db: Database; now: () => number; box: SecretBox };

/** A challenge is for one purpose, and one person where somebody is signed in. */
export type ChallengeFor = { purpose: ChallengePurpose; personId: string | null };

const LASTS_MS = 5 * MINUTE_MS;
/** What the seal is bound to: nothing else that a secret box holds opens as a challenge. */
const OWNER = "console challenge";

type Sealed = ChallengeFor & { expiresAt: number };

export async function newChallenge({ now, box }: ChallengeDeps, wanted: ChallengeFor): Promise<Uint8Array<ArrayBuffer>> {
	const sealed: Sealed = { ...wanted, expiresAt: now() + LASTS_MS };
	const bytes = fromBase64Url(await box.seal(JSON.stringify(sealed), OWNER));
	if (bytes === null) throw new Error("a secret box seals as base64url");
	return new Uint8Array(bytes);
}

/** Whether a challenge is one of ours, for this and not too old. @param challenge base64url, as it was signed */
export async function isOurs({ now, box }: ChallengeDeps, challenge: string, wanted: ChallengeFor): Promise<boolean> {
	const sealed = await open(box, challenge);
	return sealed !== null && sealed.purpose === wanted.purpose && sealed.personId === wanted.personId && sealed.expiresAt > now();
}

/** Uses a challenge up that was answered. False where it was used before. @param challenge that is ours */
export async function useUp({ db, box }: ChallengeDeps, challenge: string): Promise<boolean> {
	const sealed = await open(box, challenge);
	if (sealed === null) return false;
	const rows = await db.all(sql`INSERT INTO console_challenges (challenge, purpose, person_id, expires_at)
		VALUES (${await sha256Hex(challenge)}, ${sealed.purpose}, ${sealed.personId}, ${sealed.expiresAt}) ON CONFLICT DO NOTHING RETURNING challenge`);
	return rows.length === 1;
}

async function open(box: SecretBox, challenge: string): Promise<Sealed | null> {
	const text = await box.open(challenge, OWNER);
	return text === null ? null : (parseJson(text) as Sealed);
}
