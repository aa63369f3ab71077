/** Messages that no consumer could take: kept in the database until the operator replays them. */
import { sql } from "drizzle-orm";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import type { Database } from "./client.ts";
import { deadLetters } from "./schema/dead-letters.ts";

export type QueueName = (typeof deadLetters.queue.enumValues)[number];
export type DeadLetter = { id: string; body: unknown };

/** Keeps a batch of dead letters; one that comes twice is kept once. */
export async function keepDeadLetters(db: Database, queue: QueueName, letters: readonly DeadLetter[], now: number): Promise<void> {
	for (const part of splitByBytes(letters.map(({ id, body }) => ({ id, body: JSON.stringify(body) })))) {
		await db.run(sql`INSERT INTO ${deadLetters} (id, queue, body, received_at)
			SELECT value ->> '$.id', ${queue}, value ->> '$.body', ${now} FROM json_each(${JSON.stringify(part)}) WHERE true
			ON CONFLICT (id) DO UPDATE SET received_at = excluded.received_at, replayed_at = NULL`);
	}
}
