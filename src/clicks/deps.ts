import type { CampaignBook } from "../campaign-book/load.ts";
import type { ClickTokens } from "../click-token/token.ts";
import type { Measure } from "../lib/measure.ts";
import type { ClickStore } from "./record-click.ts";

/** What the redirect needs of the Worker; built once an isolate. */
export type RedirectDeps = {
	book: CampaignBook;
	tokens: ClickTokens;
	store: ClickStore;
	/** Age from which the click URL of an auction is never paid, whatever the publisher's own time, in milliseconds. */
	clickTtlMs: number;
	/** Origin of the click tracker, to which clicks by http are led, without a trailing slash; absent where that is not of https either. */
	secureUrl?: string | undefined;
	/** The operator's id in IAB's Global Vendor List; absent where it has none. */
	vendorId?: number | undefined;
	/** Present time, Unix milliseconds. */
	now: () => number;
	/** Where clicks are counted; absent where no dataset is bound. */
	measure: Measure | undefined;
};
