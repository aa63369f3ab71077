/** GET /click on the click tracker: redirects to the platform's link from memory only, and records the click afterwards. */
import {
	BID_PAY_MS,
	type BookBrand,
	type BookCampaign,
	type BookPublisher,
	DEFAULT_PRIVACY,
	isBrandBlocked,
} from "../campaign-book/book.ts";
import { operatorView, type Reckoning, reckonLink } from "../campaign-book/learned.ts";
import { type BookSnapshot, findByIdentity } from "../campaign-book/load.ts";
import { BookUnavailableError } from "../campaign-book/resident-shards.ts";
import type { ClickToken } from "../click-token/token-content.ts";
import type { WaitUntil } from "../lib/async.ts";
import { AwayError, inTime } from "../lib/away.ts";
import { deviceAt, isOtherDevice } from "../lib/device.ts";
import type { LinkType } from "../lib/enums.ts";
import { newTimeOrderedId, newUuid } from "../lib/ids.ts";
import { connectionOf, networkPrefix } from "../lib/ip.ts";
import { logError } from "../lib/log.ts";
import { clickHashOf } from "../lib/md5-ids.ts";
import { priceToMicros } from "../lib/money.ts";
import { Query } from "../lib/query.ts";
import { isPathAt, pathStartOf, searchAt } from "../lib/request-url.ts";
import { SECOND_MS } from "../lib/time.ts";
import { layPolicies } from "../lib/traffic-rules.ts";
import { privacyOf } from "../privacy/privacy-of.ts";
import { readQuerySignals } from "../privacy/query-signals.ts";
import { chooseTarget, fillTemplate } from "./choose-target.ts";
import type { RedirectDeps } from "./deps.ts";
import { CLICK_FORMAT, CLICK_TEXTS, type ClickMessage, type ClickText } from "./message.ts";
import { type ClickFacts, judge } from "./payable.ts";
import { readCountry, readParameter, readTexts } from "./read-parameters.ts";
import { recordClick, type Visitor } from "./record-click.ts";
import { readNetworkFacts, readRequestFacts } from "./request-facts.ts";

const CLICK_PATH = "/click";

/** Answers a request for a click URL; null where the path is another's. The host is not looked at: earlier ones keep working. */
export function routeClick(deps: RedirectDeps, request: Request, url: string, waitUntil: WaitUntil): Response | Promise<Response> | null {
	const start = pathStartOf(url);
	if (!isPathAt(url, start, CLICK_PATH, false)) return null;
	const { method } = request;
	if (method !== "GET" && method !== "HEAD") return page(405, "Only GET is accepted.", { allow: "GET, HEAD" });
	if (deps.secureUrl !== undefined && isInClear(url, request)) return overHttps(deps.secureUrl + url.slice(start));
	const query = new Query(searchAt(url, start + CLICK_PATH.length));
	const answer = (token: ClickToken | null) =>
		token === null ? page(404, "This link is not valid.") : resolveClick({ deps, request, method, waitUntil, query, token });
	try {
		const token = deps.tokens.open(query.get("encyp") ?? "");
		const answered = token instanceof Promise ? token.then(answer) : answer(token);
		return answered instanceof Promise ? answered.catch(failed) : answered;
	} catch (error) {
		return failed(error);
	}
}

/**
 * Whether a client called by http, as Cloudflare says: what stands between it and us without that may be anybody's, who has taken the
 * encryption off.
 */
function isInClear(url: string, { headers }: Request): boolean {
	return url.startsWith("http:") && /"scheme"\s*:\s*"http"/.test(headers.get("cf-visitor") ?? "");
}

/** To secure addresses alone browsers say whether a user follows the link or a page embeds it. Nothing is recorded of the first call. */
function overHttps(location: string): Response {
	return new Response(null, { status: 302, headers: { ...COMMON, location } });
}

function failed(error: unknown): Response {
	logError("click.failed", error);
	return page(500, AGAIN);
}

/** How long a user waits for a book that is not in memory. */
const BOOK_TIMEOUT_MS = 5 * SECOND_MS;

const AGAIN = "This link cannot be opened just now. Please try again.";

type Click = { deps: RedirectDeps; request: Request; method: string; waitUntil: WaitUntil; query: Query; token: ClickToken };

/** Finds the brand of the token: at once where the book is resident, as for nearly every click. */
function resolveClick(click: Click): Response | Promise<Response> {
	const { deps, token, waitUntil } = click;
	const now = deps.now();
	const answer = (snapshot: BookSnapshot | null): Response | Promise<Response> => {
		if (snapshot === null) return unavailable();
		const brand = deps.book.linkedBrandOf(snapshot, token.domain);
		const publisher = findByIdentity(snapshot, token.publisher, now);
		if (!(brand instanceof Promise || publisher instanceof Promise)) return redirect(click, snapshot, brand, publisher, now);
		return withBook(Promise.all([brand, publisher]), ([arrived, found]) => redirect(click, snapshot, arrived, found, now));
	};
	try {
		const snapshot = deps.book.snapshot(now, waitUntil);
		return snapshot instanceof Promise ? withBook(snapshot, answer) : answer(snapshot);
	} catch (error) {
		return refuseWithoutBook(error);
	}
}

