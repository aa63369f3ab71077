/**
 * Makes the database's record of the book agree with what KV holds: for a database that was set back to an earlier moment, whose
 * shards may be deleted by now, for a KV namespace that was lost, and for a single shard that is not there.
 */
import { type SQLWrapper, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { bookDirtySlots, bookShards, bookState } from "../../db/schema/book.ts";
import { logInfo } from "../../lib/log.ts";
import { parseManifest, SHARD_PREFIX, shardKey } from "../format.ts";
import { slotsOfShard } from "../slots.ts";

export type ReconcileDeps = { db: Database; kv: KVNamespace; now: () => number };

/**
 * Whether KV holds a book that the database does not know of, or none at all. One that is merely older is a stale cache, and one that
 * cannot be read is a newer code's.
 * @param recorded the version that the database published last, 0 for none @param manifest as KV holds it
 */
export function isUnknownBook(recorded: number, manifest: string | null): boolean {
	return manifest === null ? recorded > 0 : versionOfManifest(manifest) > recorded;
}

/** 0 for a manifest that cannot be read. */
export function versionOfManifest(manifest: string | null): number {
	return parseManifest(manifest)?.version ?? 0;
}

/**
 * Marks the shards that KV has not for the next publish, and those that only KV knows for removal. Can be broken off and repeated.
 * @param restart true where the whole record is in doubt: a book that was being rebuilt with another number of shards is started again
 */
export async function reconcileShards({ db, kv, now }: ReconcileDeps, restart: boolean): Promise<void> {
	const [recorded, stored] = await Promise.all([db.select().from(bookShards), listShards(kv)]);
	const [state] = await db.select().from(bookState);
	const lost: { bits: number; shard: number; slot: number }[] = [];
	for (const { bits, shard, version } of recorded) {
		if (version === "" || (restart && bits !== state?.bits)) continue;
		const isStored = stored.delete(shardKey(bits, shard, version));
		if (!isStored && bits === state?.bits) lost.push({ bits, shard, slot: slotsOfShard(shard, bits).first });
	}
	const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
	const marks = lost.map(({ slot }) => ({ slot, mark }));
	const changes: SQLWrapper[] = [
		...(marks.length > 0 ? [insertRows(bookDirtySlots, marks, sql`ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`)] : []),
		// Of no version: the publish writes it whatever it holds, and until then the manifest names none that is missing.
		sql`UPDATE book_shards SET version = '' WHERE (bits, shard) IN (
			SELECT CAST(value ->> 'bits' AS BIGINT), CAST(value ->> 'shard' AS BIGINT) FROM json_each(${JSON.stringify(lost)}))`,
	];
	if (restart) {
		changes.push(
			sql`DELETE FROM book_shards WHERE bits <> (SELECT bits FROM book_state)`,
			db.update(bookState).set({ nextBits: null, nextDone: 0, manifestDirty: true }),
			// Their two days begin now: readers may still have the manifest that names them.
			sql`INSERT INTO book_garbage (key, replaced_at) SELECT atom, CAST(${now()} AS BIGINT) FROM json_each(${JSON.stringify([...stored])}) WHERE true
				ON CONFLICT (key) DO UPDATE SET replaced_at = excluded.replaced_at`,
		);
	}
	await runTransaction(db, changes);
	if (restart || lost.length > 0) logInfo("book.reconciled", { missing: lost.length, restart });
}

/** The keys of all shards in KV. */
async function listShards(kv: KVNamespace): Promise<Set<string>> {
	const keys = new Set<string>();
	for (let cursor: string | undefined; ; ) {
		const page = await kv.list({ prefix: SHARD_PREFIX, ...(cursor !== undefined && { cursor }) });
		for (const { name } of page.keys) keys.add(name);
		if (page.list_complete) return keys;
		cursor = page.cursor;
	}
}
