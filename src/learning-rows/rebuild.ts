/** What prices are learned from, made again from the ledger: clicks, conversions and their events. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { removedFrom } from "../db/removed-clicks.ts";
import { WEEK_DAYS, weekOf } from "../learning/fold.ts";
import { CONFIRMED_CLASSES, sizeClassOf } from "../learning/size-class.ts";
import { leastIdAt } from "../lib/ids.ts";
import { DAY_MS, HOUR_MS } from "../lib/time.ts";
import { addConversions } from "./learn-conversions.ts";
import { addClicks } from "./move-clicks.ts";
import { CLICK_DAY, IS_LEARNED, IS_PAID } from "./placed.ts";

/** The least payout of each class, micro-dollars: what SQL can count, having no logarithm. */
const LEAST_OF_CLASS: readonly number[] = Array.from({ length: 2 * Math.floor(Math.log2(Number.MAX_SAFE_INTEGER)) }, (_, size) => {
	const near = Math.round(2 ** (size / 2));
	return [near - 1, near, near + 1].find((micros) => micros > 0 && sizeClassOf(micros) >= size) ?? near;
});

/**
 * Whether clicks of a week have been removed: those without a conversion, so that what is left says of buyers alone.
 * @param week its first day
 */
export async function isThinned(db: Database, week: number): Promise<boolean> {
	return (await db.all(removedFrom("clicks", week * DAY_MS))).length > 0;
}

/** `learning_work`: the first day whose clicks were all there when learning began. Where they were from the first on there is no such row. */
const LEARNED_FROM = "learned from";

/** Of no earlier day anything is learned but delays: for whoever drops what is too old. @param oldest days since the epoch */
export function firstLearned(oldest: number): SQL {
	return sql`(SELECT max(day) FROM (SELECT CAST(${oldest} AS BIGINT) AS day
		UNION ALL SELECT CAST(value AS BIGINT) FROM learning_work WHERE name = ${LEARNED_FROM}) known)`;
}

/** Makes of a week whose clicks are gone in part what conversions tell by themselves, the delays, in place of its rows. */
export function rebuildThinnedWeek(db: Database, week: number, alongside: readonly SQL[]): Promise<void> {
	const end = week + WEEK_DAYS;
	const days = sql`day >= ${week} AND day < ${end}`;
	return rebuildWeek(db, week, alongside, [
		sql`DELETE FROM learning_clicks WHERE ${days}`,
		sql`DELETE FROM learning_earnings WHERE ${days}`,
		sql`INSERT INTO learning_work (name, value) VALUES (${LEARNED_FROM}, ${String(end)})
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
	]);
}

/**
 * Makes the rows of a week's clicks again, in one transaction: what is counted meanwhile is counted once. Sources stay as they are followed.
 * @param week its first day, see {@link weekOf}: older rows stand for such a week
 * @param alongside written in the same transaction, before it
 * @param then      after it
 */
export async function rebuildWeek(db: Database, week: number, alongside: readonly SQL[] = [], then: readonly SQL[] = []): Promise<void> {
	const [from, to] = [week * DAY_MS, (week + WEEK_DAYS) * DAY_MS];
	const ofWeek = sql`c.clicked_at >= ${from} AND c.clicked_at < ${to}`;
	const days = sql`day >= ${week} AND day < ${week + WEEK_DAYS}`;
	const learned = sql`l.day >= ${week} AND l.day < ${week + WEEK_DAYS} AND l.paid = 1 AND c.id = l.click_id`;
	await runTransaction(db, [
		...alongside,
		sql`DELETE FROM learning_clicks WHERE ${days}`,
		addClicks(1, sql`clicks c`, sql`c.id >= ${leastIdAt(from)} AND c.id < ${leastIdAt(to)} AND c.reason IS NULL`),
		sql`DELETE FROM learning_earnings WHERE ${days}`,
		sql`DELETE FROM learning_publisher_delays WHERE ${days}`,
		sql`DELETE FROM learning_conversions WHERE ${days}`,
		sql`INSERT INTO learning_conversions (platform, txnid, click_id, day, approved_lag, reversed_lag, net_micros, size_class, paid)
			WITH least AS MATERIALIZED (SELECT CAST(value AS BIGINT) AS micros FROM json_each(${JSON.stringify(LEAST_OF_CLASS)})),
			clicked AS MATERIALIZED (SELECT v.platform, v.txnid, v.click_id, ${CLICK_DAY} AS day, coalesce(v.gross_micros, 0) AS net_micros,
					CASE WHEN v.verdict = 'released' THEN ${CONFIRMED_CLASSES} ELSE 0 END AS confirmed,
					${IS_PAID} AS paid,
					coalesce((SELECT max(e.seq) FROM conversion_events e WHERE e.platform = v.platform AND e.txnid = v.txnid AND e.kind = 'detached'), 0) AS since
				FROM conversions v CROSS JOIN clicks c
				WHERE v.click_id >= ${leastIdAt(from - HOUR_MS)} AND v.click_id < ${leastIdAt(to + HOUR_MS)} AND c.id = v.click_id AND ${ofWeek}
					AND v.test = 0 AND ${IS_LEARNED} AND (c.reason IS NULL OR c.reason = 'voided')),
			told AS MATERIALIZED (SELECT g.platform, g.txnid, e.seq, e.at / 86400000 AS day, CASE WHEN
					(SELECT x.details -> 'set' ->> 'stage' FROM conversion_events x WHERE x.platform = e.platform AND x.txnid = e.txnid AND x.seq <= e.seq
						AND x.details -> 'set' ->> 'stage' IS NOT NULL ORDER BY x.seq DESC LIMIT 1) = 'settled'
					AND (SELECT x.details -> 'set' ->> 'status' FROM conversion_events x WHERE x.platform = e.platform AND x.txnid = e.txnid AND x.seq <= e.seq
						AND x.details -> 'set' ->> 'status' IS NOT NULL ORDER BY x.seq DESC LIMIT 1) = 'approved' THEN 1 ELSE 0 END AS stands
				FROM clicked g CROSS JOIN conversion_events e
				WHERE e.platform = g.platform AND e.txnid = g.txnid AND e.seq > g.since
					AND NOT EXISTS (SELECT 1 FROM conversion_events x
						WHERE x.platform = e.platform AND x.txnid = e.txnid AND x.seq > e.seq AND x.at = e.at)),
			stood AS (SELECT t.platform, t.txnid, min(t.day) AS day, max(t.seq) AS last FROM told t WHERE t.stands = 1 GROUP BY t.platform, t.txnid),
			ended AS (SELECT t.platform, t.txnid, min(t.day) AS day FROM told t JOIN stood s ON s.platform = t.platform AND s.txnid = t.txnid
				WHERE t.seq > s.last GROUP BY t.platform, t.txnid)
			SELECT g.platform, g.txnid, g.click_id, g.day, CASE WHEN s.day > g.day THEN s.day - g.day ELSE 0 END,
				CASE WHEN e.day > g.day THEN e.day - g.day WHEN e.day IS NOT NULL THEN 0 END, g.net_micros,
				CASE WHEN g.net_micros > 0 THEN (SELECT count(*) - 1 FROM least WHERE least.micros <= g.net_micros) + g.confirmed ELSE 0 END, g.paid
			FROM clicked g JOIN stood s ON s.platform = g.platform AND s.txnid = g.txnid
			LEFT JOIN ended e ON e.platform = g.platform AND e.txnid = g.txnid`,
		...addConversions(1, sql`learning_conversions l CROSS JOIN clicks c`, learned),
		...then,
	]);
}
