/**
 * Where the two real-time endpoints stand. They are told by their path alone, before any router: on a bid, routing would cost
 * more than the auction.
 */
import type { BiddingDeps, WaitUntil } from "./deps.ts";
import { handleOpenRtb, OPENRTB_PATH } from "./openrtb-route.ts";
import { handleServingEngine, SERVING_ENGINE_PATH } from "./serving-engine-route.ts";

/** Answers a request of a real-time endpoint; null where its path is another's. */
export function routeBid(deps: BiddingDeps, request: Request, waitUntil: WaitUntil): Promise<Response> | null {
	const { url } = request;
	const start = url.indexOf("/", url.indexOf("//") + 2);
	if (isAt(url, start, OPENRTB_PATH, true)) return handleOpenRtb(deps, request, url.slice(start), waitUntil);
	if (isAt(url, start, SERVING_ENGINE_PATH, false)) return handleServingEngine(deps, request, waitUntil);
	return null;
}

/** Whether the path that begins at `start` is `path`, or lies below it. */
function isAt(url: string, start: number, path: string, below: boolean): boolean {
	if (!url.startsWith(path, start)) return false;
	const next = url.charAt(start + path.length);
	return next === "" || next === "?" || next === "#" || (below && next === "/");
}
