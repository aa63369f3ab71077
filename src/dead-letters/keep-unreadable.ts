/** Messages of a format that this version does not know. */
import type { Database } from "../db/client.ts";
import type { QueueName } from "../lib/enums.ts";
import { logError } from "../lib/log.ts";
import { keepDeadLetters } from "./keep-dead-letters.ts";

/** So often a message comes, half a minute apart, while a version that knows it may be on its way. */
const MAX_ATTEMPTS = 5;

/** Has those that are new come again, and keeps the others as dead letters: a version that reads them has them by a replay. */
export async function keepUnreadable(
	{ db, now }: { db: Database; now: () => number },
	queue: QueueName,
	messages: readonly Message[],
): Promise<void> {
	if (messages.length === 0) return;
	logError("queue.unreadable", new Error("messages of an unknown format"), { queue, messages: messages.map(({ id }) => id).join(" ") });
	const old: Message[] = [];
	for (const message of messages) {
		if (message.attempts >= MAX_ATTEMPTS) old.push(message);
		else message.retry();
	}
	if (old.length === 0) return;
	try {
		await keepDeadLetters(db, queue, old, now());
		for (const message of old) message.ack();
	} catch (error) {
		logError("dead_letters.database_refused", error, { queue, count: old.length });
		for (const message of old) message.retry();
	}
}
