/**
 * Makes the database's record of the book agree with what KV holds: for a database that was set back to an earlier moment, whose
 * shards may be deleted by now, for a KV namespace that was lost, and for a single shard that is not there.
 */
import { type SQLWrapper, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { bookDirtySlots, bookShards, bookState, MANIFEST_CHANGED } from "../../db/schema/book.ts";
import { logInfo } from "../../lib/log.ts";
import { parseManifest, SHARD_PREFIX, SPREAD_MS, shardKey } from "../format.ts";
import { parseHead } from "../packed/head.ts";
import { slotsOfShard } from "../slots.ts";

export type ReconcileDeps = { db: Database; kv: KVNamespace; now: () => number };

/** Shards read together to see whether they are there: far below KV's 25 MB a read, and little memory. */
const CONFIRMED_PER_READ = 40;
/** KV's shortest: a miss that another reader caused is not taken for one of now. */
const CONFIRM_CACHE_SECONDS = 30;

/**
 * Whether KV holds a book that the database does not know of, or none at all. One that is merely older, or published too recently to be seen
 * everywhere, is a stale cache, and one that cannot be read is a newer code's.
 * @param recorded what the database published last, of version 0 for nothing @param manifest as KV holds it
 */
export function isUnknownBook(recorded: { version: number; publishedAt: number }, manifest: string | null, now: number): boolean {
	if (manifest === null) return recorded.version > 0 && isSpread(recorded.publishedAt, now);
	return versionOfManifest(manifest) > recorded.version;
}

/** Whether what was written at `at` must be visible everywhere by now: what is not seen then is lost. */
export function isSpread(at: number, now: number): boolean {
	return now - at >= SPREAD_MS;
}

/** 0 for a manifest that cannot be read. */
export function versionOfManifest(manifest: string | null): number {
	return (parseManifest(manifest) ?? parseHead(manifest))?.version ?? 0;
}

/**
 * Marks the shards that KV has lost for the next publish, and those that only KV knows for removal. A listing lags, so what it has not is
 * read before it counts as lost, and what was written just now is left alone. Can be broken off and repeated.
 * @param restart true where the whole record is in doubt: a book that was being rebuilt with another number of shards is started again
 */
export async function reconcileShards({ db, kv, now }: ReconcileDeps, restart: boolean): Promise<void> {
	const [recorded, stored] = await Promise.all([db.select().from(bookShards), listKeys(kv, SHARD_PREFIX)]);
	const [state] = await db.select().from(bookState);
	const unlisted: Unlisted[] = [];
	for (const { bits, shard, version, writtenAt } of recorded) {
		if (version === "" || (restart && bits !== state?.bits)) continue;
		const key = shardKey(bits, shard, version);
		const isListed = stored.delete(key);
		if (!isListed && bits === state?.bits && isSpread(writtenAt, now())) unlisted.push({ key, bits, shard });
	}
	const lost = await confirmLost(kv, unlisted);
	const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
	const marks = lost.map(({ bits, shard }) => ({ slot: slotsOfShard(shard, bits).first, mark }));
	const changes: SQLWrapper[] = [
		...(marks.length > 0 ? [insertRows(bookDirtySlots, marks, sql`ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`)] : []),
		// The version stays, and with it what readers still have of it; the publish writes it whatever it holds.
		sql`UPDATE book_shards SET written_at = 0 WHERE (bits, shard) IN (
			SELECT CAST(value ->> 'bits' AS BIGINT), CAST(value ->> 'shard' AS BIGINT) FROM json_each(${JSON.stringify(lost)}))`,
	];
	if (restart) {
		changes.push(
			sql`DELETE FROM book_shards WHERE bits <> (SELECT bits FROM book_state)`,
			db.update(bookState).set({ nextBits: null, nextDone: 0, manifestDirty: MANIFEST_CHANGED }),
			// Their two days begin now: readers may still have the manifest that names them.
			sql`INSERT INTO book_garbage (key, replaced_at) SELECT atom, CAST(${now()} AS BIGINT) FROM json_each(${JSON.stringify([...stored])}) WHERE true
				ON CONFLICT (key) DO UPDATE SET replaced_at = excluded.replaced_at`,
		);
	}
	await runTransaction(db, changes);
	if (restart || lost.length > 0) logInfo("book.reconciled", { missing: lost.length, restart });
}

type Unlisted = { key: string; bits: number; shard: number };

/** Those that cannot be read either. */
export async function confirmLost<Unlisted extends { key: string }>(kv: KVNamespace, unlisted: readonly Unlisted[]): Promise<Unlisted[]> {
	const lost: Unlisted[] = [];
	for (let at = 0; at < unlisted.length; at += CONFIRMED_PER_READ) {
		const some = unlisted.slice(at, at + CONFIRMED_PER_READ);
		const texts = await kv.get(
			some.map(({ key }) => key),
			{ type: "text", cacheTtl: CONFIRM_CACHE_SECONDS },
		);
		lost.push(...some.filter(({ key }) => (texts.get(key) ?? null) === null));
	}
	return lost;
}

/** The keys in KV that begin so. */
export async function listKeys(kv: KVNamespace, prefix: string): Promise<Set<string>> {
	const keys = new Set<string>();
	for (let cursor: string | undefined; ; ) {
		const page = await kv.list({ prefix, ...(cursor !== undefined && { cursor }) });
		for (const { name } of page.keys) keys.add(name);
		if (page.list_complete) return keys;
		cursor = page.cursor;
	}
}
