/** How often publishers were bid for, by groups. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import { cutPage } from "../http/pages.ts";
import type { BidEndpoint } from "../lib/enums.ts";
import { DAY_MS, HOUR_MS, isoTime, utcDay } from "../lib/time.ts";
import type { BidsGroup, BidsPage, BidsRow } from "./bids-answer.ts";
import type { BidsQuery } from "./bids-request.ts";

type Sums = { requests: number | null; bids: number | null };
type Row = Sums & Partial<Record<BidsGroup, string | number>>;

const COLUMNS: Record<BidsGroup, SQL> = {
	hour: sql`b.hour`,
	day: sql`b.hour / 24 AS day`,
	publisher: sql`b.publisher_id AS publisher`,
	endpoint: sql`b.endpoint`,
	reason: sql`CASE WHEN b.outcome = 'bid' THEN '' ELSE b.outcome END AS reason`,
};
const NAMES: Record<BidsGroup, SQL> = {
	hour: sql`hour`,
	day: sql`day`,
	publisher: sql`publisher`,
	endpoint: sql`endpoint`,
	reason: sql`reason`,
};

const SUMS = sql`SUM(requests) AS requests, SUM(CASE WHEN outcome = 'bid' THEN requests ELSE 0 END) AS bids`;

/** The rows of a page and one more, in the order of their group; and the total of the period. */
function bidsQueries({ group, fromHour, toHour, publisher, after, limit }: BidsQuery): [page: SQL, total: SQL] {
	const isOf = publisher === null ? sql`true` : sql`b.publisher_id = ${publisher}`;
	const counted = sql`FROM bid_hours b WHERE b.hour >= ${fromHour} AND b.hour < ${toHour} AND b.endpoint <> 'notice' AND ${isOf}`;
	const list = (parts: readonly SQL[]) => sql.join([...parts], sql`, `);
	const names = list(group.map((name) => NAMES[name]));
	const key = after === null ? null : list(after.map((value) => sql`${value}`));
	const isBehind = key === null ? sql`true` : sql`(${names}) > (${key})`;
	return [
		sql`SELECT ${names}, ${SUMS} FROM (SELECT ${list(group.map((name) => COLUMNS[name]))}, b.outcome, b.requests ${counted}) g
			WHERE ${isBehind} GROUP BY ${names} ORDER BY ${names} LIMIT ${limit + 1}`,
		sql`SELECT ${SUMS} ${counted}`,
	];
}

export async function readBids(db: Database, query: BidsQuery): Promise<BidsPage> {
	const { group, fromHour, toHour, limit } = query;
	const [page, total] = await runTransaction(db, bidsQueries(query));
	const [sums = { requests: 0, bids: 0 }] = (total?.results ?? []) as Sums[];
	const { shown, next } = cutPage((page?.results ?? []) as Row[], limit, (row) => group.map((name) => row[name] ?? ""));
	return {
		from: hourTime(fromHour),
		to: hourTime(toHour),
		group: [...group],
		data: shown.map((row) => ({ ...showGroup(row, group), ...showSums(row) })),
		total: showSums(sums),
		limit,
		next_cursor: next,
	};
}

function showGroup(row: Row, group: readonly BidsGroup[]): Partial<BidsRow> {
	const shown: Partial<BidsRow> = {};
	for (const name of group) {
		const value = row[name] ?? "";
		if (name === "hour") shown.hour = hourTime(Number(value));
		else if (name === "day") shown.day = utcDay(Number(value) * DAY_MS);
		else if (name === "endpoint") shown.endpoint = String(value) as BidEndpoint;
		else shown[name] = value === "" ? null : String(value);
	}
	return shown;
}

function showSums({ requests, bids }: Sums): BidsPage["total"] {
	const [all, won] = [requests ?? 0, bids ?? 0];
	return { requests: all, bids: won, no_bids: all - won };
}

/** @param hour Unix time in hours */
export function hourTime(hour: number): string {
	return isoTime(hour * HOUR_MS);
}
