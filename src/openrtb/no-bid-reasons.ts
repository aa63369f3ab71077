import type { NoBidReason } from "./no-bid.ts";

/**
 * What each reason is, and the no-bid condition of the interface (1 to 9) that it falls under, null for what OpenRTB itself demands beyond
 * those nine.
 */
export const NO_BID_REASONS: Readonly<Record<NoBidReason, { condition: number | null; text: string }>> = {
	country_not_served: { condition: 1, text: "the auction's country is not served by this endpoint" },
	no_domain_or_keyword: { condition: 2, text: "the request has neither a domain nor a keyword" },
	publisher_not_enabled: { condition: 3, text: "the publisher is unknown or not enabled for this endpoint" },
	unknown_advertiser: { condition: 4, text: "no advertiser matches the domain or keyword" },
	brand_inactive: { condition: 4, text: "the advertiser is not active" },
	advertiser_blocked: { condition: 5, text: "the advertiser is blocked for the publisher or the country" },
	no_campaign: { condition: 6, text: "no active campaign with a link and a price serves this country" },
	cap_met: { condition: 7, text: "a cap of the campaign is met: it is paused" },
	outside_hours: { condition: 7, text: "the campaign's local hour is not an allowed one" },
	no_deeplink_campaign: { condition: 8, text: "a deeplink was sent and no verified deeplink campaign can take it" },
	floor_currency: { condition: 9, text: "the floor is in another currency than USD" },
	below_floor: { condition: 9, text: "the bid is below the floor" },
	unusable_floor: { condition: 9, text: "the floor cannot be read as an amount" },
	private_auction: { condition: null, text: "the auction is private: it takes bids on deals only, and there are none" },
	currency_not_accepted: { condition: null, text: "the auction does not accept bids in USD" },
	seat_not_accepted: { condition: null, text: "the auction does not accept bids from this seat" },
	advertiser_not_accepted: { condition: null, text: "the auction blocks this advertiser's domain" },
	category_not_accepted: { condition: null, text: "the auction does not accept advertisers of this category" },
	bot_user_agent: { condition: null, text: "the device's user agent is a known bot's" },
	schain_incomplete: { condition: null, text: "the supply chain is missing, incomplete or unreadable" },
	schain_not_accepted: { condition: null, text: "the supply chain names a party that is not among those agreed on" },
	privacy_refused: { condition: null, text: "a privacy signal says no, and the publisher then wants no bid" },
	too_complex: { condition: null, text: "the request's lists, or the candidates of its keyword, are more than one auction may cost" },
	book_unavailable: { condition: null, text: "the campaign book cannot be read, or no network was imported yet" },
	timed_out: { condition: null, text: "the campaign book did not arrive within the auction's time" },
};
