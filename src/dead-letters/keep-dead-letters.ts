/** Messages that no consumer could take: kept in the database until the operator replays them. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { deadLetters } from "../db/schema/dead-letters.ts";
import type { QueueName } from "../lib/enums.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";

export type QueueMessage = { id: string; body: unknown };

/**
 * Keeps a batch of dead letters; one that comes twice is kept once, and stays replayed where it is: what fails once more after its replay is
 * another message, of an id of its own.
 */
export async function keepDeadLetters(db: Database, queue: QueueName, messages: readonly QueueMessage[], now: number): Promise<void> {
	// PostgreSQL refuses a statement that would write one row twice.
	const byId = new Map(messages.map(({ id, body }) => [id, { id, queue, body: JSON.stringify(body, readable), receivedAt: now }]));
	for (const part of splitByBytes([...byId.values()])) {
		await db.run(insertRows(deadLetters, part, sql`ON CONFLICT (id) DO NOTHING`));
	}
}

/**
 * PostgreSQL, to which letters of D1 may move, reads no member of JSON in which NUL or half a surrogate pair is escaped. What it makes of
 * such a message has U+FFFD instead, too.
 */
function readable(_: string, value: unknown): unknown {
	return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\ufffd") : value;
}
