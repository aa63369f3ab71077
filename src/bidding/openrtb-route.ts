/** POST /openrtb/{publisher_identity}: OpenRTB 2.5. Every answer carries x-openrtb-version. */
import type { BookPublisher } from "../campaign-book/book.ts";
import { type BookSnapshot, findByOpenRtbIdentity } from "../campaign-book/load.ts";
import type { WaitUntil } from "../lib/async.ts";
import { PUBLISHER_IDENTITY } from "../lib/enums.ts";
import { readWebAddress, siteUrl, withTrailingSlash } from "../lib/host.ts";
import { newUuid } from "../lib/ids.ts";
import { parseJson } from "../lib/json.ts";
import { logError } from "../lib/log.ts";
import { priceToUsd } from "../lib/money.ts";
import { decodeBody, EXCESSES, receiveBody } from "../openrtb/read-body.ts";
import { type BidRequest, readBidRequest } from "../openrtb/read-request.ts";
import { writeError, writeFill } from "../openrtb/write-response.ts";
import { type AuctionRequest, type Bid, type Decision, noBid, seatOf } from "./auction.ts";
import type { BiddingDeps } from "./deps.ts";
import { holdAuction, type Laying } from "./hold-auction.ts";
import { layOptions, lifeOf } from "./lay-options.ts";
import { type ClickDetails, mintClickUrl } from "./mint-click-url.ts";
import { moreOf } from "./more-of-bid.ts";
import { findAsker, refuse } from "./refuse.ts";
import { tellDecision } from "./tell-decision.ts";
import { OPENRTB_COUNTRY, toAuction } from "./to-auction.ts";

export const OPENRTB_PATH = "/openrtb";
const COUNTRY_NOT_SERVED = noBid("country_not_served");

/** @param path path and query of the request, from its slash on */
export async function handleOpenRtb(deps: BiddingDeps, request: Request, path: string, waitUntil: WaitUntil): Promise<Response> {
	try {
		if (request.method !== "POST") return writeError(405, "Only POST is accepted", { allow: "POST" });
		const identity = readIdentity(path);
		if (identity === null) return writeError(400, "Invalid publisher key");
		const { headers } = request;
		const decoded = decodeBody(await receiveBody(request, headers));
		const body = decoded instanceof Promise ? await decoded : decoded;
		if (!body.ok && body.reason !== "unreadable") return writeError(413, EXCESSES[body.reason]);
		const json = body.ok ? parseJson(body.text) : null;
		const bidRequest = readBidRequest(json);
		if (bidRequest === null) return writeError(400, "Invalid OpenRTB bid request");
		const answered = answer(deps, identity, { request: bidRequest, json }, headers, waitUntil);
		// Awaited here, where what is thrown is caught.
		return answered instanceof Promise ? await answered : answered;
	} catch (error) {
		logError("openrtb.failed", error);
		return writeError(500, "Internal error");
	}
}

/** A bid request, and the body it was read from. */
type Asked = { request: BidRequest; json: unknown };

/** No async function: on the bid path every step between promises counts. */
function answer(
	deps: BiddingDeps,
	identity: string,
	{ request: bidRequest, json }: Asked,
	headers: Headers,
	waitUntil: WaitUntil,
): Response | Promise<Response> {
	let auction = toAuction(bidRequest);
	const now = deps.now();
	const find = (snapshot: BookSnapshot) => findByOpenRtbIdentity(snapshot, identity, now);
	if (auction === null) {
		tellDecision(deps, "openrtb", identity, COUNTRY_NOT_SERVED, now, waitUntil);
		return refuse(COUNTRY_NOT_SERVED, bidRequest.test, headers, now, () => findAsker(deps, identity, now, bidRequest.tmaxMs, waitUntil));
	}
	const asSent = auction;
	let asker: BookPublisher | undefined;
	const lay: Laying = (publisher) => {
		asker = publisher;
		const laid = layOptions(asSent, bidRequest, json, publisher);
		if (!("outcome" in laid)) auction = laid;
		return laid;
	};
	const held = holdAuction({ book: deps.book, waitUntil, now, vendorId: deps.vendorId }, auction, find, bidRequest.tmaxMs, lay);
	const close = (decision: Decision): Response | Promise<Response> => {
		tellDecision(deps, "openrtb", identity, decision, now, waitUntil);
		if (decision.outcome === "no-bid") {
			const { reason } = decision;
			const whoAsks = () => (reason === "publisher_not_enabled" ? findAsker(deps, identity, now, bidRequest.tmaxMs, waitUntil) : asker);
			return refuse(decision, bidRequest.test, headers, now, whoAsks);
		}
		return fill(deps, { request: bidRequest, json }, auction ?? asSent, decision, headers, now);
	};
	return held instanceof Promise ? held.then(close) : close(held);
}

function fill(
	deps: BiddingDeps,
	{ request: bidRequest, json }: Asked,
	auction: AuctionRequest,
	bid: Bid,
	headers: Headers,
	now: number,
): Response | Promise<Response> {
	const lifeSeconds = lifeOf(json, bid.publisher);
	const details: ClickDetails = {
		kind: "openrtb",
		clickId: bid.stripped ? bidRequest.publisherClickId : bidRequest.clickId,
		isUserClickId: bidRequest.publisherClickId === null,
		buyerUid: bidRequest.buyerUid,
		sourceId: bidRequest.tagId,
		ip: bidRequest.ip,
		deeplink: auction.deeplink,
		country: OPENRTB_COUNTRY,
		ipv6: bidRequest.ipv6,
		userAgent: bidRequest.userAgent,
		keyword: auction.keyword,
		asker: headers.get("cf-connecting-ip"),
		lifeSeconds,
		test: bidRequest.test,
	};
	return mintClickUrl(deps, bid, details, now, (clickUrl) =>
		writeFill(
			{
				requestId: bidRequest.id,
				bidId: newUuid(),
				seat: seatOf(bid.publisher),
				impId: bidRequest.impId,
				price: bidRequest.test ? 0 : priceToUsd(bid.price),
				clickUrl,
				advertiserDomain: bidRequest.domain === null ? null : bid.brand.domain,
				advertiserId: bid.brand.brandId,
				finalUrl: finalUrl(bidRequest, auction, bid),
				altered: bidRequest.altered,
			},
			bid.publisher.fullAnswers ? moreOf(deps, bid, json, lifeSeconds) : null,
		),
	);
}

/** The identity in the path, or null where it is missing, too long or has other characters than allowed. */
function readIdentity(path: string): string | null {
	if (path.charAt(OPENRTB_PATH.length) !== "/") return null;
	const rest = path.slice(OPENRTB_PATH.length + 1);
	// Nearly every request has nothing behind it.
	if (PUBLISHER_IDENTITY.test(rest)) return rest;
	const end = rest.search(/[?#]/);
	const segment = end === -1 ? rest : rest.slice(0, end);
	if (PUBLISHER_IDENTITY.test(segment)) return segment;
	try {
		const decoded = decodeURIComponent(segment);
		return PUBLISHER_IDENTITY.test(decoded) ? decoded : null;
	} catch (error) {
		if (error instanceof URIError) return null;
		throw error;
	}
}

/** ext.final_url: the deeplink, then the page, then the advertiser's domain where one was sent. */
function finalUrl(request: BidRequest, auction: AuctionRequest, bid: Bid): string {
	const address = (bid.isDeeplink ? auction.deeplink : null) ?? (request.page === null ? null : readWebAddress(request.page));
	if (address !== null) return address.hadScheme ? address.url : withTrailingSlash(address.url);
	return request.domain === null ? "" : siteUrl(bid.brand.domain);
}
