/** GET /api/no-bids: how often a publisher was bid for, hour by hour, and why not. */
import { sql } from "drizzle-orm";
import * as v from "valibot";
import { readHours } from "../bid-counts/bids-request.ts";
import { hourTime } from "../bid-counts/read-bids.ts";
import type { Database } from "../db/client.ts";
import { moment } from "../http/datetime.ts";
import { type ListOrder, listOrder } from "../http/filters.ts";
import { cursorOf, cutPage } from "../http/pages.ts";
import { readQuery } from "../http/read-input.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { count, time } from "../lib/shapes.ts";
import { codeOf, noBidCode, tellReason } from "./explain-answer.ts";

const hourSchema = v.strictObject({
	hour: v.pipe(time, v.description("Its beginning.")),
	requests: v.pipe(count, v.description("Bids and no-bids.")),
	bids: count,
	no_bids: count,
	reasons: v.pipe(
		v.array(v.strictObject({ reason: v.string(), code: noBidCode, count })),
		v.description("Why there was no bid, the most frequent first; as `POST /api/explain` names it."),
	),
});

export const noBidsSchema = v.strictObject({
	data: v.array(hourSchema),
	limit: count,
	next_cursor: v.pipe(v.nullable(v.string()), v.description("Ask again with it; null where there are no more.")),
});

export const noBidsQuerySchema = v.strictObject({
	from: v.optional(moment),
	to: v.optional(moment),
	order: listOrder,
	limit: pageLimit,
	cursor: cursorOf(v.strictTuple([v.pipe(v.number(), v.safeInteger())])),
});

type NoBids = v.InferOutput<typeof noBidsSchema>;
export type NoBidsQuery = { fromHour: number; toHour: number; order: ListOrder; limit: number };

/** Without `from` it is a day before `to`, and without `to` now. @throws HttpError 422 that names every parameter at fault */
export function readNoBidsQuery(query: Record<string, string>, now: number): NoBidsQuery {
	const { from, to, order, limit, cursor } = readQuery(noBidsQuerySchema, query);
	const { fromHour, toHour } = readHours(from, to, now);
	if (cursor === undefined) return { fromHour, toHour, order, limit };
	const [last] = cursor;
	return order === "newest"
		? { fromHour, toHour: Math.min(toHour, last), order, limit }
		: { fromHour: Math.max(fromHour, last + 1), toHour, order, limit };
}

/** Outcomes that an hour may have: more than there are reasons. */
const MAX_OUTCOMES = 64;

/** Hours without a request are left out. */
export async function readNoBids(db: Database, publisherId: string, { fromHour, toHour, order, limit }: NoBidsQuery): Promise<NoBids> {
	const inOrder = order === "newest" ? sql`hour DESC` : sql`hour`;
	const rows = await db.all<{ hour: number; outcome: string; requests: number }>(sql`SELECT hour, outcome, SUM(requests) AS requests
		FROM bid_hours WHERE publisher_id = ${publisherId} AND hour >= ${fromHour} AND hour < ${toHour} AND endpoint <> 'notice'
		GROUP BY hour, outcome ORDER BY ${inOrder}, 3 DESC, outcome LIMIT ${(limit + 1) * MAX_OUTCOMES}`);
	const hours = [...Map.groupBy(rows, ({ hour }) => hour)];
	const { shown, next } = cutPage(hours, limit, ([hour]) => [hour]);
	return {
		data: shown.map(([hour, outcomes]) => {
			const sum = (some: typeof outcomes) => some.reduce((total, { requests }) => total + requests, 0);
			const lost = outcomes.filter(({ outcome }) => outcome !== "bid");
			const [requests, noBids] = [sum(outcomes), sum(lost)];
			return {
				hour: hourTime(hour),
				requests,
				bids: requests - noBids,
				no_bids: noBids,
				reasons: [...Map.groupBy(lost, ({ outcome }) => tellReason(outcome))]
					.map(([reason, of]) => ({ reason, code: codeOf(reason), count: sum(of) }))
					.sort((a, b) => b.count - a.count),
			};
		}),
		limit,
		next_cursor: next,
	};
}
