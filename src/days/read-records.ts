/** Reads the records of a publisher's day, as `clickid_level` has them, a bounded number a query. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { DAY_MS } from "../lib/time.ts";
import { PAID_CLICK, PAID_CONVERSION, VOIDED_CLICK } from "../reports/counted.ts";
import type { DigestRecord } from "./digest.ts";

/** What records are of, in the order in which they are read. */
const REVENUE_TYPES = ["CPC", "VOID", "CPA", "ADJUSTMENT"] as const;

export type PublisherDay = { publisherId: string; day: string };
/** The last record that was read: its type, and what it is ordered by within that. */
export type Position = { type: number; at: number; first: string; second: string };
export const BEGINNING: Position = { type: 0, at: -1, first: "", second: "" };

type Row = { at: number; first: string; second: string; transactionId: string; clickId: string | null; revenueMicros: number };

/** @returns the next records, fewer than `limit` only at the end, where `next` is null */
export async function readRecords(
	db: Database,
	day: PublisherDay,
	after: Position,
	limit: number,
): Promise<{ records: DigestRecord[]; next: Position | null }> {
	const records: DigestRecord[] = [];
	let position = after;
	while (records.length < limit) {
		const { type } = position;
		const revType = REVENUE_TYPES[type];
		if (revType === undefined) return { records, next: null };
		const wanted = limit - records.length;
		const rows = await db.all<Row>(queryOf(revType, day, position, wanted));
		for (const { transactionId, clickId, revenueMicros } of rows) {
			records.push({ date: day.day, revType, transactionId, clickId: clickId ?? "", revenueMicros });
		}
		const last = rows.at(-1);
		position =
			rows.length < wanted || last === undefined
				? { ...BEGINNING, type: type + 1 }
				: { type, at: last.at, first: last.first, second: last.second };
	}
	return { records, next: position };
}

/** @param condition in the words of a partial index, so that it serves */
function clicksOf({ publisherId, day }: PublisherDay, { at, first }: Position, limit: number, condition: SQL, revenue: SQL): SQL {
	const from = Date.parse(day);
	return sql`SELECT clicked_at AS at, id AS first, '' AS second, click_hash AS "transactionId", publisher_click_id AS "clickId",
			${revenue} AS "revenueMicros"
		FROM clicks
		WHERE publisher_id = ${publisherId} AND clicked_at >= ${Math.max(from, at)} AND clicked_at < ${from + DAY_MS} AND ${condition}
			AND (clicked_at > ${at} OR id > ${first})
		ORDER BY clicked_at, id LIMIT ${limit}`;
}

export function queryOf(type: (typeof REVENUE_TYPES)[number], of: PublisherDay, after: Position, limit: number): SQL {
	const { publisherId, day } = of;
	const { at, first, second } = after;
	const from = Date.parse(day);
	switch (type) {
		case "CPC":
			return clicksOf(of, after, limit, PAID_CLICK, sql`revenue_micros`);
		case "VOID":
			return clicksOf(of, after, limit, VOIDED_CLICK, sql`0`);
		case "CPA":
			return sql`SELECT event_at AS at, platform AS first, txnid AS second, txnid AS "transactionId",
					publisher_click_id AS "clickId", revenue_micros AS "revenueMicros"
				FROM conversions
				WHERE publisher_id = ${publisherId} AND event_at >= ${Math.max(from, at)} AND event_at < ${from + DAY_MS} AND ${PAID_CONVERSION}
					AND (event_at > ${at} OR (platform, txnid) > (${first}, ${second}))
				ORDER BY event_at, platform, txnid LIMIT ${limit}`;
		case "ADJUSTMENT":
			return sql`SELECT 0 AS at, id AS first, '' AS second, id AS "transactionId", NULL AS "clickId", amount_micros AS "revenueMicros"
				FROM adjustments WHERE publisher_id = ${publisherId} AND date = ${day} AND id > ${first} ORDER BY id LIMIT ${limit}`;
	}
}
