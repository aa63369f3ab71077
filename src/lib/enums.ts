/** Closed lists, and the pattern of names, that several parts share, as they are spelled on the wire and in the database. */

/** What a publisher identity may be: the path segment of the OpenRTB endpoint. */
export const PUBLISHER_IDENTITY = /^[A-Za-z0-9_-]{1,64}$/;

/** What a publisher is paid for: conversions or clicks. Tokens carry the place in this list: it only ever grows at its end. */
export const PRICING_MODELS = ["CPA", "CPC"] as const;
export type PricingModel = (typeof PRICING_MODELS)[number];

/** A suspended publisher gets no bids, and nothing of what it sends is paid. */
export const PUBLISHER_STATUSES = ["active", "suspended"] as const;
export type PublisherStatus = (typeof PUBLISHER_STATUSES)[number];

/** What the budgets of a campaign count: what publishers are paid for clicks, or what the clicks cost before the publisher's share. */
export const BUDGET_BASES = ["publisher", "gross"] as const;
export type BudgetBasis = (typeof BUDGET_BASES)[number];

/** Where a click URL came from: a bid, or a tracking link. Tokens carry the place in this list: it only ever grows at its end. */
export const TOKEN_KINDS = ["openrtb", "serving-engine", "link"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** Endpoints that bid. */
export const BID_ENDPOINTS = ["openrtb", "serving-engine"] as const satisfies readonly TokenKind[];
export type BidEndpoint = (typeof BID_ENDPOINTS)[number];

/** What is counted by publisher and hour: requests of the endpoints that bid, and notices of what became of bids. */
export const COUNTED_ENDPOINTS = [...BID_ENDPOINTS, "notice"] as const;
export type CountedEndpoint = (typeof COUNTED_ENDPOINTS)[number];

/** What became of a bid, as a notice tells. */
export const NOTICE_KINDS = ["won", "billed", "lost"] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** Which link of a campaign a user is sent to. */
export const LINK_TYPES = ["homepage", "deeplink"] as const;
export type LinkType = (typeof LINK_TYPES)[number];

/** Traffic whose clicks may be worth more or less than others, whatever the campaign. */
export const TRAFFIC_LEVELS = ["publisher", "source", "link"] as const;
export type TrafficLevel = (typeof TRAFFIC_LEVELS)[number];

/** What a price is multiplied from: a campaign's factor with its keyword's, its exception of a publisher, and what traffic is worth. */
export const FACTOR_LEVELS = ["price", "campaign_publisher", ...TRAFFIC_LEVELS] as const;
export type FactorLevel = (typeof FACTOR_LEVELS)[number];

/** Why a learned price changes: a step towards what a night has learned, or a new number of the operator's. */
export const PRICE_CAUSES = ["learned", "number"] as const;
export type PriceCause = (typeof PRICE_CAUSES)[number];

/** What a campaign is paused for. */
export const CAPS = ["daily_clicks", "daily_budget", "total_budget"] as const;
export type Cap = (typeof CAPS)[number];

export const QUEUE_NAMES = ["clicks", "postbacks", "callbacks"] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** The jobs of the cron. */
export const CRON_JOBS = [
	"caps",
	"callbacks",
	"secrets",
	"size",
	"dead_letters",
	"conversions",
	"alerts",
	"clicks",
	"book",
	"retention",
	"sums",
	"days",
	"learning",
	"ledger",
] as const;
export type CronJob = (typeof CRON_JOBS)[number];

/** What became of a postback that came in. */
export const POSTBACK_OUTCOMES = ["accepted", "rejected", "unknown_key", "failed"] as const;

/** Where a conversion stands: only `settled` ones count anywhere. */
export const CONVERSION_STAGES = ["waiting", "unmatched", "quarantined", "settled"] as const;
export type UnsettledStage = Exclude<(typeof CONVERSION_STAGES)[number], "settled">;

/** How the affiliate platform says that a conversion stands. */
export const CONVERSION_STATUSES = ["approved", "pending", "cancelled"] as const;
export type ConversionStatus = (typeof CONVERSION_STATUSES)[number];

/**
 * Why a conversion whose click is known is quarantined: no exchange rate of its day, an amount above its ceiling, a click that nobody
 * saw (cookie stuffing), a publisher that is suspended.
 */
export const CONVERSION_HOLDS = ["no_rate", "amount", "review", "publisher_suspended"] as const;
export type ConversionHold = (typeof CONVERSION_HOLDS)[number];

/** An operator's word on a conversion. */
export const VERDICTS = ["released", "voided"] as const;
export type Verdict = (typeof VERDICTS)[number];

export const CONVERSION_EVENT_KINDS = [
	"received",
	"changed",
	"late",
	"attributed",
	"unmatched",
	"quarantined",
	"released",
	"judged",
	"revalued",
	"attached",
	"detached",
] as const;

/** By what a conversion found its click; `operator`: a person said so. */
export const ATTRIBUTIONS = ["click_hash", "publisher_click_id", "operator"] as const;
export type Attribution = (typeof ATTRIBUTIONS)[number];

/** Why no click was found; `other_platform`: it is a click on a campaign that this platform does not pay for. */
export const NO_MATCH_REASONS = ["no_click", "other_platform", "no_publisher", "ambiguous"] as const;
export type NoMatch = (typeof NO_MATCH_REASONS)[number];

/** What a publisher is told of a conversion: a credit, or that it is taken back. */
export const CALLBACK_STATUSES = ["approved", "cancelled"] as const;
export type CallbackStatus = (typeof CALLBACK_STATUSES)[number];

/** `exhausted`: the schedule has ended; the operator can replay it. `no_url`: the publisher has no callback address. */
export const CALLBACK_STATES = ["due", "delivered", "exhausted", "no_url"] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

/** How a publisher is told of another amount of what it was credited with: not at all, or by a cancellation and a new credit. */
export const AMENDMENTS = ["none", "pair"] as const;
export type Amendments = (typeof AMENDMENTS)[number];

/** What a payout below zero does to its conversion: it cancels it, or is a correction by that amount. */
export const NEGATIVE_PAYOUTS = ["cancel", "adjust"] as const;
export type NegativePayout = (typeof NEGATIVE_PAYOUTS)[number];

/** What becomes of a user's data where a privacy signal says no: passed on as sent, left out, or no bid at all. */
export const PRIVACY_POLICIES = ["as_sent", "strip", "no_bid"] as const;
export type PrivacyPolicy = (typeof PRIVACY_POLICIES)[number];

/** Why a due callback is put aside: an earlier one of its conversion comes first, or the publisher's address is paused. */
export const CALLBACK_HOLDS = ["order", "pause"] as const;

/**
 * Why a conversion's record in reports came, changed or went: its platform said so (`reported`, `cancelled`), its click was found, what it
 * was held for has ended, an operator's word or corrected rates; `moved`: an operator found it to be of another click; `held`: something has
 * to be settled first; `erased`: nothing of its user is left in it.
 */
export const CONVERSION_CHANGE_REASONS = [
	"reported",
	"click_found",
	"released",
	"restored",
	"revalued",
	"cancelled",
	"voided",
	"moved",
	"held",
	"erased",
] as const;
export type ConversionChangeReason = (typeof CONVERSION_CHANGE_REASONS)[number];

/** What operators do to sums that stand. */
export const ADJUSTMENT_KINDS = [
	"void_clicks",
	"void_conversion",
	"restore_conversion",
	"release_conversion",
	"attach_conversion",
	"amount",
	"undo",
	"revalue",
] as const;

/** What of a conversion is checked every night: its fields against its events, and what its publisher was told against its report. */
export const LEDGER_CHECKS = ["history", "callbacks"] as const;
export type LedgerCheckKind = (typeof LEDGER_CHECKS)[number];

/** Traffic that a brand may rule out, as the interface spells it. */
export const RESTRICTED_TRAFFIC = [
	"Coupons",
	"Promo Codes",
	"Incentivized Traffic",
	"Paid Search",
	"Email Spam",
	"Gift Cards",
	"Injected Traffic",
	"Fraudulent Traffic",
	"Coupon Extension",
	"Extension Traffic",
	"Voucher Code",
	"TM Bidding",
] as const;

/** What a brand may be offered for; `All` stands for each of them. */
export const TRAFFIC_TYPES = [
	"All",
	"BNPL",
	"Cashback",
	"Content",
	"Coupon",
	"Deal sites",
	"DSP",
	"Email",
	"Incentive",
	"Influencers",
	"Media buying",
	"Search",
	"Shopping",
	"Title",
] as const;
export type TrafficType = (typeof TRAFFIC_TYPES)[number];

/** What may hold the network's database. */
export const DATABASE_ENGINES = ["d1", "postgres"] as const;

/** Percents of what a database holds from which an operator is told. */
export const SIZE_ALERTS = [70, 85, 95] as const;
export type SizeAlert = (typeof SIZE_ALERTS)[number];

/**
 * How a database stands in a move. `none`: in use, or new. The one that is left is then `moving` and `moved`, and takes no writes; the one
 * that is moved to takes none but the move's while it is `moving`, `moved` or `cancelled`, and is `used` once the network has switched.
 */
export const MOVE_PHASES = ["none", "moving", "moved", "used", "cancelled"] as const;
export type MovePhase = (typeof MOVE_PHASES)[number];

/** What a move does with every table, one after the other. */
export const MOVE_STEPS = ["copy", "sums", "rows"] as const;
export type MoveStep = (typeof MOVE_STEPS)[number];

/** How the network was changed: by a file, one entry of it, what undid another, or a name that was rotated. */
export const NETWORK_CHANGE_KINDS = ["import", "patch", "undo", "names"] as const;
export type NetworkChangeKind = (typeof NETWORK_CHANGE_KINDS)[number];

/** What a publisher claims: a sale that it cannot see, or one that is not as it should be. */
export const CLAIM_KINDS = ["missing", "wrong"] as const;

/** `open` waits for the operator, `answered` for the publisher; the others are the end of it. */
export const CLAIM_STATES = ["open", "answered", "granted", "declined", "withdrawn"] as const;
export type ClaimState = (typeof CLAIM_STATES)[number];

/** What is read of a platform's statement, each from a column of its own. */
export const STATEMENT_FIELDS = ["txnid", "cid", "date", "payout", "sales", "currency", "status"] as const;
export type StatementField = (typeof STATEMENT_FIELDS)[number];

/** How dates such as 10/11/2026 are written. */
export const DATE_ORDERS = ["dmy", "mdy"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** What parameters that say yes or no may be. */
export const FLAGS = ["0", "1", "true", "false"] as const;
