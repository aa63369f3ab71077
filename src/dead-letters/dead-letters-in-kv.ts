/**
 * Dead letters that the database refuses, since it is full or away: the very reason why most of them are dead. KV keeps them until it
 * takes them, beyond the days for which a queue keeps a message.
 */
import type { Database } from "../db/client.ts";
import { QUEUE_NAMES, type QueueName } from "../lib/enums.ts";
import { parseJson } from "../lib/json.ts";
import { KEPT_DEAD_LETTERS_PREFIX, type KeptMetadata } from "../lib/kept-keys.ts";
import { logError, logInfo } from "../lib/log.ts";
import { keepDeadLetters, type QueueMessage } from "./keep-dead-letters.ts";

export type DeadLetterDeps = { db: Database; kv: KVNamespace; now: () => number };

/** A run reads, writes and deletes each key on its own, which is a few operations of the thousand that an invocation has. */
const MAX_KEYS_A_RUN = 50;

/**
 * Keeps a batch of dead letters: in the database, or where that refuses, in KV.
 * @throws what KV throws where both refuse: then the queue keeps them, and brings them again
 */
export async function keepDeadLettersSafely(
	{ db, kv, now }: DeadLetterDeps,
	queue: QueueName,
	messages: readonly QueueMessage[],
): Promise<void> {
	const [first] = messages;
	if (first === undefined) return;
	try {
		await keepDeadLetters(db, queue, messages, now());
	} catch (error) {
		logError("dead_letters.database_refused", error, { queue, count: messages.length });
		const kept = messages.map(({ id, body }): QueueMessage => ({ id, body }));
		const metadata: KeptMetadata = { count: kept.length };
		await kv.put(`${KEPT_DEAD_LETTERS_PREFIX}${queue}:${first.id}`, JSON.stringify(kept), { metadata });
	}
}

/** Writes what KV keeps into the database. @throws what the database or KV throws; the next run continues */
export async function sweepDeadLetters({ db, kv, now }: DeadLetterDeps): Promise<void> {
	const { keys } = await kv.list({ prefix: KEPT_DEAD_LETTERS_PREFIX, limit: MAX_KEYS_A_RUN });
	let count = 0;
	for (const { name } of keys) {
		const queue = QUEUE_NAMES.find((known) => name.startsWith(`${KEPT_DEAD_LETTERS_PREFIX}${known}:`));
		const text = queue === undefined ? null : await kv.get(name);
		// Null: deleted already, though the list still shows it, or not to be seen here yet; then the next run has it.
		if (queue === undefined || text === null) continue;
		const read = parseJson(text);
		const messages = Array.isArray(read) ? (read as readonly QueueMessage[]) : [{ id: name, body: text }];
		await keepDeadLetters(db, queue, messages, now());
		await kv.delete(name);
		count += messages.length;
	}
	if (count > 0) logInfo("dead_letters.kept_written", { count });
}