/** Answers with what the book has; a user who has waited long enough is told to try again, and then nothing is recorded. */
async function withBook<Found>(reading: Promise<Found>, answer: (found: Found) => Response | Promise<Response>): Promise<Response> {
	try {
		return await answer(await inTime(reading, BOOK_TIMEOUT_MS, "the book"));
	} catch (error) {
		return refuseWithoutBook(error);
	}
}

function refuseWithoutBook(error: unknown): Response {
	if (error instanceof BookUnavailableError || error instanceof AwayError) return unavailable();
	throw error;
}

/** Not a lost click: the user has not been sent anywhere, and can try again. */
function unavailable(): Response {
	return page(503, AGAIN, { "retry-after": "5" });
}

function redirect(
	{ deps, request, method, waitUntil, query, token }: Click,
	snapshot: BookSnapshot,
	found: BookBrand | null,
	publisher: BookPublisher | undefined,
	now: number,
): Response {
	const brand = found?.brandId === token.advertiserId ? found : undefined;
	const country = readCountry(query);
	const target = brand === undefined ? null : chooseTarget(brand, token.campaignId, country, readParameter(query, "dl"));
	if (target === null) return page(404, "This link leads nowhere any more.");

	const { campaign } = target;
	const { headers } = request;
	const address = headers.get("cf-connecting-ip");
	const visitor: Visitor = { userAgent: headers.get("user-agent"), connection: address === null ? null : connectionOf(address) };
	const policy = layPolicies(publisher?.traffic ?? snapshot.traffic, campaign.traffic);
	const known = readRequestFacts(method, headers, visitor.userAgent, request);
	const network = readNetworkFacts(request, headers, campaign.country, policy);
	const facts: ClickFacts = {
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
		brand_stopped: brand?.active === false,
		blocked: brand !== undefined && publisher !== undefined && isBrandBlocked(brand, publisher, campaign.country),
		test: token.test,
		expired: isExpired(token, publisher, deps.clickTtlMs, now),
		other_device: isOfOtherDevice(token, visitor),
	};
	const { reason, flags } = judge(facts, policy);
	const hash = clickHashOf(token.kind === "link" ? newUuid() : token.auctionId);
	const linkCountry = country ?? campaign.country;
	const signals = readQuerySignals(query, headers.get("sec-gpc"));
	const isStripped =
		token.stripped || (signals !== null && privacyOf(signals, publisher?.privacy ?? DEFAULT_PRIVACY, deps.vendorId ?? null) !== "as_sent");
	const keyword = isStripped ? null : token.keyword;
	const texts = readTexts(query, isStripped ? textsOfStripped(token) : CLICK_TEXTS, keyword);
	const learned = token.kind === "link" ? deps.book.learned : null;
	const reckoning =
		learned === null || publisher === undefined || publisher.restrained
			? null
			: learned.reckon(publisher, texts?.subi ?? texts?.psorc ?? null, target.link, now);
	const terms = termsOf(token, publisher, publisher?.restrained === true ? operatorView(campaign) : campaign, reckoning);
	// Every field, whether there is something in it or not: one shape (see lib/kept-shapes.ts). JSON leaves out what is undefined.
	const click: ClickMessage = {
		format: CLICK_FORMAT,
		id: newTimeOrderedId(now),
		at: now,
		hash,
		kind: token.kind,
		publisher: token.publisher,
		brandId: token.advertiserId,
		campaignId: campaign.campaignId,
		platformId: campaign.platformId ?? undefined,
		country: linkCountry,
		campaignCountry: linkCountry === campaign.country ? undefined : campaign.country,
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
	// Before the click is recorded: a template of which no link can be made sends nobody anywhere.
	REDIRECT_HEADERS.set("location", fillTemplate(target, hash));
	const response = new Response(null, { status: 302, headers: REDIRECT_HEADERS });
	waitUntil(recordClick(deps.store, click, visitor, isStripped ? policy : null));
	deps.measure?.({
		event: "click",
		publisher: token.publisher,
		outcome: reason ?? "ok",
		channel: token.kind,
		amountMicros: click.bidMicros ?? 0,
	});
	return response;
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
function termsOf(token: ClickToken, publisher: BookPublisher | undefined, campaign: BookCampaign, reckoning: Reckoning | null) {
	const pricingModel = token.pricingModel ?? publisher?.pricingModel ?? undefined;
	const sharePpm = token.sharePpm ?? publisher?.sharePpm;
	if (token.kind !== "link") return { pricingModel, sharePpm, bidMicros: token.bidMicros, grossMicros: token.grossMicros ?? undefined };
	const { grossMicros, price } = reckonLink(campaign, sharePpm ?? 0, reckoning);
	return { pricingModel, sharePpm, bidMicros: sharePpm === undefined ? undefined : priceToMicros(price), grossMicros };
}

/**
 * The advertiser's side learns which site sent the user, not which page; robots keep out; and nothing between us and the user may
 * answer the next click in our place.
 */
const COMMON = {
	"cache-control": "no-store",
	"referrer-policy": "strict-origin-when-cross-origin",
	"x-robots-tag": "noindex, nofollow",
} as const;

/** Each redirect sets its own location, and its answer takes a copy. */
const REDIRECT_HEADERS = new Headers(COMMON);

function page(status: number, text: string, headers: Record<string, string> = {}): Response {
	return new Response(`${text}\n`, { status, headers: { ...COMMON, "content-type": "text/plain; charset=utf-8", ...headers } });
}
