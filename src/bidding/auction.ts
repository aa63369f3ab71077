/**
 * The auction: a pure function of the request's facts, the campaigns the book has for them, and the time. One decision type
 * feeds both endpoints and the operator's explanation.
 */
import { type BookBrand, type BookCampaign, type BookPublisher, isBrandBlocked } from "../campaign-book/book.ts";
import { type LearnedFactors, operatorView, type Reckoning } from "../campaign-book/learned.ts";
import type { LinkType } from "../lib/enums.ts";
import { hostOfAddress, isWithin, type WebAddress } from "../lib/host.ts";
import type { Keywords } from "../lib/keyword.ts";
import { priceToUsd } from "../lib/money.ts";
import type { NoBidReason } from "../openrtb/no-bid.ts";
import type { Floor } from "../openrtb/read-request.ts";
import { privacyOf } from "../privacy/privacy-of.ts";
import type { PrivacySignals } from "../privacy/signals.ts";
import { isBlocked, readBlockedHosts } from "./blocked-hosts.ts";
import { type CategoryRule, isCategoryAccepted } from "./categories.ts";
import { type CampaignVerdict, campaignVerdict } from "./eligibility.ts";
import { campaignPrice, highestPrice } from "./pricing.ts";

/** What an auction needs to know of a request, whichever endpoint it came by. */
export type AuctionRequest = {
	/** ISO 3166-1 alpha-2 code, upper case. */
	country: string;
	/** The advertiser's domain as sent; null when only a keyword was. */
	domain: string | null;
	/** The publisher's own name of the place that the bid is for, as its click will have it; null for none. */
	source: string | null;
	/** Canonical keyword, or several of which the best counts. */
	keyword: Keywords;
	/** A usable http(s) deeplink. */
	deeplink: WebAddress | null;
	/** Where no deeplink can be served: bid on the homepage (Serving Engine) or not at all (OpenRTB). */
	homepageInstead: boolean;
	/** The auction takes bids on deals only. */
	privateAuction: boolean;
	floor: Floor;
	/** Advertiser domains that the auction blocks. */
	blockedAdvertisers: readonly string[];
	allowedSeats: readonly string[];
	blockedSeats: readonly string[];
	/** Currencies the auction accepts; empty for all. */
	currencies: readonly string[];
	/** Null where the request says nothing of privacy. */
	privacy: PrivacySignals | null;
	/** Categories of advertisers that the auction takes; null for all. */
	categories: CategoryRule | null;
	/** The request asks for more work than any auction does. */
	tooComplex: boolean;
};

/** At most this many campaigns are looked at: a keyword's candidates come highest first, and one that bids ends the search. */
export const MAX_CONSIDERED = 2_000;

/** What the auction is held over. */
export type AuctionBook = {
	publisher: BookPublisher;
	/** Only the advertiser of the domain, or one candidate per campaign that has a keyword, highest keyword EPC first. */
	brands: Iterable<BookBrand>;
	isPaused: (campaignId: number) => boolean;
	/** What prices are multiplied by beyond what is in the book; null where they are not learned. */
	learned: LearnedFactors | null;
	/** The operator's id in IAB's Global Vendor List; absent where it has none. */
	vendorId?: number | undefined;
};

export type Bid = {
	outcome: "bid";
	publisher: BookPublisher;
	brand: BookBrand;
	campaign: BookCampaign;
	/** Publisher's earnings per click in ten-thousandths of a USD. */
	price: number;
	/** What made the price of what the book has; null where prices are not learned. */
	reckoning: Reckoning | null;
	isDeeplink: boolean;
	/** Nothing of the user may be passed on or kept. */
	stripped: boolean;
};
export type NoBid = { outcome: "no-bid"; reason: NoBidReason };
export type Decision = Bid | NoBid;

/** Told of every campaign considered, for explanations. */
export type Observer = (brand: BookBrand, campaign: BookCampaign, link: LinkType, verdict: CampaignVerdict) => void;

/** The seat a publisher bids from: the assigned one, otherwise its identity. */
export function seatOf(publisher: BookPublisher): string {
	return publisher.seat ?? publisher.identity;
}

/** The no-bids that do not depend on the campaigns. Null where the auction continues. */
function screen(request: AuctionRequest, publisher: BookPublisher): NoBid | null {
	const { floor, currencies, allowedSeats, blockedSeats } = request;
	if (request.tooComplex) return noBid("too_complex");
	if (request.privateAuction) return noBid("private_auction");
	if (request.domain === null && request.keyword === null) return noBid("no_domain_or_keyword");
	if (floor.kind === "other_currency") return noBid("floor_currency");
	if (floor.kind === "unusable") return noBid("unusable_floor");
	if (currencies.length > 0 && !currencies.some((code) => code.trim().toUpperCase() === "USD")) return noBid("currency_not_accepted");
	const seat = seatOf(publisher);
	if (blockedSeats.includes(seat)) return noBid("seat_not_accepted");
	if (allowedSeats.length > 0 && !allowedSeats.includes(seat)) return noBid("seat_not_accepted");
	return null;
}

/**
 * Holds the auction: among the eligible campaigns the highest price wins, then the lowest campaign id; the floor is compared
 * with that rounded price.
 */
