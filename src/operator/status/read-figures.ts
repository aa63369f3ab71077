/** Of the status: how many callbacks, conversions and dead letters need something. One statement, all of it bounded. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import type { ConversionHold, QueueName, UnsettledStage } from "../../lib/enums.ts";
import { ageSeconds, isoTimeOrNull } from "../../lib/time.ts";
import type { Status } from "./status-answer.ts";

/** Nothing is counted further than this: the figure then means as many or more. */
const MAX_COUNTED = 10_000;

type Figures = {
	dirty: number;
	undelivered: number;
	oldest: number | null;
	overdue: number;
	exhausted: number;
	waiting: number;
	unmatched: number;
	quarantined: number;
	withoutRate: number;
	ofAmounts: number;
	forReview: number;
	ofSuspended: number;
	creditedWithoutRate: number;
	deadClicks: number;
	deadPostbacks: number;
	deadCallbacks: number;
};

type Shown = Pick<Status, "book_changes_waiting" | "dead_letters"> & {
	callbacks: Omit<Status["callbacks"], "paused">;
	conversions: Omit<Status["conversions"], "unknown_status">;
};

export async function readFigures(db: Database, now: number): Promise<Shown> {
	const figures = await db.get<Figures>(figuresQuery(now));
	return {
		book_changes_waiting: figures.dirty,
		callbacks: {
			undelivered: {
				count: figures.undelivered,
				oldest_at: isoTimeOrNull(figures.oldest),
				oldest_age_seconds: figures.oldest === null ? null : ageSeconds(figures.oldest, now),
			},
			overdue: figures.overdue,
			exhausted: figures.exhausted,
		},
		conversions: {
			waiting: figures.waiting,
			unmatched: figures.unmatched,
			quarantined: figures.quarantined,
			held_for: {
				no_rate: figures.withoutRate,
				amount: figures.ofAmounts,
				review: figures.forReview,
				publisher_suspended: figures.ofSuspended,
			},
			credited_without_rate: figures.creditedWithoutRate,
		},
		dead_letters: { clicks: figures.deadClicks, postbacks: figures.deadPostbacks, callbacks: figures.deadCallbacks },
	};
}

/** The statement behind the figures of the database. Each condition is that of a partial index, word for word. */
export function figuresQuery(now: number): SQL {
	const dead = (queue: QueueName) => counted(sql`SELECT 1 FROM dead_letters WHERE replayed_at IS NULL AND queue = ${queue}`);
	// What is cancelled, or a test, is worth nothing, and needs nobody.
	const open = (stage: UnsettledStage) =>
		counted(sql`SELECT 1 FROM conversions WHERE stage <> 'settled' AND status <> 'cancelled' AND test = 0 AND stage = ${stage}`);
	const held = (why: ConversionHold) =>
		counted(sql`SELECT 1 FROM conversions WHERE stage = 'quarantined' AND status <> 'cancelled' AND test = 0 AND held_for = ${why}`);
	return sql`SELECT
		${counted(sql`SELECT 1 FROM book_dirty_slots`)} + (SELECT count(*) FROM book_state WHERE id = 1 AND (next_bits IS NOT NULL OR manifest_dirty <> 0)) AS dirty,
		${counted(sql`SELECT 1 FROM callbacks WHERE state = 'due'`)} AS undelivered,
		(SELECT MIN(created_at) FROM callbacks WHERE state = 'due') AS oldest,
		${counted(sql`SELECT 1 FROM callbacks WHERE state = 'due' AND max(next_attempt_at, queued_until) <= ${now}`)} AS overdue,
		${counted(sql`SELECT 1 FROM callbacks WHERE state = 'exhausted'`)} AS exhausted,
		${counted(sql`SELECT 1 FROM conversions WHERE stage <> 'settled' AND stage = 'waiting'`)} AS waiting,
		${open("unmatched")} AS unmatched, ${open("quarantined")} AS quarantined,
		${held("no_rate")} AS "withoutRate", ${held("amount")} AS "ofAmounts", ${held("review")} AS "forReview",
		${held("publisher_suspended")} AS "ofSuspended",
		${counted(sql`SELECT 1 FROM conversions WHERE stage = 'quarantined' AND credited = 1 AND held_for = 'no_rate'`)} AS "creditedWithoutRate",
		${dead("clicks")} AS "deadClicks", ${dead("postbacks")} AS "deadPostbacks", ${dead("callbacks")} AS "deadCallbacks"`;
}

function counted(rows: SQL): SQL {
	return sql`(SELECT count(*) FROM (${rows} LIMIT ${MAX_COUNTED}))`;
}
