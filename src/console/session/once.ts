/** Forms whose answer shows something once, such as a key: sent a second time, by a second click or a reload, they make nothing. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { invalidInput } from "../../http/errors.ts";
import { sha256Hex } from "../../lib/bytes.ts";
import { conflict } from "../../lib/http.ts";
import { MAX_SESSION_MS } from "../../retention/kept-for.ts";

/**
 * Uses a form up; it is known as long as its session may last.
 * @param id by which the form tells itself from every other
 * @throws HttpError 422 where it does not say which one it is, 412 where it was sent before
 */
export async function useForm(db: Database, sessionHash: string, id: string, now: number): Promise<void> {
	if (!/^[\da-f-]{36}$/.test(id)) throw invalidInput([{ path: "", message: "the form is not whole: open its page again" }]);
	const used = await db.all(sql`INSERT INTO console_challenges (challenge, purpose, person_id, expires_at)
		VALUES (${await challengeOf(sessionHash, id)}, ${"form"}, ${null}, ${now + MAX_SESSION_MS}) ON CONFLICT DO NOTHING RETURNING challenge`);
	if (used.length === 0) {
		throw conflict(
			"This form was sent already, and nothing was made a second time. What it made was shown once, and is in the list: if you did not keep it, end it there, and open the page again for another.",
		);
	}
}

/** A form that was refused has made nothing: corrected, it may be sent again. */
export async function freeForm(db: Database, sessionHash: string, id: string): Promise<void> {
	await db.run(sql`DELETE FROM console_challenges WHERE challenge = ${await challengeOf(sessionHash, id)} AND purpose = ${"form"}`);
}

function challengeOf(sessionHash: string, id: string): Promise<string> {
	return sha256Hex(`${sessionHash} ${id}`);
}
