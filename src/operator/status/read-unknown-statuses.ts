/** Of the status: the words of platforms that no map knows, so that what they speak of stays pending. Bounded. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { isoTime } from "../../lib/time.ts";
import type { Status } from "./status-answer.ts";

/** Newest conversions that are counted by word. */
const MAX_CONVERSIONS = 10_000;
/** This many words are named, the most frequent. */
const MAX_WORDS = 20;
/** Characters of a word that are shown. */
const MAX_WORD = 100;

type Row = { platform: string; word: string; count: number; newest: number; total: number };

/** The statement behind the figures: for its query plan. */
export function unknownStatusesQuery(): SQL {
	return sql`SELECT platform, word, count(*) AS count, MAX(updated_at) AS newest, SUM(count(*)) OVER () AS total
		FROM (SELECT platform, substr(network_status, 1, ${MAX_WORD}) AS word, updated_at FROM conversions
			WHERE status_unknown = 1 AND status = 'pending' ORDER BY updated_at DESC LIMIT ${MAX_CONVERSIONS}) newest
		GROUP BY platform, word ORDER BY 3 DESC, 4 DESC, 1, 2 LIMIT ${MAX_WORDS}`;
}

export async function readUnknownStatuses(db: Database): Promise<Status["conversions"]["unknown_status"]> {
	const rows = await db.all<Row>(unknownStatusesQuery());
	return {
		count: rows[0]?.total ?? 0,
		words: rows.map(({ platform, word, count, newest }) => ({ platform, word, count, newest_at: isoTime(newest) })),
	};
}
