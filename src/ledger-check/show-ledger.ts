import { type LedgerDifference, NET_REASONS } from "./check-conversion.ts";
import type { Reasons } from "./check-ledger.ts";
import type { NetReasons, ShownLedgerDifference } from "./ledger-answers.ts";

/** A difference as operators are shown it. */
export function showLedgerDifference({
	publisherId,
	platform,
	txnid,
	kind,
	field,
	stored,
	expected,
}: LedgerDifference): ShownLedgerDifference {
	return { platform, txnid, publisher: publisherId, kind, field, stored, expected };
}

/** Each reason with its number of conversions, those without any included. */
export function showReasons(reasons: Reasons): NetReasons {
	return Object.fromEntries(NET_REASONS.map((reason) => [reason, reasons[reason] ?? 0])) as NetReasons;
}
