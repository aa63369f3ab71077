/** Checks a number of conversions, and keeps what differs for the operator's eyes. */
import { type SQL, sql } from "drizzle-orm";
import { type ConversionKey, keyOf } from "../conversions/conversion.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { ledgerDifferences } from "../db/schema/ledger-checks.ts";
import { logError } from "../lib/log.ts";
import { checkConversion, type LedgerDifference, type NetReason } from "./check-conversion.ts";
import { readConversions } from "./read-conversions.ts";

export type LedgerDeps = { db: Database; now: () => number };

/** How many conversions there are by why what was confirmed need not come to what reports show. */
export type Reasons = Partial<Record<NetReason, number>>;

export type LedgerResult = { conversions: number; differences: LedgerDifference[]; reasonOf: ReadonlyMap<string, NetReason> };

/** Differences that are kept, and those of a run that are logged. */
const MAX_KEPT = 1_000;
const MAX_LOGGED = 20;

/** @param alongside written in the transaction that keeps what differs */
export async function checkLedger(
	{ db, now }: LedgerDeps,
	keys: readonly ConversionKey[],
	alongside: (result: LedgerResult) => readonly SQL[] = () => [],
): Promise<LedgerResult> {
	const stored = keys.length === 0 ? [] : await readConversions(db, keys);
	const checked = stored.map((each) => ({ key: keyOf(each.conversion), ...checkConversion(each) }));
	const differences = checked.flatMap((each) => each.differences);
	const reasonOf = new Map(checked.flatMap(({ key, reason }) => (reason === null ? [] : [[key, reason] as const])));
	const result = { conversions: stored.length, differences, reasonOf };
	const foundAt = now();
	const rows = differences.length === 0 ? [] : await keptOf(db, keys, differences.slice(0, MAX_KEPT), foundAt);
	await runTransaction(db, [
		// Those found now take the place of those found before.
		sql`DELETE FROM ledger_differences WHERE ${isOf(keys)}`,
		...(rows.length > 0
			? [insertRows(ledgerDifferences, rows, sql`AND (SELECT count(*) FROM ledger_differences) < ${MAX_KEPT} ON CONFLICT DO NOTHING`)]
			: []),
		sql`UPDATE ledger_check SET checked_at = ${foundAt} WHERE id = 1`,
		...alongside(result),
	]);
	logDifferences(differences);
	return result;
}

function isOf(keys: readonly ConversionKey[]): SQL {
	return sql`(platform, txnid) IN (SELECT value ->> 'platform', value ->> 'txnid' FROM json_each(${JSON.stringify(keys)}))`;
}

/** What stands since an earlier check was found then. */
async function keptOf(db: Database, keys: readonly ConversionKey[], differences: readonly LedgerDifference[], foundAt: number) {
	const before = await db.all<LedgerDifference & { foundAt: number }>(
		sql`SELECT platform, txnid, kind, field, found_at AS "foundAt" FROM ledger_differences WHERE ${isOf(keys)}`,
	);
	const nameOf = ({ platform, txnid, kind, field }: LedgerDifference) => JSON.stringify([platform, txnid, kind, field]);
	const foundBefore = new Map(before.map((difference) => [nameOf(difference), difference.foundAt]));
	return differences.map((difference) => ({ ...difference, foundAt: foundBefore.get(nameOf(difference)) ?? foundAt }));
}

export function countReasons(reasons: Iterable<NetReason>, before: Reasons = {}): Reasons {
	const counts: Reasons = { ...before };
	for (const reason of reasons) counts[reason] = (counts[reason] ?? 0) + 1;
	return counts;
}

/** Fields that may be a user's: the log has their names alone. */
const OF_USERS: ReadonlySet<string> = new Set(["click_id", "publisher_click_id", "cid", "s2", "s3", "surl"]);

/** One line a difference, of the first ones. */
function logDifferences(differences: readonly LedgerDifference[]): void {
	for (const { platform, txnid, publisherId, kind, field, stored, expected } of differences.slice(0, MAX_LOGGED)) {
		const what = kind === "history" ? "a conversion differs from its events" : "callbacks differ from the report";
		const values = OF_USERS.has(field) ? {} : { stored, expected };
		logError("ledger.differs", new Error(what), { platform, txnid, publisher: publisherId, kind, field, ...values });
	}
	if (differences.length > MAX_LOGGED) logError("ledger.differs", new Error(`and ${differences.length - MAX_LOGGED} more`));
}
