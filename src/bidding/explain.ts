/** Explains a decision: the auction as it would be held now, with every campaign considered and why it lost. */
import type { BookPublisher } from "../campaign-book/book.ts";
import { type BookSnapshot, findByOpenRtbIdentity, findByPublisherId } from "../campaign-book/load.ts";
import type { WaitUntil } from "../lib/async.ts";
import type { BidEndpoint, LinkType } from "../lib/enums.ts";
import { formatPrice } from "../lib/money.ts";
import { decodeText } from "../lib/query.ts";
import { utf8 } from "../lib/utf8.ts";
import { NO_BID_CODES, type NoBidReason } from "../openrtb/no-bid.ts";
import { NO_BID_REASONS } from "../openrtb/no-bid-reasons.ts";
import { EXCESSES, excessOf } from "../openrtb/read-body.ts";
import { readBidRequest } from "../openrtb/read-request.ts";
import { refusalOf } from "../privacy/privacy-of.ts";
import type { PrivacySignals } from "../privacy/signals.ts";
import type { AuctionRequest, Decision, Observer } from "./auction.ts";
import type { BiddingDeps } from "./deps.ts";
import type { Explanation } from "./explain-answer.ts";
import { holdAuction, type Laying } from "./hold-auction.ts";
import { layOptions } from "./lay-options.ts";
import { pricingKeyword } from "./pricing.ts";
import { readServingEngineQuery } from "./serving-engine-route.ts";
import { toAuction } from "./to-auction.ts";

export type ExplainInput =
	/** `text` is the request as it was sent, where that is known. */
	| { endpoint: "openrtb"; identity: string; request: unknown; text?: string }
	| { endpoint: "serving-engine"; publisherId: string; query: string };

type Candidate = Explanation["candidates"][number];

/** What the prices of a request depend on beside its campaigns. */
export type AskedFor = {
	publisher: { kind: "publisher_id" | "publisher_identity"; value: string };
	sourceId: string | null;
	/** By those who could bid: the keyword that priced them, null where their EPC did. */
	priced: { campaignId: number; link: LinkType; keyword: string | null }[];
};

/** Holds the auction of an input with an observer. It mints no click URL and counts nothing. */
export async function explainBid(deps: BiddingDeps, input: ExplainInput, waitUntil: WaitUntil, asked?: AskedFor): Promise<Explanation> {
	const { endpoint } = input;
	if (input.endpoint === "openrtb") {
		const excess = excessIn(input.text, input.request);
		if (excess !== null) return invalid(endpoint, `${EXCESSES[excess]}: HTTP 413`);
		const request = readBidRequest(input.request);
		if (request === null) return invalid(endpoint, "no valid OpenRTB bid request: HTTP 400");
		const auction = toAuction(request);
		const privacy = refusalIn(deps, request.privacy);
		if (auction === null) return { endpoint, decision: explainNoBid("country_not_served"), privacy, candidates: [] };
		const lay: Laying = (publisher) => layOptions(auction, request, input.request, publisher);
		if (asked !== undefined) asked.sourceId = request.tagId;
		const find = (snapshot: BookSnapshot, now: number) => findByOpenRtbIdentity(snapshot, input.identity, now);
		return explain(deps, endpoint, auction, find, waitUntil, asked, lay);
	}
	const query = readServingEngineQuery(queryAs(input.publisherId, input.query));
	if (!query.ok) return invalid(endpoint, query.error);
	if (asked !== undefined) asked.sourceId = query.sourceId;
	const find = (snapshot: BookSnapshot, now: number) => findByPublisherId(snapshot, query.publisherId, now);
	return explain(deps, endpoint, query.auction, find, waitUntil, asked);
}

function invalid(endpoint: BidEndpoint, explanation: string): Explanation {
	return { endpoint, decision: { outcome: "invalid", explanation }, privacy: null, candidates: [] };
}

