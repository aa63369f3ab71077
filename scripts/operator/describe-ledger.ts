import type { NetReasons, ShownLedgerDifference } from "../../src/ledger-check/ledger-answers.ts";

/** What differs of a conversion, in words. */
export function describeLedgerDifference({ platform, txnid, publisher, kind, field, stored, expected }: ShownLedgerDifference): string {
	const of = `${platform} ${txnid}${publisher === null ? "" : `, publisher ${publisher}`}`;
	if (kind === "history") return `${of}: ${field} is ${stored ?? "empty"}, its events give ${expected ?? "none"}`;
	switch (field) {
		case "order":
			return `${of}: its callbacks are out of order: ${stored}, where ${expected} belongs`;
		case "not_owed":
			return `${of}: ${stored} callback${stored === "1" ? "" : "s"}, and none is owed`;
		case "credit_stands":
			return `${of}: it is cancelled, and a credit of ${stored} USD was not taken back`;
		case "no_credit":
			return `${of}: it is approved, and its ${expected} USD were not credited`;
		case "credit_amount":
			return `${of}: credited with ${stored} USD, and it earns ${expected}; its publisher asks to be told`;
		default:
			return `${of}: ${field}: ${stored ?? "none"}, expected ${expected ?? "none"}`;
	}
}

const REASONS: Record<keyof NetReasons, string> = {
	pending: "pending: in reports, and not credited or taken back yet",
	held: "credited, and kept out of reports since",
	amount_changed: "credited with another amount than reports show now",
	not_delivered: "with a callback on its way",
	paused: "with a callback that waits for a paused address",
	exhausted: "with a callback whose retries have ended",
	no_url: "of publishers without a callback address",
};

/** One line a reason that there is. */
export function describeReasons(reasons: NetReasons): string[] {
	return (Object.keys(REASONS) as (keyof NetReasons)[])
		.filter((reason) => reasons[reason] > 0)
		.map((reason) => `${reasons[reason]} ${REASONS[reason]}`);
}
