/** Takes the clicks that the queue refused from KV into the database. */

import { parseJson } from "../../lib/json.ts";
import { CLICK_BATCH_PREFIX, KEPT_CLICKS_PREFIX } from "../../lib/kept-keys.ts";
import { logInfo } from "../../lib/log.ts";
import { type ConsumeDeps, consumeClicks } from "./consume-clicks.ts";

/** Keys that KV reads at once: the batches under them must stay below 25 MB together. */
const KEYS_A_READ = 30;
const DELETES_AT_ONCE = 6;
/** UTF-16 units of batches that are written together: as many as one statement takes, since a few clicks cost as many statements. */
const GROUP_LENGTH = 480_000;

/** How much of what KV keeps one run takes. A key is one deletion, and a thousand clicks some twenty statements. */
export type KeptShare = { keys: number; clicks: number };

/** What a run may take that shares its invocation, which may do 1,000 operations and 1,000 statements, with a publish. */
export const SMALL_SHARE: KeptShare = { keys: 100, clicks: 3_000 };
/** And one that has nearly all of them. */
export const LARGE_SHARE: KeptShare = { keys: 800, clicks: 30_000 };

/**
 * Writes kept clicks by the consumer's own code and then deletes them. One that stays, because its deletion fails, is written
 * again by the next run, which changes nothing.
 * @returns what it took, at most one group more than the share's clicks
 * @throws whatever KV or the database throws; the next run continues
 */
export async function sweepKeptClicks(deps: ConsumeDeps, share: KeptShare): Promise<KeptShare> {
	const { kv } = deps;
	const { keys } = await kv.list({ prefix: KEPT_CLICKS_PREFIX, limit: share.keys });
	const taken: KeptShare = { keys: 0, clicks: 0 };
	let group: Kept[] = [];
	let length = 0;
	const write = async () => {
		const clicks = group.flatMap(readKept);
		await consumeClicks(deps, clicks);
		for (let at = 0; at < group.length; at += DELETES_AT_ONCE) {
			await Promise.all(group.slice(at, at + DELETES_AT_ONCE).map(({ name }) => kv.delete(name)));
		}
		taken.keys += group.length;
		taken.clicks += clicks.length;
		group = [];
		length = 0;
	};
	for (let at = 0; at < keys.length && taken.clicks < share.clicks; at += KEYS_A_READ) {
		const names = keys.slice(at, at + KEYS_A_READ).map(({ name }) => name);
		for (const [name, text] of await kv.get(names, { type: "text" })) {
			// It was deleted already, though the list still shows it, or is not to be seen here yet: then the next run has it.
			if (text === null) continue;
			if (length + text.length > GROUP_LENGTH) await write();
			if (taken.clicks >= share.clicks) break;
			group.push({ name, text });
			length += text.length;
		}
	}
	await write();
	if (taken.keys > 0) logInfo("clicks.kept_written", { count: taken.clicks, keys: taken.keys });
	return taken;
}

type Kept = { name: string; text: string };

/** The messages under a key; what is no JSON is one, which then becomes a dead letter. */
function readKept({ name, text }: Kept): { id: string; body: unknown }[] {
	const body = parseJson(text);
	if (name.startsWith(CLICK_BATCH_PREFIX) && Array.isArray(body)) return body.map((click, at) => ({ id: `${name}:${at}`, body: click }));
	return [{ id: name, body: body === undefined ? text : body }];
}
