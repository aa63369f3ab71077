/** Which UTC days were written to since a time. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { DAY_MS, MINUTE_MS, utcDay } from "../lib/time.ts";

/** Days that are taken from the changes of one hour. */
const MAX_DAYS = 400;

/** What was written shortly before a look may have become visible after it. */
const OVERLAP_MS = 10 * MINUTE_MS;

/** From when on changes may not have been seen by the last look, Unix milliseconds. */
export function unseenSince(lookedAt: number): number {
	return Math.max(0, lookedAt - OVERLAP_MS);
}

/** Days of conversions and adjustments that were written since; clicks of other days than today and yesterday come by replays only. */
export async function changedDays(db: Database, since: number): Promise<string[]> {
	const results = await runTransaction(db, [
		sql`SELECT DISTINCT event_at / 86400000 AS day FROM conversions WHERE updated_at >= ${since} LIMIT ${MAX_DAYS}`,
		sql`SELECT DISTINCT clicked_at / 86400000 AS day FROM conversions WHERE updated_at >= ${since} AND pricing_model = 'CPC' LIMIT ${MAX_DAYS}`,
		...adjustedDays(since),
	]);
	const rows = results.flatMap(({ results }) => results as { day: number | string | null }[]);
	return rows.flatMap(({ day }) => (day === null ? [] : [typeof day === "number" ? utcDay(day * DAY_MS) : day]));
}

/** By their time: who adjusts may choose the id. */
function adjustedDays(since: number): SQL[] {
	return [
		sql`SELECT DISTINCT a.date AS day FROM adjustments a WHERE a.at >= ${since} LIMIT ${MAX_DAYS}`,
		sql`SELECT DISTINCT o.date AS day FROM adjustments a CROSS JOIN adjustments o WHERE a.at >= ${since} AND o.id = a.undoes LIMIT ${MAX_DAYS}`,
		sql`SELECT DISTINCT c.clicked_at / 86400000 AS day FROM adjustments a CROSS JOIN clicks c
			WHERE a.at >= ${since} AND c.voided_by = a.id AND c.voided_by IS NOT NULL LIMIT ${MAX_DAYS}`,
	];
}
