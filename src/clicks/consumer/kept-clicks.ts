/** Takes the clicks that the queue refused from KV into the database. */
import { parseJson } from "../../lib/json.ts";
import { KEPT_CLICK_PREFIX } from "../../lib/kept-keys.ts";
import { logInfo } from "../../lib/log.ts";
import { type ConsumeDeps, consumeClicks } from "./consume-clicks.ts";

/** Keys that KV reads at once. */
const KEYS_A_READ = 100;
/** At most so many clicks a run: an invocation may do 1,000 operations on KV, and each click is deleted on its own. */
const CLICKS_A_RUN = 300;

/**
 * Writes kept clicks by the consumer's own code and then deletes them. One that stays, because its deletion fails, is written
 * again by the next run, which changes nothing.
 * @throws whatever KV or the database throws; the next run continues
 */
export async function sweepKeptClicks(deps: ConsumeDeps): Promise<void> {
	const { kv } = deps;
	const { keys } = await kv.list({ prefix: KEPT_CLICK_PREFIX, limit: CLICKS_A_RUN });
	for (let at = 0; at < keys.length; at += KEYS_A_READ) {
		const names = keys.slice(at, at + KEYS_A_READ).map(({ name }) => name);
		const texts = await kv.get(names, { type: "text" });
		// A null one was deleted already, though the list still shows it, or is not to be seen here yet: then the next run has it.
		const clicks = names.flatMap((name) => {
			const text = texts.get(name) ?? null;
			return text === null ? [] : [{ id: name, body: parse(text) }];
		});
		await consumeClicks(deps, clicks);
		for (const { id } of clicks) await kv.delete(id);
	}
	if (keys.length > 0) logInfo("clicks.kept_written", { count: keys.length });
}

/** JSON, or the text itself, which then becomes a dead letter. */
function parse(text: string): unknown {
	const parsed = parseJson(text);
	return parsed === undefined ? text : parsed;
}
