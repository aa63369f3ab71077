/** Makes the database's record of a packed book agree with what KV holds, as `reconcileShards` does for shards. */
import { type SQLWrapper, sql } from "drizzle-orm";
import { runTransaction } from "../../db/client.ts";
import { insertRows } from "../../db/json-rows.ts";
import { bookChunks, bookDirtySlots, bookState, MANIFEST_CHANGED } from "../../db/schema/book.ts";
import { logInfo } from "../../lib/log.ts";
import { CHUNK_KINDS, chunkKey } from "../packed/head.ts";
import { slotsOfShard } from "../slots.ts";
import { confirmLost, isSpread, listKeys, type ReconcileDeps } from "./reconcile-shards.ts";

/**
 * Marks the chunks that KV has lost for the next publish, and those that only KV knows for removal. Can be broken off and repeated.
 * @param restart true where the whole record is in doubt
 */
export async function reconcileChunks({ db, kv, now }: ReconcileDeps, restart: boolean): Promise<void> {
	const recorded = await db.select().from(bookChunks);
	if (recorded.length === 0 && !restart) return;
	const stored = new Set<string>();
	for (const kind of CHUNK_KINDS) for (const key of await listKeys(kv, `book:${kind}:`)) stored.add(key);
	const unlisted: { key: string; kind: string; bits: number; chunk: number }[] = [];
	for (const { kind, bits, chunk, version, writtenAt } of recorded) {
		if (version === "") continue;
		const key = chunkKey(kind, bits, chunk, version);
		if (!stored.delete(key) && isSpread(writtenAt, now())) unlisted.push({ key, kind, bits, chunk });
	}
	const lost = await confirmLost(kv, unlisted);
	const mark = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
	const [state] = await db.select().from(bookState);
	const slots = lost.flatMap(({ kind, bits, chunk }) =>
		(kind === "f" || kind === "l") && bits === state?.bits ? [slotsOfShard(chunk, bits).first] : [],
	);
	const marks = [...new Set(slots)].map((slot) => ({ slot, mark }));
	const changes: SQLWrapper[] = [
		...(marks.length > 0 ? [insertRows(bookDirtySlots, marks, sql`ON CONFLICT (slot) DO UPDATE SET mark = excluded.mark`)] : []),
		// The version stays, and with it what readers still have of it; the publish writes it whatever it holds.
		sql`UPDATE book_chunks SET written_at = 0 WHERE (kind, bits, chunk) IN (
			SELECT value ->> 'kind', CAST(value ->> 'bits' AS BIGINT), CAST(value ->> 'chunk' AS BIGINT) FROM json_each(${JSON.stringify(lost)}))`,
	];
	if (lost.length > 0) changes.push(db.update(bookState).set({ manifestDirty: MANIFEST_CHANGED }));
	if (restart) {
		changes.push(
			db.update(bookState).set({ nextFormat: null, nextBits: null, nextDone: 0, manifestDirty: MANIFEST_CHANGED }),
			// Their two days begin now: readers may still have the head that names them.
			sql`INSERT INTO book_garbage (key, replaced_at) SELECT atom, CAST(${now()} AS BIGINT) FROM json_each(${JSON.stringify([...stored])}) WHERE true
				ON CONFLICT (key) DO UPDATE SET replaced_at = excluded.replaced_at`,
		);
	}
	await runTransaction(db, changes);
	if (lost.length > 0) logInfo("book.reconciled", { missing: lost.length, restart });
}
