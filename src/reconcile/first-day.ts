import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS, utcDay } from "../lib/time.ts";

/** The first day that any counter or click has; today where there is none. */
export function firstDay(db: Database, now: number): Promise<string> {
	return earliest(db, now, sql`true`, sql`true`, sql`true`);
}

/**
 * The same of a day and those after it, for whoever goes through them one by one: a date that some platform got wrong by years leaves as many
 * without anything.
 */
export async function firstDayFrom(db: Database, from: string, now: number): Promise<string> {
	const [begin, end] = [Date.parse(from), Date.parse(from) + DAY_MS].map(leastIdAt);
	// As nearly always: no counter need be looked at.
	const clicked = await db.all(sql`SELECT id FROM clicks WHERE id >= ${begin} AND id < ${end} LIMIT 1`);
	if (clicked.length > 0) return from;
	return earliest(db, now, sql`date >= ${from}`, sql`day >= ${from}`, sql`id >= ${begin}`);
}

async function earliest(db: Database, now: number, ofDates: SQL, ofDays: SQL, ofClicks: SQL): Promise<string> {
	const [found] = await db.all<{ day: string | null; clickedAt: number | null }>(sql`SELECT
		(SELECT MIN(day) FROM (SELECT MIN(date) AS day FROM daily_publishers WHERE ${ofDates}
			UNION ALL SELECT MIN(day) AS day FROM campaign_days WHERE ${ofDays}) f) AS day,
		(SELECT clicked_at FROM clicks WHERE ${ofClicks} ORDER BY id LIMIT 1) AS "clickedAt"`);
	const days = [utcDay(now), found?.day ?? null, found?.clickedAt == null ? null : utcDay(found.clickedAt)];
	return days.filter((day) => day !== null).sort()[0] ?? utcDay(now);
}
