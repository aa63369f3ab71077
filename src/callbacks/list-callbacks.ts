import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { callbackAttempts, callbacks } from "../db/schema/callbacks.ts";
import { formatUsd } from "../lib/money.ts";
import { OPERATOR_CURSOR } from "../lib/page-cursor.ts";
import type { CallbackPage, ListedCallback } from "./operator-answers.ts";
import type { ListQuery } from "./requests.ts";
import { conditionOf } from "./select-callbacks.ts";

/** So many attempts of a callback are listed. */
const ATTEMPTS_SHOWN = 20;

type Row = typeof callbacks.$inferSelect;
type AttemptRow = Pick<typeof callbackAttempts.$inferSelect, "callbackId" | "startedAt" | "httpStatus" | "latencyMs" | "answer">;

/** A page of callbacks with their attempts, the newest first. */
export async function listCallbacks({ db }: { db: Database }, query: ListQuery): Promise<CallbackPage> {
	const after = OPERATOR_CURSOR.read(query.cursor);
	const beyond = after === null ? sql`true` : sql`(created_at, id) < (${after.at}, ${after.id})`;
	const rows =
		await db.all<Row>(sql`SELECT id, platform, txnid, seq, publisher_id AS "publisherId", status, cid, payout_micros AS "payoutMicros",
			event_at AS "eventAt", state, held_for AS "heldFor", attempt_count AS "attemptCount", created_at AS "createdAt",
			next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
		FROM callbacks WHERE ${conditionOf(query)} AND ${beyond} ORDER BY created_at DESC, id DESC LIMIT ${query.limit + 1}`);
	const page = rows.slice(0, query.limit);
	const last = page.at(-1);
	const attempts = Map.groupBy(await readAttempts(db, page), ({ callbackId }) => callbackId);
	return {
		data: page.map((row) => present(row, attempts.get(row.id) ?? [])),
		next: rows.length > page.length && last !== undefined ? OPERATOR_CURSOR.write({ at: last.createdAt, id: last.id }) : null,
	};
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
		next_attempt_at: row.nextAttemptAt === null ? null : isoTime(row.nextAttemptAt),
		delivered_at: row.deliveredAt === null ? null : isoTime(row.deliveredAt),
		attempts: attempts.map(({ startedAt, httpStatus, latencyMs, answer }) => ({
			at: isoTime(startedAt),
			http_status: httpStatus,
			latency_ms: latencyMs,
			answer,
		})),
	};
}

function isoTime(at: number): string {
	return new Date(at).toISOString();
}
