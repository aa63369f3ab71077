/** What KV keeps because its own place refused it, until the cron takes it. */
import { KEPT_CLICKS_PREFIX, KEPT_DEAD_LETTERS_PREFIX, type KeptMetadata } from "../../lib/kept-keys.ts";
import type { Status } from "./status-answer.ts";

/** Counts what is under the first thousand keys of each kind: the figure then means as many or more. */
export async function readKept(kv: KVNamespace): Promise<Status["kept"]> {
	const [clicks, deadLetters] = await Promise.all([countKept(kv, KEPT_CLICKS_PREFIX), countKept(kv, KEPT_DEAD_LETTERS_PREFIX)]);
	return { clicks, dead_letters: deadLetters };
}

async function countKept(kv: KVNamespace, prefix: string): Promise<number> {
	const { keys } = await kv.list<KeptMetadata>({ prefix });
	return keys.reduce((sum, { metadata }) => sum + (metadata?.count ?? 1), 0);
}
