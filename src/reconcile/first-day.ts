import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { utcDay } from "../lib/time.ts";

/** The first day that any counter or click has; today where there is none. */
export async function firstDay(db: Database, now: number): Promise<string> {
	const [found] = await db.all<{ day: string | null; clickedAt: number | null }>(sql`SELECT
		(SELECT MIN(day) FROM (SELECT MIN(date) AS day FROM daily_publishers UNION ALL SELECT MIN(day) AS day FROM campaign_days) f) AS day,
		(SELECT clicked_at FROM clicks ORDER BY id LIMIT 1) AS "clickedAt"`);
	const days = [utcDay(now), found?.day ?? null, found?.clickedAt == null ? null : utcDay(found.clickedAt)];
	return days.filter((day) => day !== null).sort()[0] ?? utcDay(now);
}
