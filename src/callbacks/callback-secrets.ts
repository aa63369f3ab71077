/** The secrets that a publisher's callbacks are signed with, as the database has them. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { logError } from "../lib/log.ts";
import type { SecretBox } from "../lib/secret-box.ts";

/** Selects those that sign at a time, the newest first. @param publisherId a value, or an expression */
export function selectSecrets(publisherId: string | SQL, at: number): SQL {
	return sql`SELECT sealed FROM callback_secrets WHERE publisher_id = ${publisherId} AND (expires_at IS NULL OR expires_at > ${at})
		ORDER BY created_at DESC, id`;
}

/** Opens them. One that does not open, since its key has left TOKEN_KEYS, signs nothing: the log says so. */
export async function openSecrets(box: SecretBox, publisherId: string, rows: readonly { sealed: string }[]): Promise<string[]> {
	const opened = await Promise.all(rows.map(({ sealed }) => box.open(sealed, publisherId)));
	const known = opened.filter((secret) => secret !== null);
	if (known.length < opened.length) {
		logError("callback.secret_unreadable", new Error("sealed by a key that TOKEN_KEYS does not hold: rotate it"), {
			publisher: publisherId,
		});
	}
	return known;
}

/** Secrets that one run seals again: an invocation has other jobs. */
const MAX_RESEALED = 100;

/**
 * Seals with the newest key what an older one has sealed, so that the older one may go.
 * @returns false where some are left for the next run
 */
export async function resealSecrets({ db, box }: { db: Database; box: SecretBox }): Promise<boolean> {
	const rows = await db.all<{ id: string; publisherId: string; sealed: string }>(
		sql`SELECT id, publisher_id AS "publisherId", sealed FROM callback_secrets ORDER BY id`,
	);
	let resealed = 0;
	for (const { id, publisherId, sealed } of rows) {
		if (await box.isOfNewestKey(sealed)) continue;
		const secret = await box.open(sealed, publisherId);
		if (secret === null) continue;
		if (resealed === MAX_RESEALED) return false;
		await db.run(sql`UPDATE callback_secrets SET sealed = ${await box.seal(secret, publisherId)} WHERE id = ${id} AND sealed = ${sealed}`);
		resealed++;
	}
	return true;
}
