/** What a conversion of a known click is worth, and whether that counts: pure. */
import type { ConversionHold } from "../lib/enums.ts";
import { utcDay } from "../lib/time.ts";
import { isUnseen } from "../lib/traffic-rules.ts";
import type { Conversion } from "./conversion.ts";
import { shareOf, toUsdMicros } from "./exchange.ts";
import { type HoldFacts, holdOf, isKeptPending, releasedUpTo } from "./holds.ts";
import { type StatedPlatform, statusOf } from "./restate.ts";

export type StandFacts = {
	platform: StatedPlatform;
	/** Billionths of a USD on a day; null where no rate is known. */
	usdNanosOf: (currency: string, day: string) => number | null;
	holdFactsOf: (conversion: Conversion) => HoldFacts;
};

/** What changed a conversion, where that has an event of its own. */
export type Told =
	| { kind: "changed" | "late"; adjustmentId?: never; givenBackMicros?: never }
	| { kind: "judged" | "revalued" | "attached" | "detached"; adjustmentId: string; givenBackMicros?: number | undefined };

/**
 * A conversion of a known click: what it is worth, and whether that counts. From one that has a new rate and is settled, it takes nothing
 * that its publisher was suspended, or its link embedded, since.
 * @param before how it stood
 * @param told   what changes it
 */
export function stand(conversion: Conversion, before: Conversion | null, told: Told | null, facts: StandFacts): Conversion {
	const isRevalued = told?.kind === "revalued";
	const status = isKeptPending(conversion.heldFor) ? statusOf(conversion, facts.platform) : conversion.status;
	const { usdNanos, grossMicros, salesUsdMicros } = worthOf(conversion, before, isRevalued, facts);
	const holdFacts = holdFactsOf(conversion, before, isRevalued, facts);
	const clickUnseen = conversion.clickUnseen || isUnseen(holdFacts.clickReason);
	const valued = { ...conversion, status, clickUnseen, usdNanos, grossMicros, salesUsdMicros };
	if (usdNanos === null) return quarantined(valued, "no_rate");
	if (grossMicros === null || (salesUsdMicros === null && conversion.salesMicros !== null)) {
		return quarantined(isRevalued ? valued : withoutRelease(valued), "amount");
	}
	const worth = { grossMicros, salesUsdMicros: salesUsdMicros ?? 0 };
	const releasedMicros = releasedUpTo(before, conversion, { isRevalued, givenBackMicros: told?.givenBackMicros });
	const hold = holdOf(valued, worth, holdFacts, releasedMicros);
	if (hold === "amount") return quarantined(isRevalued ? valued : withoutRelease(valued), hold);
	if (hold !== null) return quarantined({ ...valued, status: isKeptPending(hold) ? "pending" : status }, hold);
	const earns = conversion.pricingModel === "CPA" && !conversion.test;
	const revenueMicros = earns ? shareOf(grossMicros, conversion.revenueSharePpm ?? 0) : 0;
	return { ...valued, stage: "settled", heldFor: null, revenueMicros };
}

function holdFactsOf(conversion: Conversion, before: Conversion | null, isRevalued: boolean, facts: StandFacts): HoldFacts {
	const known = facts.holdFactsOf(conversion);
	if (isRevalued && before?.stage === "settled") return { ...known, isPublisherSuspended: false, clickReason: null };
	// What speaks against its click may have been removed since, or erased. Earlier versions noted only the hold.
	return conversion.clickUnseen || conversion.heldFor === "review" ? { ...known, clickReason: "embedded" } : known;
}

/** Payout and sales in USD by the rate of the event's day. A rate that was applied stays, as long as currency and day do. */
function worthOf(
	conversion: Conversion,
	before: Conversion | null,
	isRevalued: boolean,
	facts: StandFacts,
): Pick<Conversion, "usdNanos" | "grossMicros" | "salesUsdMicros"> {
	const day = utcDay(conversion.eventAt);
	const isSameDay = before?.stage === "settled" && before.currency === conversion.currency && utcDay(before.eventAt) === day;
	const kept = isRevalued ? conversion.usdNanos : isSameDay ? before.usdNanos : null;
	const usdNanos = kept ?? facts.usdNanosOf(conversion.currency, day);
	if (usdNanos === null) return { usdNanos, grossMicros: null, salesUsdMicros: null };
	return {
		usdNanos,
		grossMicros: toUsdMicros(conversion.payoutMicros, usdNanos),
		// Sales below zero count as none: like a payout, they never lower what others have made.
		salesUsdMicros: conversion.salesMicros === null ? null : toUsdMicros(Math.max(0, conversion.salesMicros), usdNanos),
	};
}

function quarantined(conversion: Conversion, heldFor: ConversionHold): Conversion {
	return { ...conversion, stage: "quarantined", heldFor, revenueMicros: null };
}

/** Of a release that does not pass the amount nothing is left: another one may. */
export function withoutRelease(conversion: Conversion): Conversion {
	return conversion.verdict === "released" ? { ...conversion, verdict: null } : conversion;
}
