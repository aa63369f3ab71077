/** What KV keeps because its own place refused it, until the cron takes it. */
import type { Database } from "../../db/client.ts";
import { readWrittenKeys } from "../../db/written-keys.ts";
import { KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX, type KeptMetadata } from "../../lib/kept-keys.ts";
import type { Status } from "./status-answer.ts";

/** Keys of each kind that are counted: with more of them the figure means as many or more. */
const MAX_KEYS = 1_000;

export async function readKept(db: Database, kv: KVNamespace): Promise<Status["kept"]> {
	const [clicks, deadLetters] = await Promise.all([
		countKept(kv, KEPT_CLICKS_PREFIX, (names) => readWrittenKeys(db, names)),
		countKept(kv, KEPT_DEAD_LETTERS_PREFIX, async () => new Set()),
	]);
	return { clicks, dead_letters: deadLetters };
}

/** @param readWritten those of some keys that are written, and are only to be deleted */
async function countKept(
	kv: KVNamespace,
	prefix: string,
	readWritten: (names: readonly string[]) => Promise<Set<string>>,
): Promise<number> {
	let keys = 0;
	let count = 0;
	for (let cursor: string | undefined; keys < MAX_KEYS; ) {
		const page = await kv.list<KeptMetadata>({ prefix, ...(cursor !== undefined && { cursor }) });
		const written = await readWritten(page.keys.map(({ name }) => name));
		const waiting = page.keys.filter(({ name }) => !written.has(name));
		keys += waiting.length;
		count += waiting.reduce((sum, { metadata }) => sum + (metadata?.count ?? 1), 0);
		if (page.list_complete) break;
		cursor = page.cursor;
	}
	return count;
}
