/**
 * Which keys of KV are written: an invocation can read and write the clicks of far more keys than it can delete. A key is written once and
 * never changed, so what was written of it is all there is; one whose mark is missing is written again, which changes nothing.
 */
import { sql } from "drizzle-orm";
import { DAY_MS } from "../lib/time.ts";
import type { Database } from "./client.ts";

/** Marks outlive their keys: a listing of KV may still show what was deleted. */
const MARKS_KEPT_MS = 2 * DAY_MS;

export async function readWrittenKeys(db: Database, keys: readonly string[]): Promise<Set<string>> {
	if (keys.length === 0) return new Set();
	const rows = await db.all<{ key: string }>(
		sql`SELECT key FROM written_keys WHERE key IN (SELECT atom FROM json_each(${JSON.stringify(keys)}))`,
	);
	return new Set(rows.map(({ key }) => key));
}

export async function markWritten(db: Database, keys: readonly string[], now: number): Promise<void> {
	await db.run(sql`INSERT INTO written_keys (key, written_at)
		SELECT atom, CAST(${now} AS BIGINT) FROM json_each(${JSON.stringify(keys)}) WHERE true ON CONFLICT (key) DO NOTHING`);
}

/** Forgets marks of keys that are long gone. Only where KV shows none any more. */
export async function forgetWritten(db: Database, now: number): Promise<void> {
	await db.run(sql`DELETE FROM written_keys WHERE written_at < ${now - MARKS_KEPT_MS}`);
}
