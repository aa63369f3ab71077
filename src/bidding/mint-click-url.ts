import { buildClickUrl, type ClickParameters, MAX_PARAMETER_LENGTH } from "../click-token/click-url.ts";
import type { ClickToken } from "../click-token/token-content.ts";
import { deviceOf } from "../lib/device.ts";
import type { TokenKind } from "../lib/enums.ts";
import { hashSource } from "../lib/hash.ts";
import type { WebAddress } from "../lib/host.ts";
import { newUuid } from "../lib/ids.ts";
import { ipv4ToInteger, networkPrefix } from "../lib/ip.ts";
import { clipKeyword, type Keywords } from "../lib/keyword.ts";
import { priceToMicros } from "../lib/money.ts";
import type { Bid } from "./auction.ts";
import type { BiddingDeps } from "./deps.ts";
import { pricingKeyword, reckonedEpcMicros } from "./pricing.ts";

/** What a request passes on to its click. */
export type ClickDetails = {
	kind: TokenKind;
	clickId: string | null;
	/** It is the user's id. */
	isUserClickId: boolean;
	buyerUid: string | null;
	sourceId: string | null;
	ip: string | null;
	deeplink: WebAddress | null;
	country: string;
	/** IPv6 address of the user, and the user agent: what a click's device is held against. */
	ipv6: string | null;
	userAgent: string | null;
	/** What was asked for. */
	keyword: Keywords;
	/** The address that asks for the bid. */
	asker: string | null;
	/** For how long a click is paid at most, seconds; null where the auction sets no bound. */
	lifeSeconds: number | null;
	test: boolean;
};

/** What `use` makes of the click URL of a bid, for its own auction only: a new auction id and a token that holds the bid. */
export function mintClickUrl<Answer>(
	deps: BiddingDeps,
	bid: Bid,
	details: ClickDetails,
	now: number,
	use: (clickUrl: string) => Answer,
): Answer | Promise<Answer> {
	const { publisher, brand, campaign, price, reckoning, isDeeplink, stripped } = bid;
	const auctionId = newUuid();
	const keyword = stripped ? null : pricingKeyword(campaign, details.keyword);
	const token: ClickToken = {
		kind: details.kind,
		publisher: publisher.identity,
		advertiserId: brand.brandId,
		domain: brand.domain,
		campaignId: campaign.campaignId,
		bidMicros: details.test ? 0 : priceToMicros(price),
		typoId: 0,
		auctionId,
		mintedAt: now,
		test: details.test,
		device: stripped ? null : deviceOf(details.ip, details.userAgent, details.ipv6),
		keyword: keyword === null ? null : clipKeyword(keyword),
		// It may be the user's browser that asks.
		askedFrom: stripped || details.asker === null ? null : networkPrefix(details.asker),
		pricingModel: publisher.pricingModel,
		sharePpm: publisher.sharePpm,
		grossMicros: details.test ? 0 : reckonedEpcMicros(campaign, details.keyword, reckoning),
		stripped,
		userClickId: details.isUserClickId && details.clickId !== null,
		deeplink: isDeeplink,
		lifeSeconds: details.lifeSeconds,
		sourceHash: details.test ? null : hashSource(details.sourceId),
	};
	const parameters: ClickParameters = {
		rtuli: auctionId,
		clickid: fitting(details.clickId),
		uid: stripped ? null : fitting(details.buyerUid),
		dl: isDeeplink ? (details.deeplink?.url ?? null) : null,
		subi: fitting(details.sourceId),
		ip: stripped || details.ip === null ? null : ipv4ToInteger(details.ip),
		pli: campaign.platformId,
		cc: details.country,
		test: details.test,
	};
	return deps.tokens.mintFor(token, (encyp) => use(buildClickUrl(deps.clickUrl, encyp, parameters)));
}

/** A value too long for a URL counts as absent: cut, it would be another value. */
function fitting(text: string | null): string | null {
	return text === null || text.length > MAX_PARAMETER_LENGTH ? null : text;
}
