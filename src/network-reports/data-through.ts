/** Up to when everything that came in is counted. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { inTime } from "../lib/away.ts";
import type { QueueName } from "../lib/enums.ts";
import { CLICK_BATCH_PREFIX, KEPT_CLICK_PREFIX, KEPT_DEAD_LETTERS_PREFIX } from "../lib/kept-keys.ts";
import { logError } from "../lib/log.ts";
import { SECOND_MS } from "../lib/time.ts";

export type DataThroughDeps = {
	db: Database;
	kv: Pick<KVNamespace, "list">;
	queues: { clicks: Pick<Queue, "metrics"> | undefined; postbacks: Pick<Queue, "metrics"> | undefined };
	now: () => number;
};

/** A click is recorded after its redirect was answered: what is done then is cut off after this time. */
const RECORDING_MS = 30 * SECOND_MS;
/** Oldest dead letters of a queue whose own time is looked at. */
const MAX_LETTERS = 100;
/** A report does not wait longer for a mark beside it. */
const ANSWER_TIMEOUT_MS = 3 * SECOND_MS;

/** Unix milliseconds; null where a queue or KV does not tell. */
export async function readDataThrough({ db, kv, queues, now }: DataThroughDeps): Promise<number | null> {
	const at = now();
	const marks = await Promise.all([
		oldestIn("clicks", queues.clicks, at),
		oldestIn("postbacks", queues.postbacks, at),
		oldestKept(kv, CLICK_BATCH_PREFIX, at),
		oldestKept(kv, KEPT_CLICK_PREFIX, at),
		refusedLetter(kv, "clicks", at),
		refusedLetter(kv, "postbacks", at),
		oldestLetter(db, at),
	]);
	const told = marks.filter((mark) => mark !== null);
	return told.length < marks.length ? null : Math.min(...told) - RECORDING_MS;
}

async function oldestIn(name: string, queue: Pick<Queue, "metrics"> | undefined, now: number): Promise<number | null> {
	if (queue === undefined) return null;
	try {
		const { backlogCount, oldestMessageTimestamp } = await inTime(queue.metrics(), ANSWER_TIMEOUT_MS, "the queue");
		if (backlogCount === 0) return now;
		return oldestMessageTimestamp?.getTime() ?? null;
	} catch (error) {
		logError("reports.queue_unknown", error, { queue: name });
		return null;
	}
}

/** Keys end with a time-ordered id, and are listed in order. */
async function oldestKept(kv: Pick<KVNamespace, "list">, prefix: string, now: number): Promise<number | null> {
	try {
		const { keys } = await inTime(kv.list({ prefix, limit: 1 }), ANSWER_TIMEOUT_MS, "KV");
		const id = keys[0]?.name.slice(prefix.length);
		if (id === undefined) return now;
		const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
		return Number.isNaN(at) ? now : Math.min(now, at);
	} catch (error) {
		logError("reports.kept_unknown", error, { prefix });
		return null;
	}
}

/** Dead letters that the database refused: nothing but what is in them tells their time. */
async function refusedLetter(kv: Pick<KVNamespace, "list">, queue: QueueName, now: number): Promise<number | null> {
	try {
		const { keys } = await inTime(kv.list({ prefix: `${KEPT_DEAD_LETTERS_PREFIX}${queue}:`, limit: 1 }), ANSWER_TIMEOUT_MS, "KV");
		return keys.length === 0 ? now : null;
	} catch (error) {
		logError("reports.kept_unknown", error, { queue });
		return null;
	}
}

/** Of a click, of a postback, and the first of postbacks that came together: src/clicks/message.ts, src/conversions/message.ts. */
const CAME_AT = sql`coalesce(CAST(body ->> 'at' AS BIGINT), CAST(body -> 'intake' ->> 'receivedAt' AS BIGINT),
	(SELECT min(CAST(CASE WHEN j.atom IS NULL THEN j.value -> 'intake' ->> 'receivedAt' END AS BIGINT))
		FROM json_each(CASE WHEN CAST(body -> 'items' AS TEXT) LIKE '[%' THEN body -> 'items' ELSE '[]' END) j))`;

/** A message that nobody could take is older than its letter: it says itself when it was made. Queues give up after times of their own. */
async function oldestLetter(db: Database, now: number): Promise<number> {
	const oldestOf = (queue: QueueName) => sql`SELECT * FROM (SELECT coalesce(${CAME_AT}, received_at) AS at FROM dead_letters
		WHERE replayed_at IS NULL AND queue = ${queue} ORDER BY received_at, id LIMIT ${MAX_LETTERS}) of_queue`;
	const rows = await db.all<{ at: number | null }>(
		sql`SELECT MIN(at) AS at FROM (${oldestOf("clicks")} UNION ALL ${oldestOf("postbacks")}) oldest`,
	);
	return Math.min(now, rows[0]?.at ?? now);
}
