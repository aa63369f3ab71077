import type { CampaignBook } from "../campaign-book/load.ts";
import type { ClickTokens } from "../click-token/token.ts";
import type { Measure } from "../lib/measure.ts";
import type { DecisionCounts } from "./count-decisions.ts";

/** What bidding needs of the Worker; built once an isolate. */
export type BiddingDeps = {
	book: CampaignBook;
	tokens: ClickTokens;
	/** Origin of the click tracker, without a trailing slash. */
	clickUrl: string;
	/** The operator's id in IAB's Global Vendor List; absent where it has none. */
	vendorId?: number | undefined;
	/** For how long a click is paid at most, milliseconds. */
	clickTtlMs: number;
	/** Present time, Unix milliseconds. */
	now: () => number;
	/** Told of every decision; absent where nobody counts them. */
	measure?: Measure | undefined;
	/** Counts every decision, and every notice, by publisher and hour; absent where nobody is told. */
	counts?: Pick<DecisionCounts, "count" | "countNotice"> | undefined;
};
