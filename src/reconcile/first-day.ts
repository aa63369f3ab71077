import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS, utcDay } from "../lib/time.ts";

/** The first day that any counter or click has; today where there is none. */
export async function firstDay(db: Database, now: number): Promise<string> {
	const [found] = await db.all<{ day: string | null; clickedAt: number | null }>(sql`SELECT
		(SELECT MIN(day) FROM (SELECT MIN(date) AS day FROM daily_publishers UNION ALL SELECT MIN(day) AS day FROM campaign_days) f) AS day,
		(SELECT clicked_at FROM clicks ORDER BY id LIMIT 1) AS "clickedAt"`);
	return earliest(now, found?.day, dayOf(found?.clickedAt));
}

/**
 * The first day from one on that any counter, click or sale has, for whoever goes through days one by one: a date that some platform got
 * wrong by years leaves as many without anything. Sales count by themselves, since what their counters lost is looked for, too.
 */
export async function firstDayFrom(db: Database, from: string, now: number): Promise<string> {
	const begin = Date.parse(from);
	// As nearly always: nothing else need be looked at.
	const clicked = await db.all(sql`SELECT id FROM clicks WHERE id >= ${leastIdAt(begin)} AND id < ${leastIdAt(begin + DAY_MS)} LIMIT 1`);
	if (clicked.length > 0) return from;
	const ofSales = sql`stage = 'settled' AND test = 0 AND event_at >= ${begin}`;
	const [found] = await db.all<{
		day: string | null;
		clickedAt: number | null;
		soldAt: number | null;
		cancelledAt: number | null;
	}>(sql`SELECT
		(SELECT MIN(day) FROM (SELECT MIN(date) AS day FROM daily_publishers WHERE date >= ${from}
			UNION ALL SELECT MIN(date) AS day FROM daily_network WHERE date >= ${from}
			UNION ALL SELECT MIN(day) AS day FROM campaign_days WHERE day >= ${from}) f) AS day,
		(SELECT clicked_at FROM clicks WHERE id >= ${leastIdAt(begin)} ORDER BY id LIMIT 1) AS "clickedAt",
		(SELECT MIN(at) FROM (SELECT (SELECT MIN(v.event_at) FROM conversions v
			WHERE v.platform = p.id AND ${ofSales} AND status <> 'cancelled') AS at FROM platforms p) f) AS "soldAt",
		(SELECT MIN(event_at) FROM conversions WHERE ${ofSales} AND status = 'cancelled') AS "cancelledAt"`);
	return earliest(now, found?.day, dayOf(found?.clickedAt), dayOf(found?.soldAt), dayOf(found?.cancelledAt));
}

function dayOf(at: number | null | undefined): string | null {
	return at == null ? null : utcDay(at);
}

function earliest(now: number, ...days: readonly (string | null | undefined)[]): string {
	return [utcDay(now), ...days].filter((day) => typeof day === "string").sort()[0] ?? utcDay(now);
}
