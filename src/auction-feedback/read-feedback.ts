/** GET /operator/auction-feedback: how often bids won, and what they would have had to beat. */
import { type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import { FEEDBACK_DAYS } from "../bid-counts/kept-for.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { day } from "../http/datetime.ts";
import { name } from "../http/filters.ts";
import { cutPage } from "../http/pages.ts";
import { groupCursor, groupOf, readDaySpan, requireKeyOf } from "../http/period.ts";
import { readQuery } from "../http/read-input.ts";
import { NOTICE_KINDS, type NoticeKind } from "../lib/enums.ts";
import { microsToDecimal4 } from "../lib/money.ts";
import { pageLimit } from "../lib/page-cursor.ts";
import { DAY_MS, HOUR_MS } from "../lib/time.ts";
import { FEEDBACK_GROUPS, type FeedbackGroup, type FeedbackPage, type FeedbackRow } from "./feedback-answer.ts";
import { LOST_TO_HIGHER_BID, meaningOf, WON } from "./loss-codes.ts";

export const feedbackQuerySchema = v.strictObject({
	group: groupOf(FEEDBACK_GROUPS, "day,publisher"),
	from: v.optional(day),
	to: v.optional(day),
	publisher: v.optional(name),
	limit: pageLimit,
	cursor: groupCursor,
});

export type FeedbackQuery = {
	group: readonly FeedbackGroup[];
	/** UTC days, both included. */
	from: string;
	to: string;
	publisher: string | null;
	limit: number;
	/** The group of the last row of the page before. */
	after: readonly (string | number)[] | null;
};

/** Without `from` it is six days before `to`, and without `to` today. @throws HttpError 422 that names every parameter at fault */
export function readFeedbackQuery(query: Record<string, string>, now: number): FeedbackQuery {
	const { group, from, to, publisher, limit, cursor } = readQuery(feedbackQuerySchema, query);
	const days = readDaySpan(from, to, now, { defaultDays: 6, maxDays: FEEDBACK_DAYS });
	requireKeyOf(group, cursor, ["loss"]);
	return { group, ...days, publisher: publisher ?? null, limit, after: cursor ?? null };
}

type Sums = { auctions: number | null; won: number | null; beaten: number | null; beaten_micros: number | null };
type Row = Sums & Partial<Record<FeedbackGroup, string | number>>;

const COLUMNS: Record<FeedbackGroup, SQL> = { day: sql`f.date AS day`, publisher: sql`f.publisher_id AS publisher`, loss: sql`f.loss` };
const NAMES: Record<FeedbackGroup, SQL> = { day: sql`day`, publisher: sql`publisher`, loss: sql`loss` };

const SUMS = sql`SUM(auctions) AS auctions, SUM(CASE WHEN code = ${WON} THEN auctions ELSE 0 END) AS won,
	SUM(CASE WHEN code = ${LOST_TO_HIGHER_BID} THEN priced ELSE 0 END) AS beaten,
	SUM(CASE WHEN code = ${LOST_TO_HIGHER_BID} THEN price_micros ELSE 0 END) AS beaten_micros`;

export async function readFeedback(db: Database, query: FeedbackQuery): Promise<FeedbackPage> {
	const { group, from, to, publisher, after, limit } = query;
	const counted = sql`FROM auction_feedback_days f WHERE f.date >= ${from} AND f.date <= ${to}
		AND ${publisher === null ? sql`true` : sql`f.publisher_id = ${publisher}`}`;
	const list = (parts: readonly SQL[]) => sql.join([...parts], sql`, `);
	const names = list(group.map((name) => NAMES[name]));
	const isBehind = after === null ? sql`true` : sql`(${names}) > (${list(after.map((value) => sql`${value}`))})`;
	const hours = [Date.parse(from), Date.parse(to) + DAY_MS].map((at) => at / HOUR_MS);
	const [page, total, told] = await runTransaction(db, [
		sql`SELECT ${names}, ${SUMS} FROM (
			SELECT ${list(group.map((name) => COLUMNS[name]))}, f.loss AS code, f.auctions, f.priced, f.price_micros ${counted}) g
			WHERE ${isBehind} GROUP BY ${names} ORDER BY ${names} LIMIT ${limit + 1}`,
		sql`SELECT ${SUMS} FROM (SELECT f.loss AS code, f.auctions, f.priced, f.price_micros ${counted}) g`,
		sql`SELECT outcome, SUM(requests) AS notices FROM bid_hours WHERE hour >= ${hours[0]} AND hour < ${hours[1]} AND endpoint = 'notice'
			AND ${publisher === null ? sql`true` : sql`publisher_id = ${publisher}`} GROUP BY outcome`,
	]);
	const { shown, next } = cutPage((page?.results ?? []) as Row[], limit, (row) => group.map((name) => row[name] ?? ""));
	const [sums] = (total?.results ?? []) as Sums[];
	const notices = new Map(((told?.results ?? []) as { outcome: string; notices: number }[]).map((row) => [row.outcome, row.notices]));
	return {
		from,
		to,
		group: [...group],
		data: shown.map((row) => ({ ...showGroup(row, group), ...showSums(row) })),
		total: {
			...showSums(sums),
			notices: Object.fromEntries(NOTICE_KINDS.map((kind) => [kind, notices.get(kind) ?? 0])) as Record<NoticeKind, number>,
		},
		limit,
		next_cursor: next,
	};
}

function showGroup(row: Row, group: readonly FeedbackGroup[]): Partial<FeedbackRow> {
	const shown: Partial<FeedbackRow> = {};
	for (const name of group) {
		if (name === "loss") {
			shown.loss = Number(row.loss);
			shown.meaning = meaningOf(shown.loss);
		} else shown[name] = String(row[name]);
	}
	return shown;
}

function showSums(row: Sums | undefined): Pick<FeedbackRow, "auctions" | "won" | "lost" | "win_rate" | "price_to_beat"> {
	const [auctions, won, beaten] = [row?.auctions ?? 0, row?.won ?? 0, row?.beaten ?? 0];
	return {
		auctions,
		won,
		lost: auctions - won,
		win_rate: auctions === 0 ? null : Math.round((won / auctions) * 10_000) / 10_000,
		price_to_beat: beaten === 0 ? null : microsToDecimal4((row?.beaten_micros ?? 0) / beaten),
	};
}
