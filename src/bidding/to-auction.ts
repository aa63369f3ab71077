/** What an auction asks, of an OpenRTB request. */
import { readWebAddress } from "../lib/host.ts";
import { canonicalKeyword, canonicalKeywords, type Keywords } from "../lib/keyword.ts";
import type { BidRequest } from "../openrtb/read-request.ts";
import type { AuctionRequest } from "./auction.ts";

/** The one country of the endpoint. */
export const OPENRTB_COUNTRY = "US";

/** The auction's facts in an OpenRTB request; null where its country is not served. */
export function toAuction(request: BidRequest): AuctionRequest | null {
	if (request.country !== null && request.country !== OPENRTB_COUNTRY && request.country !== "USA") return null;
	const keyword = readKeywords(request);
	return {
		country: OPENRTB_COUNTRY,
		domain: request.domain,
		source: request.tagId,
		keyword: keyword === "too_many" ? null : keyword,
		deeplink: request.deeplink === null ? null : readWebAddress(request.deeplink),
		homepageInstead: false,
		privateAuction: request.privateAuction,
		floor: request.floor,
		blockedAdvertisers: request.blockedAdvertisers,
		allowedSeats: request.allowedSeats,
		blockedSeats: request.blockedSeats,
		currencies: request.currencies,
		privacy: request.privacy,
		categories: null,
		tooComplex: request.tooComplex || keyword === "too_many",
	};
}

/** `site.search`, else what stands in `user.keywords`. */
function readKeywords({ search, keywords }: BidRequest): Keywords | "too_many" {
	if (search !== null) return canonicalKeyword(search);
	return keywords === null ? null : canonicalKeywords([keywords]);
}
