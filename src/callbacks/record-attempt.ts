/** Records the result of a delivery: the attempt, the callback's new state, what it lets go ahead and the address's health, at once. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import type { CallbackState } from "../lib/enums.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { MINUTE_MS } from "../lib/time.ts";
import type { Attempt } from "./attempt-callback.ts";
import { countFailure, countSuccess, isAddressPaused } from "./breaker.ts";
import type { ClaimedCallback } from "./claim-callback.ts";

export type Recorded = {
	state: CallbackState;
	/** When the callback itself is tried again; null where it is not, or where a sweep finds it. */
	retryAt: number | null;
	/** The next callback of the conversion, where it had to wait for this one. */
	next: readonly string[];
	/** True where the address was paused and no longer is. */
	resumed: boolean;
	/** True where this failure paused it. */
	paused: boolean;
};

/**
 * What a replay has marked during the call: an earlier callback of the conversion is sent again, and so this one is to be, after it. A claim
 * leaves no such mark.
 */
const IS_SENT_AGAIN = sql`held_for = 'order' AND state = 'due'`;

/** After a 2xx. The callback counts as delivered, whoever holds its lease by now, unless a replay sends it again. */
export async function recordDelivered(
	db: Database,
	claimed: ClaimedCallback,
	url: string,
	attempt: Attempt,
	now: number,
): Promise<Recorded> {
	const [, , released, health] = await runTransaction(db, [
		insertAttempt(claimed, attempt),
		sql`UPDATE callbacks SET attempt_count = attempt_count + 1, held_for = NULL, lease = NULL,
			state = CASE WHEN ${IS_SENT_AGAIN} THEN 'due' ELSE 'delivered' END,
			delivered_at = CASE WHEN ${IS_SENT_AGAIN} THEN NULL ELSE CAST(${now} AS BIGINT) END,
			next_attempt_at = CASE WHEN ${IS_SENT_AGAIN} THEN CAST(${now} AS BIGINT) END
			WHERE id = ${claimed.id}`,
		releaseNext(claimed, now),
		countSuccess({ publisherId: claimed.publisherId, url }),
	]);
	const [first] = (health?.results ?? []) as { releasing: number }[];
	return { state: "delivered", retryAt: null, next: idsOf(released), resumed: first?.releasing === 1, paused: false };
}

/**
 * After anything but a 2xx. A probe of a paused address uses up nothing of the schedule.
 * @param retryAt when the schedule has it tried again; null where the schedule has ended
 */
export async function recordFailed(
	db: Database,
	claimed: ClaimedCallback,
	url: string,
	attempt: Attempt,
	retryAt: number | null,
	now: number,
): Promise<Recorded> {
	const isOver = retryAt === null && !claimed.probe;
	const nextAttemptAt = claimed.probe ? null : retryAt;
	const isPaused = isAddressPaused(claimed.publisherId);
	// Where the pause has ended during the call, nothing would release what is held for it: the sweep sends it.
	const isDueNow = isOver ? IS_SENT_AGAIN : sql`NOT ${isPaused}`;
	const dueAt = isOver || claimed.probe ? sql`CASE WHEN ${isDueNow} THEN CAST(${now} AS BIGINT) END` : retryAt;
	const [, , health] = await runTransaction(db, [
		insertAttempt(claimed, attempt),
		sql`UPDATE callbacks SET attempt_count = attempt_count + 1, next_attempt_at = ${dueAt},
			state = ${isOver ? sql`CASE WHEN ${IS_SENT_AGAIN} THEN 'due' ELSE 'exhausted' END` : "due"},
			held_for = ${claimed.probe ? sql`CASE WHEN ${isPaused} THEN 'pause' END` : null}, lease = NULL, exposures = exposures - ${attempt.mayHaveArrived ? 0 : 1},
			schedule_step = schedule_step + ${claimed.probe ? 0 : 1},
			queued_until = ${nextAttemptAt !== null && isSoon(nextAttemptAt, now) ? nextAttemptAt + MINUTE_MS : 0}
			WHERE id = ${claimed.id} AND lease = ${claimed.lease}`,
		countFailure({ publisherId: claimed.publisherId, url }, now),
	]);
	const [first] = (health?.results ?? []) as { paused_at: number | null }[];
	return { state: isOver ? "exhausted" : "due", retryAt: nextAttemptAt, next: [], resumed: false, paused: first?.paused_at === now };
}

/** The publisher has no address (any more): nothing was called. */
export async function recordNoUrl(db: Database, claimed: ClaimedCallback, now: number): Promise<Recorded> {
	const [, released] = await runTransaction(db, [
		sql`UPDATE callbacks SET state = 'no_url', next_attempt_at = NULL, held_for = NULL, lease = NULL, exposures = exposures - 1
			WHERE id = ${claimed.id} AND lease = ${claimed.lease}`,
		releaseNext(claimed, now),
	]);
	return { state: "no_url", retryAt: null, next: idsOf(released), resumed: false, paused: false };
}

/** A retry this near travels in the queue itself; later ones are the sweep's. */
export function isSoon(retryAt: number, now: number): boolean {
	return retryAt - now <= 2 * MINUTE_MS;
}

/** Where the user was erased during the call, nothing is kept of its answer, which may name them. */
function insertAttempt(claimed: ClaimedCallback, { startedAt, httpStatus, latencyMs, answer }: Attempt): SQL {
	return sql`INSERT INTO callback_attempts (id, callback_id, started_at, http_status, latency_ms, answer)
		SELECT ${newTimeOrderedId(startedAt)}, id, CAST(${startedAt} AS BIGINT), CAST(${httpStatus} AS BIGINT), CAST(${latencyMs} AS BIGINT),
			CASE WHEN ${isAsTold(claimed)} THEN ${answer} ELSE '' END
		FROM callbacks WHERE id = ${claimed.id}`;
}

/** An erasure takes the click id; where sub ids alone were told, it is known by the conversion, of which it makes another version. */
function isAsTold({ cid, platform, txnid, version, ...facts }: ClaimedCallback): SQL {
	const hasSubids = [facts.subid1, facts.subid2, facts.subid3, facts.subid4, facts.subid5].some((subid) => subid !== null);
	if (cid !== "" || !hasSubids) return sql`callbacks.cid = ${cid}`;
	return sql`EXISTS (SELECT 1 FROM conversions v WHERE v.platform = ${platform} AND v.txnid = ${txnid} AND v.version = ${version})`;
}

/**
 * Lets the next callback of the conversion go. Whether it may really go is decided when it is claimed. One that is being called is let go by
 * the end of its call.
 */
function releaseNext({ platform, txnid }: ClaimedCallback, now: number): SQL {
	// Of every publisher: earlier versions had one wait for another's.
	return sql`UPDATE callbacks SET next_attempt_at = ${now}, held_for = NULL, queued_until = ${now + MINUTE_MS}
		WHERE platform = ${platform} AND txnid = ${txnid} AND state = 'due' AND held_for = 'order' AND lease IS NULL AND NOT EXISTS (
			SELECT 1 FROM callbacks e
			WHERE e.platform = ${platform} AND e.txnid = ${txnid} AND e.publisher_id = callbacks.publisher_id AND e.seq < callbacks.seq
				AND e.state IN ('due', 'exhausted')
		) RETURNING id`;
}

function idsOf(result: D1Result | undefined): string[] {
	return ((result?.results ?? []) as { id: string }[]).map(({ id }) => id);
}
