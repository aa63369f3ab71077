/** Every minute: puts on the queue what is due and what no queue carries. The outbox is the truth; the queue may lose or repeat. */
import { and, asc, isNotNull, lte, type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { callbackHealth } from "../db/schema/callbacks.ts";
import { crowding } from "../lib/crowding.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { forgetMovedAddresses } from "./breaker.ts";
import { type CallbackQueue, enqueueCallbacks } from "./enqueue.ts";
import { releasePaused, releaseProbe } from "./release-paused.ts";

/** The most callbacks that one run puts on the queue; each further round has half as many, of publishers with few among those before. */
const MAX_SWEPT = 1_000;
/** As many of them are not few. */
const MANY = MAX_SWEPT / 50;
/** How often the others' are looked for: they may be behind those of more. */
const ROUNDS = 3;
/** The most addresses that one run probes, and the most that it releases. */
const MAX_ADDRESSES = 50;
/**
 * How long a callback that was put on the queue is not put there again. No longer, because a sweep that breaks off, or a queue that
 * refuses, leaves callbacks marked that no queue carries.
 */
const QUEUED_MS = 3 * MINUTE_MS;

export type SweepDeps = { db: Database; queue: CallbackQueue; now: () => number };

export async function sweepCallbacks(deps: SweepDeps): Promise<void> {
	await deps.db.run(forgetMovedAddresses());
	await releaseResumed(deps);
	await probePaused(deps);
	await enqueueDue(deps);
}

/** Lets more of the callbacks go that a pause put aside, after its end. */
async function releaseResumed(deps: SweepDeps): Promise<void> {
	const resumed = await deps.db.all<{ publisher_id: string }>(
		sql`SELECT publisher_id FROM callback_health WHERE releasing = 1 AND paused_at IS NULL LIMIT ${MAX_ADDRESSES}`,
	);
	for (const { publisher_id } of resumed) await releasePaused(deps, publisher_id);
}

/** Sends one callback to each paused address whose next probe is due. That no more than one is called, its claim sees to. */
async function probePaused(deps: SweepDeps): Promise<void> {
	const paused = await deps.db
		.select({ publisherId: callbackHealth.publisherId })
		.from(callbackHealth)
		.where(and(isNotNull(callbackHealth.pausedAt), lte(callbackHealth.nextProbeAt, deps.now())))
		.orderBy(asc(callbackHealth.pausedAt))
		.limit(MAX_ADDRESSES);
	for (const { publisherId } of paused) await releaseProbe(deps, publisherId);
}

/** Where some publishers have many of the oldest, as after a large replay, more of the others' go, too. */
async function enqueueDue(deps: SweepDeps): Promise<void> {
	const without: string[] = [];
	let most = MAX_SWEPT;
	for (let round = 0; round < ROUNDS; round++) {
		const oldest = await enqueueOldest(deps, without, most);
		const many = oldest.length < most ? [] : crowding(oldest, ({ publisherId }) => publisherId, MANY);
		if (many.length === 0) return;
		without.push(...many);
		most = MAX_SWEPT / 2;
	}
}

/** @param without publishers whose are left out */
async function enqueueOldest({ db, queue, now }: SweepDeps, without: readonly string[], count: number): Promise<{ publisherId: string }[]> {
	const at = now();
	const due = chooseDue(at, without, count);
	const rows = await db.all<{ id: string; publisherId: string }>(
		sql`UPDATE callbacks SET queued_until = ${at + QUEUED_MS} WHERE id IN (${due}) RETURNING id, publisher_id AS "publisherId"`,
	);
	await enqueueCallbacks(
		queue,
		rows.map(({ id }) => id),
	);
	return rows;
}

/** The oldest that are due, but those of publishers that are left out; exported for its plan. */
export function chooseDue(at: number, without: readonly string[], count: number): SQL {
	return sql`SELECT id FROM callbacks WHERE state = 'due' AND max(next_attempt_at, queued_until) <= ${at}
			AND publisher_id NOT IN (SELECT atom FROM json_each(${JSON.stringify(without)}))
		ORDER BY max(next_attempt_at, queued_until) LIMIT ${count}`;
}
