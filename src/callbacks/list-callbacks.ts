import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import type { callbackAttempts, callbacks } from "../db/schema/callbacks.ts";
import { formatUsd } from "../lib/money.ts";
import { OPERATOR_CURSOR } from "../lib/page-cursor.ts";
import { isoTime, isoTimeOrNull } from "../lib/time.ts";
import type { CallbackPage, ListedCallback } from "./operator-answers.ts";
import type { ListQuery } from "./requests.ts";
import { conditionOf, type Selection } from "./select-callbacks.ts";

/** This many attempts of a callback are listed. */
const ATTEMPTS_SHOWN = 20;

/** Rows that a page looks at where no index has all that is asked for: where these hold too few, the cursor goes on behind them. */
const MAX_LOOKED_AT = 20_000;

type Row = typeof callbacks.$inferSelect;
type AttemptRow = Pick<typeof callbackAttempts.$inferSelect, "callbackId" | "startedAt" | "httpStatus" | "latencyMs" | "answer">;

/**
 * A page of callbacks with their attempts, the newest first. Whatever is asked for, a bounded number of rows is looked at: a page may hold
 * fewer than its limit, even none, and still be followed by another.
 */
export async function listCallbacks({ db }: { db: Database }, query: ListQuery): Promise<CallbackPage> {
	const { limit } = query;
	const { looked, others, most } = lookAtCallbacks(query);
	const [found, last] = await runTransaction(db, [
		sql`SELECT id, platform, txnid, seq, publisher_id AS "publisherId", status, cid, payout_micros AS "payoutMicros",
				event_at AS "eventAt", state, held_for AS "heldFor", attempt_count AS "attemptCount", created_at AS "createdAt",
				next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
			FROM (${looked}) k WHERE ${others ?? sql`true`} ${ORDER} LIMIT ${limit + 1}`,
		...(others === null ? [] : [sql`SELECT created_at AS "createdAt", id FROM (${looked}) k ${ORDER} LIMIT 1 OFFSET ${most - 1}`]),
	]);
	const rows = (found?.results ?? []) as Row[];
	const [lastLookedAt] = (last?.results ?? []) as Pick<Row, "createdAt" | "id">[];
	const page = rows.slice(0, limit);
	const end = rows.length > page.length ? page.at(-1) : lastLookedAt;
	const attempts = Map.groupBy(await readAttempts(db, page), ({ callbackId }) => callbackId);
	return {
		data: page.map((row) => present(row, attempts.get(row.id) ?? [])),
		limit,
		next_cursor: end === undefined ? null : OPERATOR_CURSOR.write({ at: end.createdAt, id: end.id }),
	};
}

const ORDER = sql`ORDER BY created_at DESC, id DESC`;

/**
 * For its query plan, too: the next rows that one index finds in the order of the list, how many at most, and what else is asked of them; null
 * where that is all. Callbacks of an id or a transaction are few; of the states only those that somebody has to see have an index.
 */
export function lookAtCallbacks({ limit, cursor, ...selection }: ListQuery): { looked: SQL; others: SQL | null; most: number } {
	const { id, txnid, publisher, platform, state, from, to } = selection;
	const after = OPERATOR_CURSOR.read(cursor);
	const beyond = after === null ? sql`true` : sql`(created_at, id) < (${after.at}, ${after.id})`;
	const look = (of: Selection, most: number) => sql`SELECT * FROM callbacks WHERE ${conditionOf(of)} AND ${beyond} ${ORDER} LIMIT ${most}`;
	const isIndexed = publisher === undefined && (state === undefined || state === "due" || state === "exhausted");
	const isWhole = platform === undefined && (state === undefined || isIndexed);
	if (id !== undefined || txnid !== undefined || isWhole) return { looked: look(selection, limit + 1), others: null, most: limit + 1 };
	const others = conditionOf({ platform, ...(!isIndexed && { state }) });
	return { looked: look({ publisher, from, to, ...(isIndexed && { state }) }, MAX_LOOKED_AT), others, most: MAX_LOOKED_AT };
}

/** The last attempts of each of some callbacks, the newest first. */
async function readAttempts(db: Database, of: readonly Row[]): Promise<AttemptRow[]> {
	if (of.length === 0) return [];
	return db.all<AttemptRow>(sql`SELECT callback_id AS "callbackId", started_at AS "startedAt", http_status AS "httpStatus", latency_ms AS "latencyMs", answer
		FROM (SELECT a.*, row_number() OVER (PARTITION BY callback_id ORDER BY started_at DESC, id DESC) AS place FROM callback_attempts a
			WHERE callback_id IN (SELECT atom FROM json_each(${JSON.stringify(of.map(({ id }) => id))}))) newest
		WHERE place <= ${ATTEMPTS_SHOWN} ORDER BY callback_id, place`);
}

function present(row: Row, attempts: readonly AttemptRow[]): ListedCallback {
	return {
		id: row.id,
		platform: row.platform,
		txnid: row.txnid,
		seq: row.seq,
		publisher: row.publisherId,
		status: row.status,
		cid: row.cid,
		payout: formatUsd(row.payoutMicros),
		edate: isoTime(row.eventAt),
		state: row.state,
		held_for: row.heldFor,
		attempt_count: row.attemptCount,
		created_at: isoTime(row.createdAt),
		next_attempt_at: isoTimeOrNull(row.nextAttemptAt),
		delivered_at: isoTimeOrNull(row.deliveredAt),
		attempts: attempts.map(({ startedAt, httpStatus, latencyMs, answer }) => ({
			at: isoTime(startedAt),
			http_status: httpStatus,
			latency_ms: latencyMs,
			answer,
		})),
	};
}
