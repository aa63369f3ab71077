/** GET /click on the click tracker: from a click URL to the platform's link, from memory alone, and the click's record after it. */
import { type BookBrand, type BookCampaign, domainKey } from "../campaign-book/format.ts";
import type { BookSnapshot } from "../campaign-book/load.ts";
import { BookUnavailableError } from "../campaign-book/resident-shards.ts";
import type { ClickToken } from "../click-token/token.ts";
import { newTimeOrderedId, newUuid } from "../lib/ids.ts";
import { networkPrefix } from "../lib/ip.ts";
import { logError } from "../lib/log.ts";
import { priceOf, priceToMicros } from "../lib/money.ts";
import { Query } from "../lib/query.ts";
import { chooseTarget, fillTemplate } from "./choose-target.ts";
import { clickHashOf } from "./click-hash.ts";
import type { RedirectDeps, WaitUntil } from "./deps.ts";
import { CLICK_FORMAT, type ClickMessage } from "./message.ts";
import { readCountry, readParameter, readTexts } from "./read-parameters.ts";
import { recordClick } from "./record-click.ts";
import { hashUserAgent } from "./user-agent.ts";
import { whyUncounted } from "./why-uncounted.ts";

export const CLICK_PATH = "/click";

/** Answers a request for a click URL; null where the path is another's. The host is not looked at: earlier ones keep working. */
export function routeClick(deps: RedirectDeps, request: Request, waitUntil: WaitUntil): Promise<Response> | null {
	const { url } = request;
	const start = url.indexOf("/", url.indexOf("//") + 2);
	if (!url.startsWith(CLICK_PATH, start)) return null;
	const next = url.charAt(start + CLICK_PATH.length);
	if (next !== "?" && next !== "" && next !== "#") return null;
	return handleClick(deps, request, url.slice(start + CLICK_PATH.length), waitUntil).catch((error: unknown) => {
		logError("click.failed", error);
		return page(500, "This link cannot be opened just now. Please try again.");
	});
}

async function handleClick(deps: RedirectDeps, request: Request, search: string, waitUntil: WaitUntil): Promise<Response> {
	const { method, headers } = request;
	if (method !== "GET" && method !== "HEAD") return page(405, "Only GET is accepted.", { allow: "GET, HEAD" });
	const now = deps.now();
	const query = new Query(search.startsWith("?") ? (search.slice(1).split("#", 1)[0] ?? "") : "");
	const token = await deps.tokens.open(query.get("encyp") ?? "");
	if (token === null) return page(404, "This link is not valid.");

	const found = await findBrand(deps, token, now, waitUntil);
	if (found === null) return page(503, "This link cannot be opened just now. Please try again.", { "retry-after": "5" });
	const country = readCountry(query);
	const target = found.brand === undefined ? null : chooseTarget(found.brand, token.campaignId, country, readParameter(query, "dl"));
	if (target === null) return page(404, "This link leads nowhere any more.");

	const hash = clickHashOf(token.kind === "link" ? newUuid() : token.auctionId);
	const location = fillTemplate(target, hash);
	const reason = whyUncounted(request, token, deps.clickTtlMs, now);
	const bidMicros = token.kind === "link" ? linkPriceMicros(found.snapshot, token, target.campaign) : token.bidMicros;
	const click: ClickMessage = {
		format: CLICK_FORMAT,
		id: newTimeOrderedId(now),
		at: now,
		hash,
		kind: token.kind,
		publisher: token.publisher,
		brandId: token.advertiserId,
		campaignId: target.campaign.campaignId,
		country: country ?? target.campaign.country,
	};
	if (reason !== null) click.reason = reason;
	if (bidMicros !== null) click.bidMicros = bidMicros;
	const texts = readTexts(query);
	if (texts !== undefined) click.texts = texts;
	waitUntil(record(deps, click, headers.get("cf-connecting-ip"), headers.get("user-agent")));
	deps.measure?.({
		event: "click",
		publisher: token.publisher,
		outcome: reason ?? "ok",
		channel: token.kind,
		amountMicros: click.bidMicros ?? 0,
	});
	return new Response(null, { status: 302, headers: { ...COMMON, location } });
}

/** What is not needed for the answer comes after it. */
async function record(deps: RedirectDeps, click: ClickMessage, address: string | null, userAgent: string | null): Promise<void> {
	const ipPrefix = address === null ? null : networkPrefix(address);
	if (ipPrefix !== null) click.ipPrefix = ipPrefix;
	if (userAgent !== null && userAgent !== "") click.userAgentHash = await hashUserAgent(userAgent);
	await recordClick(deps.store, click);
}

/** The brand of a token in the present book, undefined where it has none; null where no book can be had at all. */
async function findBrand(
	{ book }: RedirectDeps,
	{ domain, advertiserId }: ClickToken,
	now: number,
	waitUntil: WaitUntil,
): Promise<{ snapshot: BookSnapshot; brand: BookBrand | undefined } | null> {
	try {
		const pending = book.snapshot(now, waitUntil);
		const snapshot = pending instanceof Promise ? await pending : pending;
		if (snapshot === null) return null;
		const entry = book.entry(snapshot, domainKey(domain));
		const brands = entry instanceof Promise ? await entry : entry;
		return { snapshot, brand: brands?.find((brand) => brand.brandId === advertiserId) };
	} catch (error) {
		if (error instanceof BookUnavailableError) return null;
		throw error;
	}
}

/** What a click of a tracking link is worth now: EPC × share. Null where the book does not know the publisher. */
function linkPriceMicros(snapshot: BookSnapshot, { publisher }: ClickToken, { epcMicros }: BookCampaign): number | null {
	const known = snapshot.byIdentity.get(publisher);
	return known === undefined ? null : priceToMicros(priceOf(epcMicros ?? 0, known.sharePpm));
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

function page(status: number, text: string, headers: Record<string, string> = {}): Response {
	return new Response(`${text}\n`, { status, headers: { ...COMMON, "content-type": "text/plain; charset=utf-8", ...headers } });
}
