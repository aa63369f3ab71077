/** What is recorded of a click: whether it is paid and why not, by which terms, and what privacy signals leave of it. */
import { BID_PAY_MS, type BookBrand, type BookPublisher, DEFAULT_PRIVACY, isBrandBlocked } from "../campaign-book/book.ts";
import { operatorView, reckonLink } from "../campaign-book/learned.ts";
import type { BookSnapshot } from "../campaign-book/load.ts";
import type { ClickToken } from "../click-token/token-content.ts";
import { canonicalCountry } from "../lib/country.ts";
import { deviceAt, isOtherDevice } from "../lib/device.ts";
import type { LinkType } from "../lib/enums.ts";
import { newTimeOrderedId, newUuid } from "../lib/ids.ts";
import { connectionOf, networkPrefix } from "../lib/ip.ts";
import { clickHashOf } from "../lib/md5-ids.ts";
import { priceToMicros } from "../lib/money.ts";
import type { Query } from "../lib/query.ts";
import { SECOND_MS } from "../lib/time.ts";
import { layPolicies, type TrafficPolicy } from "../lib/traffic-rules.ts";
import { privacyOf } from "../privacy/privacy-of.ts";
import { readQuerySignals } from "../privacy/query-signals.ts";
import type { Target } from "./choose-target.ts";
import type { RedirectDeps } from "./deps.ts";
import { CLICK_FORMAT, CLICK_TEXTS, type ClickMessage, type ClickText } from "./message.ts";
import { type ClickFacts, judge } from "./payable.ts";
import { readTexts } from "./read-parameters.ts";
import type { Stripped, Visitor } from "./record-click.ts";
import { readNetworkFacts, readRequestFacts } from "./request-facts.ts";

/** A click as it came. */
export type AskedClick = { deps: RedirectDeps; request: Request; method: string; query: Query; token: ClickToken };

/** What the book has of it. */
export type FoundClick = { snapshot: BookSnapshot; brand: BookBrand; publisher: BookPublisher | undefined; target: Target; now: number };

export type ComposedClick = { click: ClickMessage; visitor: Visitor; stripped: Stripped };

export function composeClick(asked: AskedClick, found: FoundClick): ComposedClick {
	const { deps, request, query, token } = asked;
	const { snapshot, publisher, target, now } = found;
	const { campaign } = target;
	const { headers } = request;
	const address = headers.get("cf-connecting-ip");
	const visitor: Visitor = { userAgent: headers.get("user-agent"), connection: address === null ? null : connectionOf(address) };
	const policy = layPolicies(publisher?.traffic ?? snapshot.traffic, campaign.traffic);
	const { reason, flags } = judge(factsOf(asked, found, visitor, policy), policy);
	// Not what the link says: whoever has it may write any country into it.
	const country = canonicalCountry(campaign.country);
	const signals = readQuerySignals(query, headers.get("sec-gpc"));
	const isStripped =
		token.stripped || (signals !== null && privacyOf(signals, publisher?.privacy ?? DEFAULT_PRIVACY, deps.vendorId ?? null) !== "as_sent");
	const keyword = isStripped ? null : token.keyword;
	const texts = readTexts(query, isStripped ? textsOfStripped(token) : CLICK_TEXTS, keyword);
	const terms = termsOf(asked, found, texts?.subi ?? texts?.psorc ?? null);
	// Every field, whether there is something in it or not: one shape (see lib/kept-shapes.ts). JSON leaves out what is undefined.
	const click: ClickMessage = {
		format: CLICK_FORMAT,
		id: newTimeOrderedId(now),
		at: now,
		hash: clickHashOf(token.kind === "link" ? newUuid() : token.auctionId),
		kind: token.kind,
		publisher: token.publisher,
		brandId: token.advertiserId,
		campaignId: campaign.campaignId,
		platformId: campaign.platformId ?? undefined,
		country,
		campaignCountry: country === campaign.country ? undefined : campaign.country,
		reason: reason ?? undefined,
		flags: flags.length > 0 ? flags : undefined,
		pricingModel: terms.pricingModel,
		sharePpm: terms.sharePpm,
		bidMicros: terms.bidMicros,
		grossMicros: terms.grossMicros,
		texts,
		ipPrefix: isStripped || address === null ? undefined : (networkPrefix(address) ?? undefined),
		keyword: keyword ?? undefined,
		askedFrom: isStripped ? undefined : (token.askedFrom ?? undefined),
		link: pricedLink(token, target.link),
		sourceHash: token.sourceHash ?? undefined,
		userAgentHash: undefined,
		connection: undefined,
		network: undefined,
	};
	return { click, visitor, stripped: isStripped ? policy : null };
}

