/** The hourly job: which days have changed, and the comparison of some parts of them with every run of the cron until none is left. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { DAY_MS, HOUR_MS, utcDay } from "../lib/time.ts";
import { changedDays, unseenSince } from "./changed-days.ts";
import { firstDay, firstDayFrom } from "./first-day.ts";
import { FIRST_PART, readPart, writePart } from "./parts.ts";
import { logDifferences, type ReconcileDeps, reconcilePart, reconcileTotals } from "./reconcile-sums.ts";

/** Parts of days that one run compares: five days, where none has more than a transaction's worth. */
const PARTS_A_RUN = 10;
/**
 * The most that a run takes: choosing the days, with totals compared, and twelve for each part; of campaigns, two more for each hundred
 * thousand clicks of two days.
 */
export const SUMS_STATEMENTS = 25 + PARTS_A_RUN * 12;
const TOTALS_AN_HOUR = 500;
/** How often the comparison of a day is begun in an hour. */
const MAX_TRIES = 3;

type State = { selectedAt: number; turnDay: string | null; totalsAfter: number };

export async function sweepSums(deps: ReconcileDeps): Promise<void> {
	const { db } = deps;
	const now = deps.now();
	const [state] = await db.all<State>(
		sql`SELECT selected_at AS "selectedAt", turn_day AS "turnDay", totals_after AS "totalsAfter" FROM reconciliation WHERE id = 1`,
	);
	if (state === undefined) throw new Error("reconciliation has no row: the migrations did not run");
	if (now - state.selectedAt >= HOUR_MS) await startHour(deps, state, now);
	for (let parts = 0; parts < PARTS_A_RUN; parts++) {
		const [due] = await db.all<{ day: string; part: string | null }>(
			sql`SELECT day, part FROM reconciliation_days WHERE tries < ${MAX_TRIES} ORDER BY tries, day DESC LIMIT 1`,
		);
		if (due === undefined) break;
		await comparePart(deps, due);
	}
}

async function comparePart(deps: ReconcileDeps, { day, part }: { day: string; part: string | null }): Promise<void> {
	const { db } = deps;
	// Before the comparison, which may break off: then the others come first, and the part again.
	await db.run(sql`UPDATE reconciliation_days SET tries = tries + 1 WHERE day = ${day}`);
	const { differences, next } = await reconcilePart(deps, day, (part !== null && readPart(part)) || FIRST_PART, false);
	await db.run(
		next === null
			? sql`DELETE FROM reconciliation_days WHERE day = ${day}`
			: sql`UPDATE reconciliation_days SET tries = 0, part = ${writePart(next)} WHERE day = ${day}`,
	);
	logDifferences(differences);
}

/** Notes the days to compare, and compares totals of the next campaigns. */
async function startHour(deps: ReconcileDeps, state: State, now: number): Promise<void> {
	const { db } = deps;
	const turnDay = await nextTurn(db, state.turnDay, now);
	const days = new Set([utcDay(now - DAY_MS), utcDay(now), turnDay, ...(await changedDays(db, unseenSince(state.selectedAt)))]);
	const { differences, last } = await reconcileTotals(deps, state.totalsAfter, TOTALS_AN_HOUR, false);
	logDifferences(differences);
	await runTransaction(db, [
		sql`UPDATE reconciliation_days SET tries = 0 WHERE tries > 0`,
		sql`INSERT INTO reconciliation_days (day) SELECT atom FROM json_each(${JSON.stringify([...days])}) WHERE true ON CONFLICT (day) DO NOTHING`,
		sql`UPDATE reconciliation SET selected_at = ${now}, turn_day = ${turnDay}, totals_after = ${last ?? 0} WHERE id = 1`,
	]);
}

/** Each day that has anything has its turn, whether or not it is known to have changed; after the last one it is the first one's again. */
async function nextTurn(db: Database, before: string | null, now: number): Promise<string> {
	const next = before === null ? null : utcDay(Date.parse(before) + DAY_MS);
	return next !== null && next < utcDay(now) ? firstDayFrom(db, next, now) : firstDay(db, now);
}
