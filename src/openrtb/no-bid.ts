/**
 * Why an auction got no bid: a closed union, each reason with its no-bid code, OpenRTB's own below 500 where there is one that says the same,
 * ours from 500. What publishers are not told apart (`tellReason`) has one code. What people are told is in no-bid-reasons.ts, which the edge
 * has no use for.
 */
export const NO_BID_CODES = {
	country_not_served: 500,
	no_domain_or_keyword: 501,
	publisher_not_enabled: 7,
	unknown_advertiser: 502,
	brand_inactive: 503,
	advertiser_blocked: 504,
	no_campaign: 505,
	cap_met: 506,
	outside_hours: 506,
	no_deeplink_campaign: 507,
	floor_currency: 508,
	below_floor: 509,
	unusable_floor: 510,
	private_auction: 511,
	currency_not_accepted: 512,
	seat_not_accepted: 513,
	advertiser_not_accepted: 514,
	category_not_accepted: 515,
	bot_user_agent: 3,
	schain_incomplete: 16,
	schain_not_accepted: 17,
	privacy_refused: 517,
	too_complex: 516,
	book_unavailable: 1,
	timed_out: 15,
} as const satisfies Record<string, number>;

export type NoBidReason = keyof typeof NO_BID_CODES;