function factsOf({ deps, request, method, token }: AskedClick, found: FoundClick, visitor: Visitor, policy: TrafficPolicy): ClickFacts {
	const { brand, publisher, target, now } = found;
	const { campaign } = target;
	const known = readRequestFacts(method, request.headers, visitor.userAgent, request);
	const network = readNetworkFacts(request, request.headers, campaign.country, policy);
	return {
		// By name: to spread them costs a redirect a microsecond each.
		head: known.head,
		prefetch: known.prefetch,
		no_user_agent: known.no_user_agent,
		bot: known.bot,
		embedded: known.embedded,
		country: network.country,
		data_centre: network.data_centre,
		// A bid promises the price of its own campaign: where the brand no longer has that, another one leads the user on, unpaid.
		campaign_stopped: !campaign.active || (token.kind !== "link" && token.campaignId !== campaign.campaignId),
		publisher_suspended: publisher?.suspended === true,
		brand_stopped: !brand.active,
		blocked: publisher !== undefined && isBrandBlocked(brand, publisher, campaign.country),
		test: token.test,
		expired: isExpired(token, publisher, deps.clickTtlMs, now),
		other_device: isOfOtherDevice(token, visitor),
	};
}

/** Values that are no user's: what clicks are counted by, and the publisher's own id of the click, which it is paid by. */
const OF_NO_USER = ["subi", "psorc", "pcat", "atag"] as const satisfies readonly ClickText[];
const WITH_CLICK_ID = ["clickid", ...OF_NO_USER] as const satisfies readonly ClickText[];

function textsOfStripped({ userClickId }: ClickToken): readonly ClickText[] {
	return userClickId ? OF_NO_USER : WITH_CLICK_ID;
}

/** A bid is priced by the page that was asked for: whoever has its URL can take that out, or put one in. */
function pricedLink({ kind, deeplink }: ClickToken, clicked: LinkType): LinkType {
	if (kind === "link") return clicked;
	return deeplink ? "deeplink" : "homepage";
}

/** Tracking links do not age: they are made once and used for months. */
function isExpired(token: ClickToken, publisher: BookPublisher | undefined, clickTtlMs: number, now: number): boolean {
	if (token.kind === "link") return false;
	const lifeMs = token.lifeSeconds === null ? clickTtlMs : token.lifeSeconds * SECOND_MS;
	return now - token.mintedAt > Math.min(publisher?.bidPayMs ?? BID_PAY_MS, clickTtlMs, lifeMs);
}

function isOfOtherDevice(token: ClickToken, { connection, userAgent }: Visitor): boolean {
	if (token.device === null) return false;
	const device = deviceAt(connection, userAgent);
	return device !== null && isOtherDevice(token.device, device);
}

/**
 * What the click is paid by, which nothing changes later: what the bid promised, or for a tracking link EPC and share of the moment. What
 * a bid of an earlier version does not tell is the book's.
 */
function termsOf({ deps, token }: AskedClick, { publisher, target, now }: FoundClick, source: string | null) {
	const pricingModel = token.pricingModel ?? publisher?.pricingModel ?? undefined;
	const sharePpm = token.sharePpm ?? publisher?.sharePpm;
	if (token.kind !== "link") return { pricingModel, sharePpm, bidMicros: token.bidMicros, grossMicros: token.grossMicros ?? undefined };
	const isRestrained = publisher?.restrained === true;
	const { learned } = deps.book;
	const reckoning =
		learned === null || publisher === undefined || isRestrained ? null : learned.reckon(publisher, source, target.link, now);
	const { grossMicros, price } = reckonLink(isRestrained ? operatorView(target.campaign) : target.campaign, sharePpm ?? 0, reckoning);
	return { pricingModel, sharePpm, bidMicros: sharePpm === undefined ? undefined : priceToMicros(price), grossMicros };
}
