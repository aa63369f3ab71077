/**
 * Since when clicks are added to what prices are learned from: on D1 not while nobody learns (decision 0042).
 * Once anyone learns, they are from then on, and what was clicked before is made of the ledger, before any night learns from it.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { WEEK_DAYS, weekOf } from "../learning/fold.ts";
import { HISTORY_DAYS } from "../learning/settings.ts";
import { MAX_SOURCES } from "../learning/sources.ts";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS } from "../lib/time.ts";
import { admitSources } from "./learn-clicks.ts";
import { CLICK_DAY, IS_LEARNED, SOURCE } from "./placed.ts";
import { isThinned, rebuildThinnedWeek, rebuildWeek } from "./rebuild.ts";

/**
 * Has clicks added from now on, if they were not, and makes the rows of those before, a week at a time. Weeks whose
 * clicks are gone in part have none.
 * @param today days since the epoch
 * @param mayGoOn whether there is room for 15 statements more
 * @returns whether none are missing
 */
export async function closeGap(db: Database, today: number, mayGoOn: () => boolean): Promise<boolean> {
	let week = (await readGap(db)) ?? (await openGap(db, weekOf(today - HISTORY_DAYS)));
	while (week !== NOTHING_MISSING) {
		if (!mayGoOn()) return false;
		// Clocks differ: a day.
		const next: number = week + WEEK_DAYS > today + 1 ? NOTHING_MISSING : week + WEEK_DAYS;
		const isMade = sql`UPDATE click_sequence SET learning_gap = ${next} WHERE id = 1`;
		if (await isThinned(db, week)) await rebuildThinnedWeek(db, week, [isMade]);
		else await rebuildWeek(db, week, [admitClicked(week), isMade]);
		week = next;
	}
	return true;
}

/** Whether rows are missing. */
export async function hasGap(db: Database): Promise<boolean> {
	return (await readGap(db)) !== NOTHING_MISSING;
}

const NOTHING_MISSING = 0;

/** What the consumer is deciding now is decided again, and added. */
async function openGap(db: Database, week: number): Promise<number> {
	await db.run(sql`UPDATE click_sequence SET version = version + 1, learning_gap = ${week} WHERE id = 1 AND learning_gap IS NULL`);
	return week;
}

async function readGap(db: Database): Promise<number | null> {
	const [row] = await db.all<{ gap: number | null }>(sql`SELECT learning_gap AS gap FROM click_sequence WHERE id = 1`);
	return row?.gap ?? null;
}

/** Sources of a week's clicks, those taken back among them, which may be given back. */
function admitClicked(week: number): SQL {
	const [from, to] = [week, week + WEEK_DAYS].map((day) => leastIdAt(day * DAY_MS));
	return admitSources(
		sql`SELECT c.publisher_id, ${SOURCE} AS source, max(${CLICK_DAY}) AS day FROM clicks c
			WHERE c.id >= ${from} AND c.id < ${to} AND (c.reason IS NULL OR c.reason = 'voided') AND ${IS_LEARNED} GROUP BY c.publisher_id, ${SOURCE}`,
		sql`${MAX_SOURCES}`,
	);
}
