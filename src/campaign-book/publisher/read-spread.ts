/** What every data centre has of shards that changed just now. */
import { asc, desc, gt } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { bookGarbage } from "../../db/schema/book.ts";
import { SHARD_PREFIX, SPREAD_MS } from "../format.ts";

/** What was replaced less than SPREAD_MS before, the latest first. */
export function selectSpread(db: Database, now: number) {
	return db
		.select({ key: bookGarbage.key })
		.from(bookGarbage)
		.where(gt(bookGarbage.replacedAt, now - SPREAD_MS))
		.orderBy(desc(bookGarbage.replacedAt), asc(bookGarbage.key));
}

/** The manifest's `spread`, of those: shards by the version that was the first of them to be replaced; null for none. */
export function writeSpread(replaced: readonly { key: string }[], bits: number): Record<string, string> | null {
	const prefix = `${SHARD_PREFIX}${bits}:`;
	const spread: Record<string, string> = {};
	for (const { key } of replaced) {
		if (!key.startsWith(prefix)) continue;
		const [index = "", version = ""] = key.slice(prefix.length).split(":");
		spread[index] = version;
	}
	return replaced.length === 0 ? null : spread;
}
