import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { type CallbackQueue, enqueueCallbacks } from "./enqueue.ts";

/** How many go out at once when a pause ends; the rest follows by the minute, so that a receiver just up is not flooded. */
const MAX_RELEASED = 500;

/** Of what a pause holds, so many of the oldest and of the newest take turns as its probes. */
const MAX_PROBED = 25;

type ReleaseDeps = { db: Database; queue: CallbackQueue; now: () => number };

/** Releases callbacks that a pause put aside, oldest first; notes when none is left. */
export async function releasePaused(deps: ReleaseDeps, publisherId: string): Promise<void> {
	await release(deps, publisherId, chooseReleased(publisherId));
}

/**
 * Releases one callback to probe a paused address with: of some of the oldest and of the newest the one that was tried least, the newest of
 * these. A receiver that is well may refuse one callback for good, or all of a kind; another, which it takes, then ends the pause.
 */
export async function releaseProbe(deps: ReleaseDeps, publisherId: string): Promise<void> {
	await release(deps, publisherId, chooseProbe(publisherId));
}

/** For its query plan, too. */
export function chooseReleased(publisherId: string): SQL {
	return sql`${heldFor(publisherId)} ORDER BY created_at, ${UNINDEXED_ID} LIMIT ${MAX_RELEASED}`;
}

/** For its query plan, too. */
export function chooseProbe(publisherId: string): SQL {
	const columns = sql`SELECT id, attempt_count, created_at`;
	const oldest = sql`${heldFor(publisherId, columns)} ORDER BY created_at, ${UNINDEXED_ID} LIMIT ${MAX_PROBED}`;
	const newest = sql`${heldFor(publisherId, columns)} ORDER BY created_at DESC, ${UNINDEXED_ID} DESC LIMIT ${MAX_PROBED}`;
	return sql`SELECT id FROM (SELECT * FROM (${oldest}) o UNION SELECT * FROM (${newest}) n) p
		ORDER BY attempt_count, created_at DESC, id DESC LIMIT 1`;
}

/** SQLite would go through all callbacks of the publisher, which an index has in this order, for the few that are held. */
const UNINDEXED_ID = sql`id || ''`;

function heldFor(publisherId: string, columns = sql`SELECT id`): SQL {
	return sql`${columns} FROM callbacks WHERE held_for = 'pause' AND publisher_id = ${publisherId}`;
}

async function release({ db, queue, now }: ReleaseDeps, publisherId: string, chosen: SQL): Promise<void> {
	const at = now();
	const [released] = await runTransaction(db, [
		sql`UPDATE callbacks SET held_for = NULL, next_attempt_at = ${at}, queued_until = ${at + MINUTE_MS}
			WHERE id IN (${chosen}) RETURNING id`,
		sql`UPDATE callback_health SET releasing = 0
			WHERE publisher_id = ${publisherId} AND releasing = 1 AND paused_at IS NULL AND NOT EXISTS (${heldFor(publisherId)})`,
	]);
	const ids = ((released?.results ?? []) as { id: string }[]).map(({ id }) => id);
	await enqueueCallbacks(queue, ids);
}
