/** Clicks that are taken back, or given back, are so in what prices are learned from, with what they have earned. */
import { type SQL, sql } from "drizzle-orm";
import { addClickRows } from "./add-rows.ts";
import { addConversions } from "./learn-conversions.ts";
import { CELL, CLICK_DAY, IS_ADDED, IS_LEARNED, JOIN_SOURCES } from "./placed.ts";

/**
 * Statements that stand before the one that changes the clicks' reasons.
 * @param sign  -1 where they are taken back
 * @param from  tables, the last of which is `clicks c`
 * @param moved which of its rows are moved
 */
export function moveLearnedClicks(sign: 1 | -1, from: SQL, moved: SQL): SQL[] {
	const counted = addConversions(sign, sql`${from} CROSS JOIN learning_conversions l`, sql`${moved} AND l.click_id = c.id AND l.paid = 1`);
	const count = (paid: SQL) =>
		sql`UPDATE learning_conversions SET paid = ${paid} WHERE click_id IN (SELECT c.id FROM ${from} WHERE ${moved})`;
	const isVoided = sql`EXISTS (SELECT 1 FROM conversions v
		WHERE v.platform = learning_conversions.platform AND v.txnid = learning_conversions.txnid AND v.verdict = 'voided')`;
	return [
		addClicks(sign, from, sql`${moved} AND ${IS_ADDED}`),
		...(sign === -1 ? [...counted, count(sql`0`)] : [count(sql`CASE WHEN ${isVoided} THEN 0 ELSE 1 END`), ...counted]),
	];
}

/** Adds clicks that are stored, or takes them back: those of them that are learned from. */
export function addClicks(sign: 1 | -1, from: SQL, condition: SQL): SQL {
	const one = sql`CAST(${sign} AS BIGINT)`;
	return addClickRows(sql`SELECT ${CELL}, ${CLICK_DAY}, ${one} * count(*), ${one} * sum(coalesce(c.gross_micros, c.bid_micros)), ${one} * sum(c.revenue_micros)
		FROM ${from} ${JOIN_SOURCES} WHERE ${condition} AND ${IS_LEARNED} GROUP BY ${CELL}, ${CLICK_DAY}`);
}
