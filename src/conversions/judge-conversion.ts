/** An operator's word on a conversion: it is void, it is released, or an earlier word is taken back. */
import type { SQL } from "drizzle-orm";
import type { Verdict } from "../lib/enums.ts";
import { type ConversionKey, contributionOf } from "./conversion.ts";
import { readLedgerState } from "./read-ledger-state.ts";
import { settle } from "./settle.ts";
import { announce, factsOf, retryOvertaken, type SettleDeps } from "./settle-postbacks.ts";
import { writeSettlements } from "./write-settlements.ts";

export type Judgement = {
	/** False where the same was said before. */
	changed: boolean;
	/** What was said before. */
	previous: Verdict | null;
	/** What the sums grew by, micro-dollars; negative where they shrank. */
	publisherRevenueMicros: number;
	grossMicros: number;
};

type Options = {
	/** Says what would change, and writes nothing. */
	dryRun?: boolean;
	/** What is written in the same transaction, such as the adjustment's own row. */
	alongside?: (judgement: Judgement) => readonly SQL[];
};

/**
 * Sets the verdict of a conversion; sums, reports and callbacks follow in the same transaction. `voided` counts as cancelled, whatever the
 * platform says later; `released` passes the ceilings of platform and campaign, and a review; null returns to what the platform said last.
 * @returns null where there is no such conversion
 * @throws OvertakenError where other writers were faster every time; D1's error where it failed. Nothing is written then
 */
export function judgeConversion(
	deps: SettleDeps,
	{ platform, txnid }: ConversionKey,
	verdict: Verdict | null,
	adjustmentId: string,
	{ dryRun = false, alongside = () => [] }: Options = {},
): Promise<Judgement | null> {
	const key = { platform, txnid };
	return retryOvertaken(async () => {
		const now = deps.now();
		const standing = await readLedgerState(deps.db, [], [], [key]);
		const before = standing.conversionOf(key);
		if (before === null) return null;
		const settlement = settle(key, before, [{ verdict, adjustmentId }], factsOf(key, standing, now), now);
		const [old, present] = [contributionOf(before), contributionOf(settlement?.conversion ?? before)];
		const judgement = {
			changed: settlement !== null,
			previous: before.verdict,
			publisherRevenueMicros: (present?.conversionRevenueMicros ?? 0) - (old?.conversionRevenueMicros ?? 0),
			grossMicros: (present?.grossMicros ?? 0) - (old?.grossMicros ?? 0),
		};
		if (dryRun) return judgement;
		const outcomes =
			settlement === null ? [] : [{ before, settlement, ofBilledClick: standing.isBilledClick(settlement.conversion.clickId) }];
		await writeSettlements(deps.db, [], outcomes, alongside(judgement));
		await announce(deps, outcomes);
		return judgement;
	});
}
