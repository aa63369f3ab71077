/** GET /click on the click tracker: redirects to the platform's link from memory only, and records the click afterwards. */
import { type BookBrand, type BookCampaign, domainKey } from "../campaign-book/format.ts";
import type { BookSnapshot } from "../campaign-book/load.ts";
import { BookUnavailableError } from "../campaign-book/resident-shards.ts";
import type { ClickToken } from "../click-token/token.ts";
import type { WaitUntil } from "../lib/async.ts";
import { newTimeOrderedId, newUuid } from "../lib/ids.ts";
import { networkPrefix } from "../lib/ip.ts";
import { logError } from "../lib/log.ts";
import { clickHashOf } from "../lib/md5-ids.ts";
import { priceOf, priceToMicros } from "../lib/money.ts";
import { Query } from "../lib/query.ts";
import { isPathAt, pathStartOf, searchAt } from "../lib/request-url.ts";
import { chooseTarget, fillTemplate } from "./choose-target.ts";
import type { RedirectDeps } from "./deps.ts";
import { CLICK_FORMAT, type ClickMessage } from "./message.ts";
import { readCountry, readParameter, readTexts } from "./read-parameters.ts";
import { recordClick } from "./record-click.ts";
import { whyUncounted } from "./why-uncounted.ts";

const CLICK_PATH = "/click";

/** Answers a request for a click URL; null where the path is another's. The host is not looked at: earlier ones keep working. */
export function routeClick(deps: RedirectDeps, request: Request, waitUntil: WaitUntil): Promise<Response> | null {
	const { url } = request;
	const start = pathStartOf(url);
	if (!isPathAt(url, start, CLICK_PATH, false)) return null;
	const { method } = request;
	if (method !== "GET" && method !== "HEAD") return Promise.resolve(page(405, "Only GET is accepted.", { allow: "GET, HEAD" }));
	const query = new Query(searchAt(url, start + CLICK_PATH.length));
	return deps.tokens.open(query.get("encyp") ?? "").then((token) => {
		if (token === null) return page(404, "This link is not valid.");
		try {
			const answer = resolveClick({ deps, request, method, waitUntil, query, token });
			return answer instanceof Promise ? answer.catch(failed) : answer;
		} catch (error) {
			return failed(error);
		}
	}, failed);
}

function failed(error: unknown): Response {
	logError("click.failed", error);
	return page(500, AGAIN);
}

const AGAIN = "This link cannot be opened just now. Please try again.";

type Click = { deps: RedirectDeps; request: Request; method: string; waitUntil: WaitUntil; query: Query; token: ClickToken };

/** Finds the brand of the token: at once where the book is resident, as for nearly every click. */
function resolveClick(click: Click): Response | Promise<Response> {
	const { deps, token, waitUntil } = click;
	const now = deps.now();
	const answer = (snapshot: BookSnapshot | null): Response | Promise<Response> => {
		if (snapshot === null) return unavailable();
		const brands = deps.book.entry(snapshot, domainKey(token.domain));
		if (!(brands instanceof Promise)) return redirect(click, snapshot, brands, now);
		return brands.then((arrived) => redirect(click, snapshot, arrived, now), refuseWithoutBook);
	};
	try {
		const snapshot = deps.book.snapshot(now, waitUntil);
		return snapshot instanceof Promise ? snapshot.then(answer).catch(refuseWithoutBook) : answer(snapshot);
	} catch (error) {
		return refuseWithoutBook(error);
	}
}

function refuseWithoutBook(error: unknown): Response {
	if (error instanceof BookUnavailableError) return unavailable();
	throw error;
}

/** Not a lost click: the user has not been sent anywhere, and can try again. */
function unavailable(): Response {
	return page(503, AGAIN, { "retry-after": "5" });
}

function redirect(
	{ deps, request, method, waitUntil, query, token }: Click,
	snapshot: BookSnapshot,
	brands: readonly BookBrand[] | null,
	now: number,
): Response {
	const brand = brands?.find((candidate) => candidate.brandId === token.advertiserId);
	const country = readCountry(query);
	const target = brand === undefined ? null : chooseTarget(brand, token.campaignId, country, readParameter(query, "dl"));
	if (target === null) return page(404, "This link leads nowhere any more.");

	const { headers } = request;
	const userAgent = headers.get("user-agent");
	const hash = clickHashOf(token.kind === "link" ? newUuid() : token.auctionId);
	const reason = whyUncounted(method, headers, userAgent, token, deps.clickTtlMs, now);
	const bidMicros = token.kind === "link" ? linkPriceMicros(snapshot, token, target.campaign) : token.bidMicros;
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
	const address = headers.get("cf-connecting-ip");
	const ipPrefix = address === null ? null : networkPrefix(address);
	if (ipPrefix !== null) click.ipPrefix = ipPrefix;
	waitUntil(recordClick(deps.store, click, userAgent));
	deps.measure?.({
		event: "click",
		publisher: token.publisher,
		outcome: reason ?? "ok",
		channel: token.kind,
		amountMicros: click.bidMicros ?? 0,
	});
	return new Response(null, { status: 302, headers: { ...COMMON, location: fillTemplate(target, hash) } });
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
