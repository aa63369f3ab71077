/** Weeks of clicks, where PostgreSQL stores them apart: made ahead, and dropped when they are old. */
import { sql } from "drizzle-orm";
import { type Database, runUpkeep } from "../db/client.ts";
import { noteDropped } from "../db/removed-clicks.ts";
import { logInfo } from "../lib/log.ts";
import { DAY_MS } from "../lib/time.ts";

/** Weeks that are there before their first click, this one counted. */
const WEEKS_AHEAD = 5;

/** Makes the weeks that are to come. A click that has none is stored in clicks_rest, so nothing is lost where this is late. */
export async function makeClickWeeks(db: Database, now: number): Promise<void> {
	// Each a transaction of its own: what is validated keeps nobody waiting, and the weeks are then attached without a look at clicks_rest.
	const [expected] = await runUpkeep<{ weeks: number }>(
		db,
		sql`SELECT expect_click_weeks(CAST(${now} AS BIGINT), ${WEEKS_AHEAD}) AS weeks`,
	);
	// It reads all that conversions came of in all years.
	if (expected?.weeks === 1) await runUpkeep(db, sql`SELECT validate_click_weeks()`);
	const [made] = await runUpkeep<{ weeks: number }>(db, sql`SELECT make_click_weeks(CAST(${now} AS BIGINT), ${WEEKS_AHEAD}) AS weeks`);
	if (made !== undefined && made.weeks > 0) logInfo("clicks.weeks_made", { weeks: made.weeks });
}

/** @param before when the oldest click that is kept was made, Unix milliseconds */
export async function dropClickWeeks(db: Database, before: number): Promise<void> {
	for (const { name } of await db.all<{ name: string }>(sql`SELECT name FROM click_weeks_before(CAST(${before} AS BIGINT))`)) {
		// First: that clicks are missed of which nobody knows that they were removed must never be.
		await db.run(noteDropped(endOfWeek(name)));
		// It moves all of the week that a conversion came of.
		const [dropped] = await runUpkeep<{ kept: number }>(db, sql`SELECT drop_click_week(${name}) AS kept`);
		logInfo("clicks.week_dropped", { week: name, kept: dropped?.kept ?? 0 });
	}
}

/** @param name `clicks_` and the week's Monday, with underscores */
function endOfWeek(name: string): number {
	return Date.parse(name.slice("clicks_".length).replaceAll("_", "-")) + 7 * DAY_MS;
}