export function runAuction(request: AuctionRequest, book: AuctionBook, now: number, observe?: Observer): Decision {
	const screened = screen(request, book.publisher);
	if (screened !== null) return screened;
	const treatment = request.privacy === null ? "as_sent" : privacyOf(request.privacy, book.publisher.privacy, book.vendorId ?? null);
	if (treatment === "no_bid") return noBid("privacy_refused");
	const decision = decide(request, book, now, observe);
	if (treatment === "strip" && decision.outcome === "bid") decision.stripped = true;
	return decision;
}

function decide(request: AuctionRequest, book: AuctionBook, now: number, observe?: Observer): Decision {
	// Most requests are for advertisers that nobody here knows, and lists of blocked ones have hundreds of hosts to read.
	if (Array.isArray(book.brands) && book.brands.length === 0) return noBid("unknown_advertiser");
	const blocked = readBlockedHosts(request.blockedAdvertisers);
	if (blocked === null) return noBid("too_complex");
	if (request.deeplink === null) return choose(request, blocked, null, book, now, observe);
	const decision = choose(request, blocked, request.deeplink, book, now, observe);
	if (decision.outcome === "bid" || !request.homepageInstead) return decision;
	return choose(request, blocked, null, book, now, observe);
}

/**
 * The best of the campaigns that may bid.
 * @param blocked  hosts that the auction blocks
 * @param deeplink the page to bid on; null for the homepage
 */
function choose(
	request: AuctionRequest,
	blocked: ReadonlySet<string>,
	deeplink: WebAddress | null,
	book: AuctionBook,
	now: number,
	observe?: Observer,
): Decision {
	const { publisher } = book;
	const link = deeplink === null ? "homepage" : "deeplink";
	const deeplinkHost = deeplink === null ? null : hostOfAddress(deeplink);
	const reckoning = book.learned === null || publisher.restrained ? null : book.learned.reckon(publisher, request.source, link, now);
	// By the operator's numbers, or nearly those, candidates come in no order.
	const isByOperator = publisher.restrained || publisher.released !== null;
	const isUnordered = observe !== undefined || (isByOperator && book.learned !== null);
	let considered = 0;
	let best: Bid | null = null;
	let reason: CandidateReason = "unknown_advertiser";
	for (const brand of book.brands) {
		// Keyword candidates come highest first: none that follows can reach the best price any more.
		if (best !== null && !isUnordered && highestPrice(brand, request.keyword, publisher.sharePpm, reckoning) < best.price) break;
		if (considered >= MAX_CONSIDERED) {
			if (best === null) return noBid("too_complex");
			break;
		}
		considered += Math.max(1, brand.campaigns.length);
		const rejected =
			brandReason(request, brand, publisher, blocked) ??
			(link === "deeplink" && !takesDeeplink(brand, deeplinkHost) ? "no_deeplink_campaign" : null);
		for (const each of brand.campaigns) {
			const campaign = publisher.restrained ? operatorView(each) : each;
			const verdict: CampaignVerdict<CandidateReason> =
				rejected === null
					? campaignVerdict(campaign, {
							country: request.country,
							link,
							now,
							isPaused: book.isPaused,
							price: campaignPrice(campaign, request.keyword, publisher.sharePpm, reckoning),
						})
					: { eligible: false, reason: rejected };
			observe?.(brand, campaign, link, verdict);
			if (!verdict.eligible) {
				reason = nearest(reason, verdict.reason);
				continue;
			}
			const { price } = verdict;
			if (best === null || price > best.price || (price === best.price && campaign.campaignId < best.campaign.campaignId)) {
				best = { outcome: "bid", publisher, brand, campaign, price, reckoning, isDeeplink: link === "deeplink", stripped: false };
			}
		}
		if (brand.campaigns.length === 0) reason = nearest(reason, rejected ?? "no_campaign");
	}
	if (best === null) return noBid(reason);
	if (request.floor.kind === "usd" && request.floor.amount > priceToUsd(best.price)) return noBid("below_floor");
	return best;
}

function brandReason(
	request: AuctionRequest,
	brand: BookBrand,
	publisher: BookPublisher,
	blocked: ReadonlySet<string>,
): CandidateReason | null {
	if (!brand.active) return "brand_inactive";
	if (isBrandBlocked(brand, publisher, request.country)) return "advertiser_blocked";
	if (isBlocked(brand.domain, blocked) || brand.aliases.some((alias) => isBlocked(alias, blocked))) return "advertiser_not_accepted";
	if (request.categories !== null && !isCategoryAccepted(brand.categories, request.categories)) return "category_not_accepted";
	return null;
}

/** A deeplink counts only on the brand's own hosts: its domain, its aliases, and their subdomains. */
function takesDeeplink(brand: BookBrand, host: string | null): boolean {
	return host !== null && (isWithin(host, brand.domain) || brand.aliases.some((alias) => isWithin(host, alias)));
}

/** Reasons of candidates, farthest from a bid first: where several lost, the one that came nearest names the no-bid. */
const DISTANCE = [
	"unknown_advertiser",
	"brand_inactive",
	"advertiser_blocked",
	"advertiser_not_accepted",
	"category_not_accepted",
	"no_campaign",
	"no_deeplink_campaign",
	"outside_hours",
	"cap_met",
] as const satisfies readonly NoBidReason[];

/** What a candidate can lose by. One without a place above would never name a no-bid. */
type CandidateReason = (typeof DISTANCE)[number];

function nearest(left: CandidateReason, right: CandidateReason): CandidateReason {
	return DISTANCE.indexOf(right) > DISTANCE.indexOf(left) ? right : left;
}

export function noBid(reason: NoBidReason): NoBid {
	return { outcome: "no-bid", reason };
}
