/** GET /serving-engine: the query API. Always HTTP 200: `status` in the body decides. */
import { findByPublisherId } from "../campaign-book/load.ts";
import type { WaitUntil } from "../lib/async.ts";
import { putBounded } from "../lib/bounded-map.ts";
import { canonicalCountry } from "../lib/country.ts";
import { readWebAddress } from "../lib/host.ts";
import { canonicalKeyword } from "../lib/keyword.ts";
import { logError } from "../lib/log.ts";
import { formatPrice } from "../lib/money.ts";
import { decodeText, Query } from "../lib/query.ts";
import { searchAt } from "../lib/request-url.ts";
import { readFloor } from "../openrtb/read-request.ts";
import { readQuerySignals } from "../privacy/query-signals.ts";
import type { AuctionRequest, Bid, Decision } from "./auction.ts";
import type { BiddingDeps } from "./deps.ts";
import { holdAuction } from "./hold-auction.ts";
import { type ClickDetails, mintClickUrl } from "./mint-click-url.ts";
import { tellDecision } from "./tell-decision.ts";

/** A read query: the publisher asked for and the auction's facts, or what is missing. */
export type ServingEngineQuery = { ok: false; error: string } | ReadQuery;

type ReadQuery = {
	ok: true;
	publisherId: string;
	auction: AuctionRequest;
	clickId: string | null;
	sourceId: string | null;
	ip: string | null;
	userAgent: string | null;
};

export const SERVING_ENGINE_PATH = "/serving-engine";
const NO_AD = { status: 0 } as const;
const NONE: readonly string[] = [];
/** Each answer is one auction's: a cache that answered in our place would sell one click twice. */
const HEADERS = new Headers({ "content-type": "application/json", "cache-control": "no-store" });

export function handleServingEngine(deps: BiddingDeps, request: Request, url: string, waitUntil: WaitUntil): Response | Promise<Response> {
	try {
		const answered = answer(deps, request, url, waitUntil);
		return answered instanceof Promise ? answered.catch(fail) : answered;
	} catch (error) {
		return fail(error);
	}
}

function fail(error: unknown): Response {
	logError("serving_engine.failed", error);
	return respond(NO_AD);
}

/** No async function: on the bid path every step between promises counts. */
function answer(deps: BiddingDeps, request: Request, url: string, waitUntil: WaitUntil): Response | Promise<Response> {
	const { method } = request;
	if (method !== "GET" && method !== "HEAD") return respond({ status: 0, error: "Only GET is accepted." });
	const query = readServingEngineQuery(searchOf(url));
	if (!query.ok) return respond({ status: 0, error: query.error });
	const now = deps.now();
	const held = holdAuction(
		{ book: deps.book, waitUntil, now, vendorId: deps.vendorId },
		query.auction,
		(snapshot) => findByPublisherId(snapshot, query.publisherId, now),
		null,
	);
	const close = (decision: Decision) => {
		tellDecision(deps, "serving-engine", query.publisherId, decision, now, waitUntil);
		return decision.outcome === "no-bid" ? respond(NO_AD) : fill(deps, query, decision, request.headers.get("cf-connecting-ip"), now);
	};
	return held instanceof Promise ? held.then(close) : close(held);
}

/** @param asker the address that asks */
function fill(deps: BiddingDeps, query: ReadQuery, bid: Bid, asker: string | null, now: number): Response | Promise<Response> {
	const details: ClickDetails = {
		kind: "serving-engine",
		clickId: query.clickId,
		isUserClickId: false,
		buyerUid: null,
		sourceId: query.sourceId,
		ip: query.ip,
		deeplink: query.auction.deeplink,
		country: query.auction.country,
		ipv6: null,
		userAgent: query.userAgent,
		keyword: query.auction.keyword,
		asker,
		lifeSeconds: null,
		test: false,
	};
	return mintClickUrl(deps, bid, details, now, (clickUrl) =>
		respond({
			status: 1,
			bid_amount: formatPrice(bid.price),
			redirect_url: clickUrl,
			is_deeplink: bid.isDeeplink ? "Yes" : "No",
		}),
	);
}

function respond(body: unknown): Response {
	return new Response(JSON.stringify(body), { headers: HEADERS });
}

/** Reads the query parameters. The first of a repeated one counts, and a blank one is a missing one. */
export function readServingEngineQuery(search: string): ServingEngineQuery {
	const query = new Query(search);
	const read = (name: string): string | null => {
		const value = query.get(name);
		return value === null || value.trim() === "" ? null : value;
	};
	const publisherId = read("pubi");
	const domain = read("bd");
	const country = read("cc")?.trim().toUpperCase();
	if (publisherId === null) return { ok: false, error: "The publisher id is required." };
	if (country === undefined) return { ok: false, error: "The country code is required." };
	if (domain === null) return { ok: false, error: "The brand domain is required." };
	const keyword = read("kw");
	const deeplink = read("dl");
	const sourceId = read("subid");
	return {
		ok: true,
		publisherId: publisherId.trim(),
		auction: {
			country: country === "USA" ? "US" : canonicalCountry(country),
			domain,
			source: sourceId,
			keyword: keyword === null ? null : canonicalKeyword(keyword),
			deeplink: deeplink === null ? null : readWebAddress(deeplink),
			homepageInstead: true,
			privateAuction: false,
			floor: readFloor(read("fbid"), null),
			blockedAdvertisers: NONE,
			allowedSeats: NONE,
			blockedSeats: NONE,
			currencies: NONE,
			privacy: readQuerySignals(query, null),
			categories: null,
			tooComplex: false,
		},
		clickId: read("clickid"),
		sourceId,
		ip: read("ip")?.trim() ?? null,
		userAgent: readUserAgent(query),
	};
}

/** Few user agents are most of the traffic, and their escapes cost as much as an auction: what they read as is kept, the first seen out first. */
const userAgents = new Map<string, string>();
const MAX_USER_AGENTS_KEPT = 1_000;
const MAX_KEPT_LENGTH = 1_024;

function readUserAgent(query: Query): string | null {
	const raw = query.raw("ua");
	if (raw === null) return null;
	const known = userAgents.get(raw);
	if (known !== undefined) return known;
	if (raw.length > MAX_KEPT_LENGTH) return decodeUserAgent(raw);
	const own = ownText(raw);
	const text = decodeUserAgent(own);
	return text === null ? null : putBounded(userAgents, own, text, MAX_USER_AGENTS_KEPT);
}

function decodeUserAgent(raw: string): string | null {
	const text = decodeText(raw);
	return text.trim() === "" ? null : text;
}

/** A copy that does not keep the whole URL in memory of which the text is a part. */
function ownText(part: string): string {
	return part.split("").join("");
}

function searchOf(url: string): string {
	const at = url.indexOf("?");
	return at === -1 ? "" : searchAt(url, at);
}
