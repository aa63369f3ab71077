import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { type CallbackQueue, enqueueCallbacks } from "./enqueue.ts";

/** How many go out at once when a pause ends; the rest follows by the minute, so that a receiver just up is not flooded. */
const MAX_RELEASED = 500;

type ReleaseDeps = { db: Database; queue: CallbackQueue; now: () => number };

/** Releases callbacks that a pause put aside, oldest first; notes when none is left. */
export async function releasePaused({ db, queue, now }: ReleaseDeps, publisherId: string, most = MAX_RELEASED): Promise<number> {
	const at = now();
	const held = sql`SELECT id FROM callbacks WHERE held_for = 'pause' AND publisher_id = ${publisherId}`;
	const [released] = await runTransaction(db, [
		sql`UPDATE callbacks SET held_for = NULL, next_attempt_at = ${at}, queued_until = ${at + MINUTE_MS}
			WHERE id IN (${held} ORDER BY created_at, id LIMIT ${most}) RETURNING id`,
		sql`UPDATE callback_health SET releasing = 0
			WHERE publisher_id = ${publisherId} AND releasing = 1 AND paused_at IS NULL AND NOT EXISTS (${held})`,
	]);
	const ids = ((released?.results ?? []) as { id: string }[]).map(({ id }) => id);
	await enqueueCallbacks(queue, ids);
	return ids.length;
}
