/** An operator's word on a conversion: it is void, it is released, it is of this click, or an earlier word is taken back. */
import type { SQL } from "drizzle-orm";
import { OvertakenError, retryOvertaken } from "../db/overtaken.ts";
import type { Verdict } from "../lib/enums.ts";
import type { Conversion, ConversionKey, NewCallback } from "./conversion.ts";
import { releasedUpTo } from "./holds.ts";
import { type LedgerState, readLedgerState } from "./read-ledger-state.ts";
import { type Cause, settle } from "./settle.ts";
import { announce, factsOf, type SettleDeps } from "./settle-postbacks.ts";
import { growthOf, outcomeOf, writeSettlements } from "./write-settlements.ts";

export type Judgement = {
	/** False where the same was said before. */
	changed: boolean;
	/** The verdict before, and the most that it passed if it is a release, micro-dollars. */
	previous: Verdict | null;
	releasedMicros: number;
	/** What the sums grew by, micro-dollars; negative where they shrank. */
	publisherRevenueMicros: number;
	grossMicros: number;
	/** How it stands after it. */
	conversion: Conversion;
	/** What publishers are told of it. */
	callbacks: readonly NewCallback[];
};

type Options = {
	/** Says what would change, and writes nothing. */
	dryRun?: boolean;
	/** The version that the verdict was chosen by: whoever was overtaken has to choose again, and nothing is tried twice here. */
	ofVersion?: number;
	/** Of a release that is given back: what it passed, micro-dollars. A conversion that is worth more by now is held. */
	givenBackMicros?: number | undefined;
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
	key: ConversionKey,
	verdict: Verdict | null,
	adjustmentId: string,
	options: Options = {},
): Promise<Judgement | null> {
	return apply(deps, key, [], () => ({ verdict, adjustmentId, givenBackMicros: options.givenBackMicros }), options);
}

/**
 * Gives a conversion that has no click the one that an operator names, as if its platform had: whatever its platform may report on.
 * @param clickId clicks.id
 * @returns null where there is no such conversion, or no such click
 * @throws as {@link judgeConversion}
 */
export function attachConversion(
	deps: SettleDeps,
	key: ConversionKey,
	clickId: string,
	adjustmentId: string,
	options: Options = {},
): Promise<Judgement | null> {
	return apply(
		deps,
		key,
		[clickId],
		({ clickOf }) => {
			const attachTo = clickOf(clickId);
			return attachTo === null ? null : { attachTo, adjustmentId };
		},
		options,
	);
}

/** Takes a click that an operator named away again, if the conversion still has it. @returns @throws as {@link attachConversion} */
export function detachConversion(
	deps: SettleDeps,
	key: ConversionKey,
	clickId: string,
	adjustmentId: string,
	options: Options = {},
): Promise<Judgement | null> {
	return apply(deps, key, [], () => ({ detachFrom: clickId, adjustmentId }), options);
}

function apply(
	deps: SettleDeps,
	{ platform, txnid }: ConversionKey,
	clickIds: readonly string[],
	causeIn: (ledger: LedgerState) => Cause,
	{ dryRun = false, ofVersion, alongside = () => [] }: Options,
): Promise<Judgement | null> {
	const key = { platform, txnid };
	const judge = async () => {
		const now = deps.now();
		const ledger = await readLedgerState(deps.db, { others: [key], clickIds });
		const before = ledger.conversionOf(key);
		const cause = causeIn(ledger);
		if (before === null || cause === null) return null;
		if (ofVersion !== undefined && before.version !== ofVersion) throw new OvertakenError("judged by another version");
		const settlement = settle(key, before, [cause], factsOf(key, ledger, now), now);
		const conversion = settlement?.conversion ?? before;
		const outcomes = settlement === null ? [] : [outcomeOf(before, settlement, ledger.isBilledClick)];
		const judgement = {
			changed: settlement !== null,
			previous: before.verdict,
			releasedMicros: releasedUpTo(before, before),
			publisherRevenueMicros: growthOf(outcomes, "conversionRevenueMicros"),
			grossMicros: growthOf(outcomes, "grossMicros"),
			conversion,
			callbacks: settlement?.callbacks ?? [],
		};
		if (dryRun) return judgement;
		await writeSettlements(deps.db, [], outcomes, alongside(judgement));
		await announce(deps, outcomes);
		return judgement;
	};
	return ofVersion === undefined ? retryOvertaken(judge) : judge();
}
