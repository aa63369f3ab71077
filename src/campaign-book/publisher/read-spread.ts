/** What every data centre has of shards that changed just now. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { SHARD_PREFIX, SPREAD_MS } from "../format.ts";

/** The manifest's `spread`: shards that were replaced less than SPREAD_MS before, by the version that was the first of them to be; null for none. */
export async function readSpread(db: Database, bits: number, now: number): Promise<Record<string, string> | null> {
	const prefix = `${SHARD_PREFIX}${bits}:`;
	const replaced = await db.all<{ key: string }>(
		sql`SELECT key FROM book_garbage WHERE replaced_at > ${now - SPREAD_MS} ORDER BY replaced_at DESC, key`,
	);
	const spread: Record<string, string> = {};
	for (const { key } of replaced) {
		if (!key.startsWith(prefix)) continue;
		const [index = "", version = ""] = key.slice(prefix.length).split(":");
		spread[index] = version;
	}
	return replaced.length === 0 ? null : spread;
}