/** Why the endpoint refuses a body before it reads it. */
function excessIn(text: string | undefined, request: unknown): ReturnType<typeof excessOf> {
	try {
		return excessOf(utf8(text ?? JSON.stringify(request) ?? ""));
	} catch (error) {
		// Nested too deep to be written.
		if (error instanceof RangeError) return "too_many_values";
		throw error;
	}
}

/** A query as it is, but asked by this publisher. */
export function queryAs(publisherId: string, query: string): string {
	const [search = ""] = query.replace(/^\?/, "").split("#", 1);
	const others = search.split("&").filter((parameter) => decodeText(parameter.split("=", 1)[0] ?? "") !== "pubi");
	return [`pubi=${encodeURIComponent(publisherId.toWellFormed())}`, ...others].join("&");
}

async function explain(
	deps: BiddingDeps,
	endpoint: ExplainInput["endpoint"],
	auction: AuctionRequest,
	find: (snapshot: BookSnapshot, now: number) => BookPublisher | undefined | Promise<BookPublisher | undefined>,
	waitUntil: WaitUntil,
	asked?: AskedFor,
	lay?: Laying,
): Promise<Explanation> {
	const considered: Candidate[] = [];
	// As the publisher has the request read.
	let held = auction;
	const layAndKeep: Laying = (publisher) => {
		const laid = lay?.(publisher) ?? auction;
		if (!("outcome" in laid)) held = laid;
		return laid;
	};
	const observe: Observer = (brand, campaign, link, verdict) => {
		if (verdict.eligible) {
			asked?.priced.push({ campaignId: campaign.campaignId, link, keyword: pricingKeyword(campaign, held.keyword) });
		}
		considered.push({
			domain: brand.domain,
			campaign_id: campaign.campaignId,
			link,
			eligible: verdict.eligible,
			won: false,
			reason: verdict.eligible ? null : verdict.reason,
			explanation: verdict.eligible ? "could bid" : NO_BID_REASONS[verdict.reason].text,
			price: verdict.eligible ? formatPrice(verdict.price) : null,
		});
	};
	const now = deps.now();
	const decision = await holdAuction(
		{ book: deps.book, waitUntil, now, vendorId: deps.vendorId },
		auction,
		(snapshot) => find(snapshot, now),
		null,
		layAndKeep,
		observe,
	);
	const candidates = considered.map((candidate) => explainCandidate(candidate, decision));
	return { endpoint, decision: explainDecision(decision), privacy: refusalIn(deps, auction.privacy), candidates };
}

function refusalIn({ vendorId }: BiddingDeps, signals: PrivacySignals | null): Explanation["privacy"] {
	return signals === null ? null : refusalOf(signals, vendorId ?? null);
}

function explainDecision(decision: Decision): Explanation["decision"] {
	if (decision.outcome === "no-bid") return explainNoBid(decision.reason);
	const { brand, campaign, price, isDeeplink, stripped } = decision;
	return {
		outcome: "bid",
		domain: brand.domain,
		advertiser_id: String(brand.brandId),
		campaign_id: campaign.campaignId,
		price: formatPrice(price),
		is_deeplink: isDeeplink,
		stripped,
	};
}

function explainNoBid(reason: NoBidReason): Explanation["decision"] {
	const { condition, text } = NO_BID_REASONS[reason];
	return { outcome: "no-bid", reason, condition, code: NO_BID_CODES[reason], explanation: text };
}

function explainCandidate(candidate: Candidate, decision: Decision): Candidate {
	if (!candidate.eligible) return candidate;
	if (decision.outcome === "no-bid") return { ...candidate, reason: decision.reason, explanation: NO_BID_REASONS[decision.reason].text };
	const link = decision.isDeeplink ? "deeplink" : "homepage";
	const won = candidate.campaign_id === decision.campaign.campaignId && candidate.link === link;
	return {
		...candidate,
		won,
		explanation: won
			? "won: the highest price, then the lowest campaign id"
			: "another campaign's price was higher, or equal with a lower campaign id",
	};
}
