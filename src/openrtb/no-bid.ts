/**
 * Why an auction got no bid: a closed union, each reason with the no-bid condition of the interface (1 to 9) it falls under, null for what
 * OpenRTB itself demands beyond those nine; and with its no-bid code: OpenRTB's own below 500 where there is one that says the same, ours from
 * 500. What publishers are not told apart (`tellReason`) has one code.
 */
export const NO_BID_REASONS = {
	country_not_served: { condition: 1, code: 500, text: "the auction's country is not served by this endpoint" },
	no_domain_or_keyword: { condition: 2, code: 501, text: "the request has neither a domain nor a keyword" },
	publisher_not_enabled: { condition: 3, code: 7, text: "the publisher is unknown or not enabled for this endpoint" },
	unknown_advertiser: { condition: 4, code: 502, text: "no advertiser matches the domain or keyword" },
	brand_inactive: { condition: 4, code: 503, text: "the advertiser is not active" },
	advertiser_blocked: { condition: 5, code: 504, text: "the advertiser is blocked for the publisher or the country" },
	no_campaign: { condition: 6, code: 505, text: "no active campaign with a link and a price serves this country" },
	cap_met: { condition: 7, code: 506, text: "a cap of the campaign is met: it is paused" },
	outside_hours: { condition: 7, code: 506, text: "the campaign's local hour is not an allowed one" },
	no_deeplink_campaign: { condition: 8, code: 507, text: "a deeplink was sent and no verified deeplink campaign can take it" },
	floor_currency: { condition: 9, code: 508, text: "the floor is in another currency than USD" },
	below_floor: { condition: 9, code: 509, text: "the bid is below the floor" },
	unusable_floor: { condition: 9, code: 510, text: "the floor cannot be read as an amount" },
	private_auction: { condition: null, code: 511, text: "the auction is private: it takes bids on deals only, and there are none" },
	currency_not_accepted: { condition: null, code: 512, text: "the auction does not accept bids in USD" },
	seat_not_accepted: { condition: null, code: 513, text: "the auction does not accept bids from this seat" },
	advertiser_not_accepted: { condition: null, code: 514, text: "the auction blocks this advertiser's domain" },
	category_not_accepted: { condition: null, code: 515, text: "the auction does not accept advertisers of this category" },
	bot_user_agent: { condition: null, code: 3, text: "the device's user agent is a known bot's" },
	schain_incomplete: { condition: null, code: 16, text: "the supply chain is missing, incomplete or unreadable" },
	schain_not_accepted: { condition: null, code: 17, text: "the supply chain names a party that is not among those agreed on" },
	privacy_refused: { condition: null, code: 517, text: "a privacy signal says no, and the publisher then wants no bid" },
	too_complex: {
		condition: null,
		code: 516,
		text: "the request's lists, or the candidates of its keyword, are more than one auction may cost",
	},
	book_unavailable: { condition: null, code: 1, text: "the campaign book cannot be read, or no network was imported yet" },
	timed_out: { condition: null, code: 15, text: "the campaign book did not arrive within the auction's time" },
} as const satisfies Record<string, { condition: number | null; code: number; text: string }>;

export type NoBidReason = keyof typeof NO_BID_REASONS;
