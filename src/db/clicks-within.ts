import { type SQL, sql } from "drizzle-orm";
import { leastIdAt } from "../lib/ids.ts";
import { HOUR_MS } from "../lib/time.ts";

/** Clicks `c` are found by their time-ordered ids, which have no other index; the time itself decides. */
export function anyClickWithin(from: number, to: number): SQL {
	return sql`c.id >= ${leastIdAt(from - HOUR_MS)} AND c.id < ${leastIdAt(to + HOUR_MS)} AND c.clicked_at >= ${from} AND c.clicked_at < ${to}`;
}
