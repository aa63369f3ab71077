import type { CampaignBook } from "../campaign-book/load.ts";
import type { ClickTokens } from "../click-token/token.ts";

/** What bidding needs of the Worker; built once an isolate. */
export type BiddingDeps = {
	book: CampaignBook;
	tokens: ClickTokens;
	/** Origin of the click tracker, without a trailing slash. */
	clickUrl: string;
	/** Present time, Unix milliseconds. */
	now: () => number;
};

export type WaitUntil = (promise: Promise<unknown>) => void;
