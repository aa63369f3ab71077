/** GET /click on the click tracker: redirects to the platform's link from memory only, and records the click afterwards. */
import type { BookBrand, BookPublisher } from "../campaign-book/book.ts";
import { type BookSnapshot, findByIdentity } from "../campaign-book/load.ts";
import { BookUnavailableError } from "../campaign-book/resident-shards.ts";
import type { ClickToken } from "../click-token/token-content.ts";
import type { WaitUntil } from "../lib/async.ts";
import { AwayError, inTime } from "../lib/away.ts";
import { logError } from "../lib/log.ts";
import { Query } from "../lib/query.ts";
import { isPathAt, pathStartOf, searchAt } from "../lib/request-url.ts";
import { SECOND_MS } from "../lib/time.ts";
import { chooseTarget, fillTemplate } from "./choose-target.ts";
import { type AskedClick, composeClick } from "./compose-click.ts";
import type { RedirectDeps } from "./deps.ts";
import { readCountry, readParameter } from "./read-parameters.ts";
import { recordClick } from "./record-click.ts";

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

type Click = AskedClick & { waitUntil: WaitUntil };

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
	asked: Click,
	snapshot: BookSnapshot,
	found: BookBrand | null,
	publisher: BookPublisher | undefined,
	now: number,
): Response {
	const { deps, query, token, waitUntil } = asked;
	const brand = found?.brandId === token.advertiserId ? found : null;
	const target = brand === null ? null : chooseTarget(brand, token.campaignId, readCountry(query), readParameter(query, "dl"));
	if (brand === null || target === null) return page(404, "This link leads nowhere any more.");
	const { click, visitor, stripped } = composeClick(asked, { snapshot, brand, publisher, target, now });
	// Before the click is recorded: a template of which no link can be made sends nobody anywhere.
	REDIRECT_HEADERS.set("location", fillTemplate(target, click.hash));
	const response = new Response(null, { status: 302, headers: REDIRECT_HEADERS });
	waitUntil(recordClick(deps.store, click, visitor, stripped));
	deps.measure?.({
		event: "click",
		publisher: token.publisher,
		outcome: click.reason ?? "ok",
		channel: token.kind,
		amountMicros: click.bidMicros ?? 0,
	});
	return response;
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
