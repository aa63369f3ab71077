/**
 * The nightly job: every conversion has its turn once a UTC day, and each that was written is checked soon after; a bounded number of either
 * with every run of the cron.
 */
import { sql } from "drizzle-orm";
import { keyOf } from "../conversions/conversion.ts";
import { MINUTE_MS, utcDay } from "../lib/time.ts";
import { checkLedger, countReasons, type LedgerDeps, type Reasons } from "./check-ledger.ts";
import { readChangedKeys, readNextKeys } from "./read-conversions.ts";

/** Conversions of either kind that a run checks: 720,000 a day. */
const CONVERSIONS_A_RUN = 500;
/** The most that a run takes. */
export const LEDGER_STATEMENTS = 13;
/** What was written shortly before may be read a little later. */
const LAG_MS = 2 * MINUTE_MS;

type State = {
	changedAt: number;
	changedPlatform: string;
	changedTxnid: string;
	turnDay: string;
	turnPlatform: string | null;
	turnTxnid: string | null;
	turnCount: number;
	turnReasons: string;
};

export async function sweepLedger(deps: LedgerDeps): Promise<void> {
	const { db } = deps;
	const now = deps.now();
	const [state] =
		await db.all<State>(sql`SELECT changed_at AS "changedAt", changed_platform AS "changedPlatform", changed_txnid AS "changedTxnid",
		turn_day AS "turnDay", turn_platform AS "turnPlatform", turn_txnid AS "turnTxnid", turn_count AS "turnCount", turn_reasons AS "turnReasons"
		FROM ledger_check WHERE id = 1`);
	if (state === undefined) throw new Error("ledger_check has no row: the migrations did not run");
	const begun = beginTurn(state, utcDay(now));
	const seen = { changedAt: state.changedAt, platform: state.changedPlatform, txnid: state.changedTxnid };
	const changed = await readChangedKeys(db, seen, now - LAG_MS, CONVERSIONS_A_RUN);
	const next = begun === null ? [] : await readNextKeys(db, begun.after, CONVERSIONS_A_RUN);
	if (changed.length === 0 && begun === null) return;
	const isOfTurn = new Set(next.map(keyOf));
	const keys = [...next, ...changed.filter((key) => !isOfTurn.has(keyOf(key)))].map(({ platform, txnid }) => ({ platform, txnid }));
	const last = changed.at(-1) ?? seen;
	await checkLedger(deps, keys, ({ reasonOf }) => {
		const noted = sql`UPDATE ledger_check SET changed_at = ${last.changedAt}, changed_platform = ${last.platform}, changed_txnid = ${last.txnid}
			WHERE id = 1`;
		if (begun === null) return [noted];
		const reasons = countReasons(
			next.flatMap((key) => reasonOf.get(keyOf(key)) ?? []),
			begun.reasons,
		);
		const count = begun.count + next.length;
		const [end] = next.length < CONVERSIONS_A_RUN ? [] : next.slice(-1);
		return [
			noted,
			sql`UPDATE ledger_check SET turn_day = ${begun.day}, turn_platform = ${end?.platform ?? null}, turn_txnid = ${end?.txnid ?? null},
				turn_count = ${count}, turn_reasons = ${JSON.stringify(reasons)} WHERE id = 1`,
			...(end === undefined
				? [sql`UPDATE ledger_check SET whole_at = ${now}, whole_count = ${count}, whole_reasons = ${JSON.stringify(reasons)} WHERE id = 1`]
				: []),
		];
	});
}

/** The turn under way, or a new one where the day's has not begun; null where it is over. */
function beginTurn(state: State, today: string) {
	const { turnDay, turnPlatform, turnTxnid, turnCount, turnReasons } = state;
	if (turnPlatform !== null && turnTxnid !== null) {
		const after = { platform: turnPlatform, txnid: turnTxnid };
		return { day: turnDay, after, count: turnCount, reasons: JSON.parse(turnReasons) as Reasons };
	}
	return turnDay < today ? { day: today, after: { platform: "", txnid: "" }, count: 0, reasons: {} } : null;
}
