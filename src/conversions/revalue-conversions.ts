/** Settled conversions are valued again, by the exchange rates that are stored now. */
import type { SQL } from "drizzle-orm";
import { retryOvertaken } from "../db/overtaken.ts";
import type { ConversionKey } from "./conversion.ts";
import { readLedgerState } from "./read-ledger-state.ts";
import { settle } from "./settle.ts";
import { announce, factsOf, type SettleDeps } from "./settle-postbacks.ts";
import { growthOf, type Outcome, outcomeOf, writeSettlements } from "./write-settlements.ts";

export type Revaluation = {
	/** Conversions that changed. */
	conversions: number;
	/** What the sums grew by, micro-dollars; negative where they shrank. */
	publisherRevenueMicros: number;
	grossMicros: number;
};

type Options = {
	/** Says what would change, and writes nothing. */
	dryRun?: boolean;
	/** What is written in the same transaction, such as how far the adjustment has come. */
	alongside?: (revaluation: Revaluation) => readonly SQL[];
};

/**
 * Sums, reports and callbacks follow in the same transaction.
 * @param keys some hundred at most; one that is not settled, or has the stored rate already, does not change
 * @throws OvertakenError where other writers were faster every time; D1's error where it failed. Nothing is written then
 */
export function revalueConversions(
	deps: SettleDeps,
	keys: readonly ConversionKey[],
	adjustmentId: string,
	{ dryRun = false, alongside = () => [] }: Options = {},
): Promise<Revaluation> {
	return retryOvertaken(async () => {
		const now = deps.now();
		const ledger = await readLedgerState(deps.db, { others: keys });
		const outcomes = keys.flatMap(({ platform, txnid }): Outcome[] => {
			const key = { platform, txnid };
			const before = ledger.conversionOf(key);
			const settlement = before === null ? null : settle(key, before, [{ revaluedBy: adjustmentId }], factsOf(key, ledger, now), now);
			return settlement === null ? [] : [outcomeOf(before, settlement, ledger.isBilledClick)];
		});
		const revaluation = {
			conversions: outcomes.length,
			publisherRevenueMicros: growthOf(outcomes, "conversionRevenueMicros"),
			grossMicros: growthOf(outcomes, "grossMicros"),
		};
		if (dryRun) return revaluation;
		await writeSettlements(deps.db, [], outcomes, alongside(revaluation));
		await announce(deps, outcomes);
		return revaluation;
	});
}
