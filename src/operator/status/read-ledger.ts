/** Of the status: whether conversions are what their events say, and whether publishers were told what reports show. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import type { LedgerDifference, NetReason } from "../../ledger-check/check-conversion.ts";
import { showLedgerDifference, showReasons } from "../../ledger-check/show-ledger.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import type { Status } from "./status-answer.ts";

const MAX_DIFFERENCES = 20;

type State = { checkedAt: number | null; wholeAt: number | null; wholeCount: number; wholeReasons: string };

export async function readLedger(db: Database): Promise<Status["ledger"]> {
	const [states, counts, first] = await runTransaction(db, [
		sql`SELECT checked_at AS "checkedAt", whole_at AS "wholeAt", whole_count AS "wholeCount", whole_reasons AS "wholeReasons"
			FROM ledger_check WHERE id = 1`,
		sql`SELECT count(*) AS count FROM ledger_differences`,
		sql`SELECT platform, txnid, kind, field, publisher_id AS "publisherId", stored, expected
			FROM ledger_differences ORDER BY found_at DESC, platform, txnid, kind, field LIMIT ${MAX_DIFFERENCES}`,
	]);
	const [state] = (states?.results ?? []) as State[];
	const [{ count } = { count: 0 }] = (counts?.results ?? []) as { count: number }[];
	const wholeAt = state?.wholeAt ?? null;
	return {
		checked_at: isoTimeOrNull(state?.checkedAt ?? null),
		whole:
			state === undefined || wholeAt === null
				? null
				: {
						ended_at: isoTime(wholeAt),
						conversions: state.wholeCount,
						reasons: showReasons(JSON.parse(state.wholeReasons) as Partial<Record<NetReason, number>>),
					},
		difference_count: count,
		differences: ((first?.results ?? []) as LedgerDifference[]).map(showLedgerDifference),
	};
}
