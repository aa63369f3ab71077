/** Compares counters with their rows, keeps what differs for the operator's eyes, and writes it right where that is wanted. */
import { type SQL, sql } from "drizzle-orm";
import { auditStatement } from "../audit/audit-statement.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { retryOvertaken } from "../db/overtaken.ts";
import { sumDifferences } from "../db/schema/reconciliation.ts";
import type { Actor } from "../http/actor.ts";
import { logError } from "../lib/log.ts";
import { readCampaigns } from "./campaign-sums.ts";
import { comparePublishers, compareTotals, type Difference, PUBLISHER_COUNTERS } from "./compare-sums.ts";
import { nextPublishers, PART_LIMITS, type Part, type PartLimits } from "./parts.ts";
import { readPublishers, readTotals } from "./read-sums.ts";
import { repairSums } from "./repair-sums.ts";

export type ReconcileDeps = { db: Database; now: () => number };

export type PartResult = {
	differences: Difference[];
	/** True where sums of clicks could not be compared, since clicks of the day were removed. */
	clicksGone: boolean;
	/** What of the day is to be compared next; null where that was the last part. */
	next: Part | null;
};

/** Who has counters written right; false where they are compared alone. */
export type Repair = Actor | false;

/** Differences of a day that are kept, and those of a run that are logged. */
const MAX_KEPT = 1_000;
const MAX_LOGGED = 20;
/** Differences that the audit has of a transaction; it counts the others. */
const MAX_AUDITED = 100;

/** Compares a part of a day; where `repair` is given, writes it right. */
export function reconcilePart(deps: ReconcileDeps, day: string, part: Part, repair: Repair, limits = PART_LIMITS): Promise<PartResult> {
	return retryOvertaken(() =>
		part.of === "publishers"
			? reconcilePublishers(deps, day, part.after, repair, limits)
			: reconcileCampaigns(deps, day, part.after, repair, limits),
	);
}

async function reconcilePublishers(
	deps: ReconcileDeps,
	day: string,
	after: string,
	repair: Repair,
	limits: PartLimits,
): Promise<PartResult> {
	const page = await nextPublishers(deps.db, day, after, limits);
	const { version, state, isWhole } = await readPublishers(deps.db, day, page);
	const differences = comparePublishers(state);
	if (repair) await repairSums(deps.db, version, differences, [auditRepair(deps, repair, day, differences)]);
	const counters = JSON.stringify(PUBLISHER_COUNTERS);
	const begin = after === "" ? sql`key ->> 'publisherId' >= ''` : sql`key ->> 'publisherId' > ${after}`;
	const end = page.upTo === null ? sql`` : sql` AND key ->> 'publisherId' <= ${page.upTo}`;
	const these = sql`day = ${day} AND counter IN (SELECT atom FROM json_each(${counters})) AND ${begin}${end}`;
	await keep(deps, day, these, repair ? [] : differences);
	const following: Part = page.upTo === null ? { of: "campaigns", after: 0 } : { of: "publishers", after: page.upTo };
	// What was written right makes room for what else differs.
	return { differences, clicksGone: state.areClicksGone, next: repair && !isWhole ? { of: "publishers", after } : following };
}

async function reconcileCampaigns(
	deps: ReconcileDeps,
	day: string,
	after: number,
	repair: Repair,
	limits: PartLimits,
): Promise<PartResult> {
	const { version, differences, areClicksGone, last } = await readCampaigns(deps.db, day, after, limits);
	if (repair) await repairSums(deps.db, version, differences, [auditRepair(deps, repair, day, differences)]);
	await keep(deps, day, sql`day = ${day} AND counter = 'campaign_days' AND ${isOfCampaigns(after, last)}`, repair ? [] : differences);
	return { differences, clicksGone: areClicksGone, next: last === null ? null : { of: "campaigns", after: last } };
}

function isOfCampaigns(after: number, last: number | null): SQL {
	const begin = sql`CAST(key ->> 'campaignId' AS BIGINT) > ${after}`;
	return last === null ? begin : sql`${begin} AND CAST(key ->> 'campaignId' AS BIGINT) <= ${last}`;
}

/** @returns the last campaign; null where there are no more behind it */
export async function reconcileTotals(
	deps: ReconcileDeps,
	after: number,
	limit: number,
	repair: Repair,
): Promise<{ differences: Difference[]; campaigns: number; last: number | null }> {
	return retryOvertaken(async () => {
		const { version, state, last } = await readTotals(deps.db, after, limit);
		const differences = compareTotals(state.stored, [...state.days, ...state.corrections]);
		if (repair) await repairSums(deps.db, version, differences, [auditRepair(deps, repair, "totals", differences)]);
		await keep(deps, "", sql`day = '' AND ${isOfCampaigns(after, last)}`, repair ? [] : differences);
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

/** Those found now take the place of those of `compared` that were found before. */
async function keep({ db, now }: ReconcileDeps, day: string, compared: SQL, differences: readonly Difference[]): Promise<void> {
	const foundAt = now();
	const rows = differences.length === 0 ? [] : await keptOf(db, day, compared, differences, foundAt);
	await runTransaction(db, [
		sql`DELETE FROM sum_differences WHERE ${compared}`,
		...(rows.length > 0 ? [insertRows(sumDifferences, rows)] : []),
		sql`UPDATE reconciliation SET compared_at = ${foundAt} WHERE id = 1`,
	]);
}

type Kept = Pick<typeof sumDifferences.$inferSelect, "counter" | "key" | "column" | "foundAt">;

/** What stands since an earlier comparison was found then. */
async function keptOf(db: Database, day: string, compared: SQL, differences: readonly Difference[], foundAt: number) {
	const before = await db.all<Kept & { isCompared: number }>(sql`SELECT counter, key, column_name AS "column", found_at AS "foundAt",
		CASE WHEN ${compared} THEN 1 ELSE 0 END AS "isCompared" FROM sum_differences WHERE day = ${day}`);
	const others = before.filter(({ isCompared }) => isCompared === 0).length;
	const nameOf = ({ counter, key, column }: Omit<Kept, "foundAt">) => JSON.stringify([counter, key, column]);
	const foundBefore = new Map(before.map((kept) => [nameOf(kept), kept.foundAt]));
	return differences.slice(0, Math.max(0, MAX_KEPT - others)).map(({ day, key, ...rest }) => {
		const row = { ...rest, day: day ?? "", key: JSON.stringify(key) };
		return { ...row, foundAt: foundBefore.get(nameOf(row)) ?? foundAt };
	});
}

/** One line a difference, of the first ones. */
export function logDifferences(differences: readonly Difference[]): void {
	for (const { counter, day, key, column, stored, counted } of differences.slice(0, MAX_LOGGED)) {
		logError("sums.differ", new Error(`${counter} differs from its rows`), { counter, day, ...key, column, stored, counted });
	}
	if (differences.length > MAX_LOGGED) logError("sums.differ", new Error(`and ${differences.length - MAX_LOGGED} more`));
}
