/** Of the status: which clicks are not paid, and whether counters are right. All of it bounded. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { DAY_MS, HOUR_MS, isoTime, isoTimeOrNull } from "../../lib/time.ts";
import type { CLICK_REASONS } from "../../lib/traffic-rules.ts";
import type { Counter, Difference } from "../../reconcile/compare-sums.ts";
import { showDifference } from "../../reconcile/show-difference.ts";
import type { Status } from "./status-answer.ts";

/** Newest clicks that are counted by reason. */
const MAX_CLICKS = 10_000;
/** Connections whose dropped clicks are added up. */
const MAX_CONNECTIONS = 10_000;
const MAX_DIFFERENCES = 20;

type Reason = (typeof CLICK_REASONS)[number];

/** The statements behind the figures: for their query plans. */
export function trafficQueries(now: number): SQL[] {
	return [
		sql`SELECT reason, count(*) AS count, MIN(clicked_at) AS since
			FROM (SELECT reason, clicked_at FROM clicks WHERE id >= ${leastIdAt(now - DAY_MS)} ORDER BY id DESC LIMIT ${MAX_CLICKS}) newest
			GROUP BY reason ORDER BY 2 DESC, coalesce(reason, '')`,
		sql`SELECT coalesce(SUM(dropped), 0) AS dropped
			FROM (SELECT dropped FROM unpaid_hours WHERE hour > ${Math.floor((now - DAY_MS) / HOUR_MS)} LIMIT ${MAX_CONNECTIONS}) newest`,
	];
}

export async function readClickFigures(db: Database, now: number): Promise<Status["clicks"]> {
	const [reasons, dropped] = await runTransaction(db, trafficQueries(now));
	const rows = (reasons?.results ?? []) as { reason: Reason | null; count: number; since: number }[];
	const [{ dropped: droppedCount } = { dropped: 0 }] = (dropped?.results ?? []) as { dropped: number }[];
	return {
		since: isoTime(rows.length === 0 ? now - DAY_MS : Math.min(...rows.map(({ since }) => since))),
		paid: rows.find(({ reason }) => reason === null)?.count ?? 0,
		unpaid: rows.flatMap(({ reason, count }) => (reason === null ? [] : [{ reason, count }])),
		dropped: droppedCount,
	};
}

export async function readSums(db: Database): Promise<Status["sums"]> {
	const [state, count, first] = await runTransaction(db, [
		sql`SELECT compared_at AS "comparedAt" FROM reconciliation WHERE id = 1`,
		sql`SELECT count(*) AS count FROM sum_differences`,
		sql`SELECT day, counter, key, column_name AS "column", stored, counted FROM sum_differences ORDER BY day DESC LIMIT ${MAX_DIFFERENCES}`,
	]);
	const [{ comparedAt } = { comparedAt: null }] = (state?.results ?? []) as { comparedAt: number | null }[];
	const [{ count: differenceCount } = { count: 0 }] = (count?.results ?? []) as { count: number }[];
	const rows = (first?.results ?? []) as (Omit<Difference, "key" | "counter"> & { counter: Counter; key: string })[];
	return {
		compared_at: isoTimeOrNull(comparedAt),
		difference_count: differenceCount,
		differences: rows.map(({ key, day, ...rest }) => {
			return showDifference({ ...rest, day: day === "" ? null : day, key: JSON.parse(key) as Difference["key"] });
		}),
	};
}
