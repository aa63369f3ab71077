/** What keeps a conversion whose worth is known from being credited: pure. */
import type { ConversionHold } from "../lib/enums.ts";
import { ABSOLUTE_MAX_PAYOUT_MICROS, ABSOLUTE_MAX_SALES_MICROS, DEFAULT_MAX_PAYOUT_MICROS } from "../lib/money.ts";
import { isUnseen } from "../lib/traffic-rules.ts";
import type { Conversion } from "./conversion.ts";
import type { CandidateClick } from "./match-click.ts";

export type HoldFacts = {
	/** Most that a conversion may pay, micro-dollars, as its platform and its campaign say. */
	platformMaxMicros: number | null;
	campaignMaxMicros: number | null;
	/** Why its click is not paid, or `embedded` where the same bid was stuffed into pages. */
	clickReason: CandidateClick["reason"];
	isPublisherSuspended: boolean;
};

/**
 * Null where nothing holds it. What is cancelled or a test counts nowhere, so nothing need hold it. An operator's release passes the
 * review, and the ceilings of platform and campaign up to `releasedMicros`; the absolute ones, on which sums rest, it does not.
 * @param releasedMicros see {@link releasedUpTo}
 */
export function holdOf(
	conversion: Pick<Conversion, "status" | "test" | "verdict">,
	worth: { grossMicros: number; salesUsdMicros: number },
	{ platformMaxMicros, campaignMaxMicros, clickReason, isPublisherSuspended }: HoldFacts,
	releasedMicros: number,
): ConversionHold | null {
	if (conversion.status === "cancelled" || conversion.test) return null;
	const isReleased = conversion.verdict === "released";
	const ceiling = Math.min(ABSOLUTE_MAX_PAYOUT_MICROS, Math.max(ceilingOf(platformMaxMicros, campaignMaxMicros), releasedMicros));
	if (worth.grossMicros > ceiling || worth.salesUsdMicros > ABSOLUTE_MAX_SALES_MICROS) return "amount";
	if (!isReleased && isUnseen(clickReason)) return "review";
	return isPublisherSuspended ? "publisher_suspended" : null;
}

/** What else than a postback is being decided. */
type Deciding = {
	/** Corrected rates: the payout in its own currency, for which the release was given, is the same. */
	isRevalued?: boolean;
	/** What the release passed that is given back now, since what took it away is undone; micro-dollars. */
	givenBackMicros?: number | undefined;
};

/**
 * The most that a release passes, micro-dollars: the amount that it was given for, or less that was stated since. A higher one takes
 * another word.
 * @param before as it stood before what is decided now
 */
export function releasedUpTo(
	before: Conversion | null,
	{ verdict }: Pick<Conversion, "verdict">,
	{ isRevalued = false, givenBackMicros }: Deciding = {},
): number {
	if (verdict !== "released") return 0;
	if (before?.verdict !== "released") return givenBackMicros ?? ABSOLUTE_MAX_PAYOUT_MICROS;
	const isPassed = before.heldFor === "publisher_suspended" || (before.stage === "settled" && before.status !== "cancelled");
	// Rates alone leave a release to what they hold.
	if (isRevalued && (isPassed || before.heldFor === "amount")) return ABSOLUTE_MAX_PAYOUT_MICROS;
	return isPassed ? (before.grossMicros ?? 0) : 0;
}

/** True for holds under which a conversion is pending, whatever its platform says. */
export function isKeptPending(hold: ConversionHold | null): boolean {
	return hold === "review" || hold === "publisher_suspended";
}

/** The lower of what is said; the default where nothing is. */
function ceilingOf(platformMaxMicros: number | null, campaignMaxMicros: number | null): number {
	const said = [platformMaxMicros, campaignMaxMicros].filter((micros) => micros !== null);
	return Math.min(ABSOLUTE_MAX_PAYOUT_MICROS, ...(said.length > 0 ? said : [DEFAULT_MAX_PAYOUT_MICROS]));
}
