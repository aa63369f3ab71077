/** Compares counters with their rows, keeps what differs for the operator's eyes, and writes it right where that is wanted. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../audit/audit-statement.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { OvertakenError } from "../db/overtaken.ts";
import { sumDifferences } from "../db/schema/reconciliation.ts";
import type { Actor } from "../http/actor.ts";
import { logError } from "../lib/log.ts";
import { compareDay, compareTotals, type Difference } from "./compare-sums.ts";
import { readDay, readTotals } from "./read-sums.ts";
import { repairSums } from "./repair-sums.ts";

export type ReconcileDeps = { db: Database; now: () => number };

export type DayResult = {
	differences: Difference[];
	/** True where sums of clicks could not be compared, since clicks of the day were removed. */
	clicksGone: boolean;
};

/** Who has counters written right; false where they are compared alone. */
export type Repair = Actor | false;

/** How often a part is read anew where another repair came in between. */
const MAX_TRIES = 5;
/** Differences of a day that are kept, and those of a run that are logged. */
const MAX_KEPT = 1_000;
const MAX_LOGGED = 20;
/** Differences that the audit has of a transaction; it counts the others. */
const MAX_AUDITED = 100;

export async function reconcileDay(deps: ReconcileDeps, day: string, repair: Repair): Promise<DayResult> {
	return again(async () => {
		const { version, state } = await readDay(deps.db, day);
		const differences = compareDay(state);
		if (repair) await repairSums(deps.db, version, differences, [auditRepair(deps, repair, day, differences)]);
		await keep(deps, sql`day = ${day}`, repair ? [] : differences);
		return { differences, clicksGone: state.clicks === null || state.quarters === null };
	});
}

/** @returns the last campaign; null where there are no more behind it */
export async function reconcileTotals(
	deps: ReconcileDeps,
	after: number,
	limit: number,
	repair: Repair,
): Promise<{ differences: Difference[]; campaigns: number; last: number | null }> {
	return again(async () => {
		const { version, state, last } = await readTotals(deps.db, after, limit);
		const differences = compareTotals(state.stored, [...state.days, ...state.corrections]);
		if (repair) await repairSums(deps.db, version, differences, [auditRepair(deps, repair, "totals", differences)]);
		const isOfThese = sql`day = '' AND CAST(key ->> 'campaignId' AS BIGINT) > ${after}`;
		await keep(
			deps,
			last === null ? isOfThese : sql`${isOfThese} AND CAST(key ->> 'campaignId' AS BIGINT) <= ${last}`,
			repair ? [] : differences,
		);
		return { differences, campaigns: Math.max(state.stored.length, state.days.length), last };
	});
}

function auditRepair({ now }: ReconcileDeps, actor: Actor, subjectId: string, differences: readonly Difference[]): SQL {
	const shown = differences.slice(0, MAX_AUDITED);
	return auditStatement(actor, now(), {
		verb: "reconcileSums",
		subjectKind: "counters",
		subjectId,
		before: shown.map(({ counter, key, column, stored }) => ({ counter, of: key, column, value: stored })),
		after: shown.map(({ counter, key, column, counted }) => ({ counter, of: key, column, value: counted })),
		counts: { counters: differences.length },
	});
}

async function again<Result>(run: () => Promise<Result>): Promise<Result> {
	for (let tries = 1; ; tries++) {
		try {
			return await run();
		} catch (error) {
			if (!(error instanceof OvertakenError) || tries === MAX_TRIES) throw error;
		}
	}
}

/** Those found now take the place of those found before. */
async function keep({ db, now }: ReconcileDeps, compared: ReturnType<typeof sql>, differences: readonly Difference[]): Promise<void> {
	const foundAt = now();
	const rows = differences.slice(0, MAX_KEPT).map(({ day, key, ...rest }) => {
		return { ...rest, day: day ?? "", key: JSON.stringify(key), foundAt };
	});
	await runTransaction(db, [
		sql`DELETE FROM sum_differences WHERE ${compared}`,
		...(rows.length > 0 ? [insertRows(sumDifferences, rows)] : []),
		sql`UPDATE reconciliation SET compared_at = ${foundAt} WHERE id = 1`,
	]);
}

/** One line a difference, of the first ones. */
export function logDifferences(differences: readonly Difference[]): void {
	for (const { counter, day, key, column, stored, counted } of differences.slice(0, MAX_LOGGED)) {
		logError("sums.differ", new Error(`${counter} differs from its rows`), { counter, day, ...key, column, stored, counted });
	}
	if (differences.length > MAX_LOGGED) logError("sums.differ", new Error(`and ${differences.length - MAX_LOGGED} more`));
}
