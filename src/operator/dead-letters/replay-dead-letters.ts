/** Dead letters: what no consumer could take, counted, shown, and sent to their queue again. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import type { deadLetters } from "../../db/schema/dead-letters.ts";
import type { Actor } from "../../http/actor.ts";
import { QUEUE_NAMES, type QueueName } from "../../lib/enums.ts";
import { HttpError } from "../../lib/http.ts";
import { logInfo } from "../../lib/log.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import type { DeadLetter, Replayed } from "./replay-answers.ts";

export type ReplayDeps = {
	db: Database;
	queues: Record<QueueName, Pick<Queue, "sendBatch"> | undefined>;
	now: () => number;
};

/** Limits of one `sendBatch`, with room for what the platform adds. */
const MAX_MESSAGES = 100;
const MAX_BYTES = 200 * 1024;
/** This many dead letters are sent again by one request; the caller asks again for more. */
const MAX_REPLAYED = 10_000;
/** Of large ones fewer: each batch is sent by itself and marked by two statements, and an invocation has 1,000 of either. */
const MAX_BATCHES = 200;

/** What a request may still send. */
type Room = { messages: number; batches: number };

type KeptMessage = { id: string; body: string };

/**
 * Sends dead letters to their queue again, in the order in which they were kept, and marks them. Those that came since `until`
 * are left: what fails again becomes a new dead letter, and is not sent round and round by one replay. A request that is cut off
 * sends some twice, which consumers tolerate.
 * @param queue of one queue only; null for all
 * @param until Unix milliseconds
 * @param actor whoever sends them; null only counts
 */
export async function replayDeadLetters(
	deps: ReplayDeps,
	{ queue, until, actor }: { queue: QueueName | null; until: number; actor: Actor | null },
): Promise<Omit<Replayed, "until">> {
	const names = queue === null ? QUEUE_NAMES : [queue];
	const replayed = zeros();
	const room: Room = { messages: MAX_REPLAYED, batches: MAX_BATCHES };
	for (const name of names) {
		if (actor === null) replayed[name] = await countWaiting(deps.db, name, until);
		else replayed[name] = await replayQueue(deps, actor, { name, until, room });
	}
	const remaining = zeros();
	for (const name of QUEUE_NAMES) remaining[name] = await countWaiting(deps.db, name, until);
	if (actor !== null) logInfo("dead_letters.replayed", replayed);
	return { replayed, remaining, dry_run: actor === null };
}

async function replayQueue(
	{ db, queues, now }: ReplayDeps,
	actor: Actor,
	{ name, until, room }: { name: QueueName; until: number; room: Room },
): Promise<number> {
	let sent = 0;
	while (room.messages > 0 && room.batches > 0) {
		const messages = await db.all<KeptMessage>(sql`SELECT id, body FROM dead_letters
			WHERE queue = ${name} AND replayed_at IS NULL AND received_at <= ${until}
			ORDER BY received_at, id LIMIT ${Math.min(MAX_MESSAGES, room.messages)}`);
		if (messages.length === 0) return sent;
		const target = queues[name];
		if (target === undefined) throw new HttpError(503, { error: `The queue ${name} is not bound to this Worker` });
		for (const batch of batchesOf(messages).take(room.batches)) {
			await target.sendBatch(batch.map(({ body }) => ({ body: JSON.parse(body) as unknown })));
			const ids = JSON.stringify(batch.map(({ id }) => id));
			const at = now();
			const counts = { dead_letters: batch.length };
			await runTransaction(db, [
				sql`UPDATE dead_letters SET replayed_at = ${at} WHERE id IN (SELECT atom FROM json_each(${ids}))`,
				auditStatement(actor, at, { verb: "replayDeadLetters", subjectKind: "queue", subjectId: name, counts }),
			]);
			sent += batch.length;
			room.messages -= batch.length;
			room.batches--;
		}
	}
	return sent;
}

function* batchesOf(messages: readonly KeptMessage[]): Generator<KeptMessage[]> {
	let batch: KeptMessage[] = [];
	let bytes = 0;
	for (const message of messages) {
		// A character is at most three bytes of UTF-8.
		const size = message.body.length * 3;
		if (batch.length > 0 && bytes + size > MAX_BYTES) {
			yield batch;
			batch = [];
			bytes = 0;
		}
		batch.push(message);
		bytes += size;
	}
	if (batch.length > 0) yield batch;
}

/** Replayed letters that are looked at for the newest, those that were replayed last: a month may have millions. */
const MAX_LOOKED_AT = 10_000;
/** Characters of messages that are shown together: a thousand batches of postbacks are more than an isolate's memory. */
const MAX_SHOWN_LENGTH = 5_000_000;

type DeadLetterRow = typeof deadLetters.$inferSelect;

/** The newest dead letters, replayed ones too: for someone who wants to know what is wrong with them. */
export async function listDeadLetters(db: Database, queue: QueueName | null, limit: number): Promise<DeadLetter[]> {
	const rows = await db.all<DeadLetterRow>(newestQuery(queue === null ? QUEUE_NAMES : [queue], limit));
	return rows.map(({ id, queue: of, body, receivedAt, replayedAt }) => ({
		id,
		queue: of,
		received_at: isoTime(receivedAt),
		replayed_at: isoTimeOrNull(replayedAt),
		body: JSON.parse(body) as unknown,
	}));
}

/** The statement behind it: for its query plan. */
export function newestQuery(queues: readonly QueueName[], limit: number): SQL {
	const waiting = queues.map(
		(queue) => sql`SELECT * FROM (SELECT id, received_at FROM dead_letters
			WHERE queue = ${queue} AND replayed_at IS NULL ORDER BY received_at DESC, id DESC LIMIT ${limit}) of_queue`,
	);
	return sql`SELECT id, queue, body, received_at AS "receivedAt", replayed_at AS "replayedAt"
		FROM (SELECT id, queue, body, received_at, replayed_at, SUM(length(body)) OVER (ORDER BY received_at DESC, id DESC) AS total
			FROM dead_letters WHERE id IN (
				SELECT id FROM (${sql.join(waiting, sql` UNION ALL `)} UNION ALL
					SELECT id, received_at FROM (SELECT id, queue, received_at FROM dead_letters
						WHERE replayed_at IS NOT NULL ORDER BY replayed_at DESC LIMIT ${MAX_LOOKED_AT}) replayed
					WHERE queue IN (SELECT atom FROM json_each(${JSON.stringify(queues)}))) looked_at
				ORDER BY received_at DESC, id DESC LIMIT ${limit})) shown
		WHERE total <= ${MAX_SHOWN_LENGTH} ORDER BY received_at DESC, id DESC`;
}

async function countWaiting(db: Database, queue: QueueName, until: number): Promise<number> {
	const [row] = await db.all<{ count: number }>(
		sql`SELECT count(*) AS count FROM dead_letters WHERE queue = ${queue} AND replayed_at IS NULL AND received_at <= ${until}`,
	);
	return row?.count ?? 0;
}

function zeros(): Record<QueueName, number> {
	return { clicks: 0, postbacks: 0, callbacks: 0 };
}
