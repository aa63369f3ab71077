/** What codes of the API mean, in words. */
import type { CALLBACK_HOLDS } from "../lib/enums.ts";
import type { CLICK_REASONS } from "../lib/traffic-rules.ts";
import type { HistoryCause, Hold } from "../publisher-api/conversions-answer.ts";

type ClickReason = (typeof CLICK_REASONS)[number];

/** Why a click is not paid. */
export const CLICK_REASON_WORDS: Readonly<Record<ClickReason, string>> = {
	prefetch: "The link was called ahead of a click",
	embedded: "The link was loaded as an image, a frame or by a script, not opened by a person",
	head: "A HEAD request, which nobody sees",
	no_user_agent: "A program called, not a browser",
	bot: "A known bot called",
	test: "The bid was for a test request",
	expired: "The bid was too old",
	publisher_suspended: "The publisher was suspended",
	campaign_stopped: "The campaign was stopped",
	brand_stopped: "The brand was stopped",
	blocked: "The brand was blocked for the publisher, or in the country",
	country: "The visitor was in another country than the campaign",
	data_centre: "The visitor's network belongs to a hosting company",
	other_device: "Not the address and browser that the bid was asked for",
	duplicate: "Another click of the same bid is paid",
	repeat: "The same visitor had clicked for this brand shortly before",
	velocity: "Too many clicks of one visitor, address or network",
	over_cap: "The campaign's clicks of the day were used up",
	over_budget: "The campaign's money was used up",
	voided: "It was paid, and taken back after a review",
};

/** What a conversion that does not count yet waits for. */
export const HOLD_WORDS: Readonly<Record<Hold, string>> = {
	review: "It waits for a review",
	no_exchange_rate: "It waits for an exchange rate of its currency",
	account_suspended: "The account is suspended",
	test: "It is a test, and pays nothing",
};

/** What a callback that is due waits for. */
export const CALLBACK_HOLD_WORDS: Readonly<Record<(typeof CALLBACK_HOLDS)[number], string>> = {
	order: "An earlier one of its transaction",
	pause: "The address, which answers nothing, to answer again",
};

export const CAUSE_WORDS: Readonly<Record<HistoryCause, string>> = {
	reported: "Reported by the platform",
	matched: "Matched to its click",
	held: "Held",
	released: "Released",
	reviewed: "Decided by a person",
	revalued: "Revalued at another exchange rate",
};
