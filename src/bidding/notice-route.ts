/** GET /notice/{publisher_identity}/{won|billed|lost}: an exchange tells what became of a bid. Counted in the isolate, and nothing more. */
import type { WaitUntil } from "../lib/async.ts";
import { NOTICE_KINDS, PUBLISHER_IDENTITY } from "../lib/enums.ts";
import { parseMicros } from "../lib/money.ts";
import { Query } from "../lib/query.ts";
import { isPathAt, pathStartOf } from "../lib/request-url.ts";
import type { BiddingDeps } from "./deps.ts";
import { NOTICE_PATH } from "./notice-url.ts";

const HEADERS = new Headers({ "cache-control": "no-store", "x-robots-tag": "noindex, nofollow" });

/** Answers a notice, whatever host it came to; null where the path is another's. It never bills: anyone can call it. */
export function routeNotice(deps: BiddingDeps, request: Request, url: string, waitUntil: WaitUntil): Promise<Response> | null {
	const start = pathStartOf(url);
	return isPathAt(url, start, NOTICE_PATH, true) ? Promise.resolve(answer(deps, request, url.slice(start), waitUntil)) : null;
}

/** @param path path and query of the request, from its slash on */
function answer({ counts, measure, now }: BiddingDeps, { method }: Request, path: string, waitUntil: WaitUntil): Response {
	if (method !== "GET" && method !== "HEAD") return empty(405, { allow: "GET, HEAD" });
	const end = path.search(/[?#]/);
	const [identity = "", name, ...rest] = path.slice(NOTICE_PATH.length + 1, end === -1 ? undefined : end).split("/", 3);
	const kind = NOTICE_KINDS.find((known) => known === name);
	if (kind === undefined || rest.length > 0 || !PUBLISHER_IDENTITY.test(identity)) return empty(404);
	// Previewers look at addresses by HEAD: nothing has happened then.
	if (method === "GET") {
		counts?.countNotice(identity, kind, now(), waitUntil);
		measure?.({ event: "notice", publisher: identity, outcome: kind, channel: "openrtb", amountMicros: readPrice(path, end) });
	}
	return empty(204);
}

/** The price told, micro-dollars; 0 where it is none, such as a macro that nobody has put a value for. */
function readPrice(path: string, end: number): number {
	const price = end === -1 ? null : new Query(path.slice(end + 1)).get("price");
	return price === null ? 0 : (parseMicros(price) ?? 0);
}

function empty(status: 204 | 404 | 405, headers?: Record<string, string>): Response {
	return new Response(null, { status, headers: headers === undefined ? HEADERS : { ...Object.fromEntries(HEADERS), ...headers } });
}
