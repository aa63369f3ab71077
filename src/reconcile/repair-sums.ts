/**
 * Writes counters right. What is missing is added, not the sum written: clicks and conversions that are counted meanwhile change rows
 * and counters alike, so that what a counter lacks stays the same and none of them is lost.
 */
import { type SQL, sql } from "drizzle-orm";
import { additionTo } from "../db/add-up.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { isConstraintError, OvertakenError } from "../db/overtaken.ts";
import { campaignDays, campaignTotals, dailyNetwork, dailyPublishers, dailySources } from "../db/schema/counters.ts";
import type { Counter, Difference } from "./compare-sums.ts";
import { SHAPES } from "./compare-sums.ts";

type Move = Record<string, unknown>;

const ADDITIONS = {
	daily_publishers: adding("daily_publishers", dailyPublishers, ["date"]),
	daily_sources: adding("daily_sources", dailySources, ["date"]),
	daily_network: adding("daily_network", dailyNetwork, ["date"]),
	campaign_days: adding("campaign_days", campaignDays, ["day"]),
	campaign_totals: adding("campaign_totals", campaignTotals, []),
};

function adding(counter: Counter, table: Parameters<typeof additionTo>[0], day: readonly string[]) {
	const { key, ofClicks, ofOthers } = SHAPES[counter];
	return additionTo<Move>(table, [...key, ...day], [...ofClicks, ...ofOthers]);
}

/**
 * Adds to each counter what it lacks, in one transaction.
 * @param version of the repairs that had been made when the differences were read
 * @param alongside what is written in the same transaction, where there is something to write right
 * @throws OvertakenError where another repair has been made since: it may have been of the same differences. Nothing is written then
 */
export async function repairSums(
	db: Database,
	version: number,
	differences: readonly Difference[],
	alongside: readonly SQL[] = [],
): Promise<void> {
	const moves = new Map<Counter, Move[]>();
	for (const { counter, day, key, column, stored, counted } of differences) {
		const sums = [...SHAPES[counter].ofClicks, ...SHAPES[counter].ofOthers].map((sum) => [sum, sum === column ? counted - stored : 0]);
		const move: Move = { ...Object.fromEntries(sums), ...key, ...(day !== null && { date: day, day }) };
		moves.set(counter, [...(moves.get(counter) ?? []), move]);
	}
	const statements = [...moves].flatMap(([counter, ofCounter]) => ADDITIONS[counter].statements(ofCounter));
	if (statements.length === 0) return;
	try {
		await runTransaction(db, [
			// Null, which the column refuses.
			sql`UPDATE reconciliation SET version = CASE WHEN version = ${version} THEN version + 1 END WHERE id = 1`,
			...statements,
			...alongside,
		]);
	} catch (error) {
		if (isConstraintError(error)) throw new OvertakenError("other counters were written right meanwhile", { cause: error });
		throw error;
	}
}
