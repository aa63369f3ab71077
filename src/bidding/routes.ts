/**
 * Routes the two real-time endpoints. They are recognised by their path, before any router: on a bid, routing would cost
 * more than the auction.
 */
import type { WaitUntil } from "../lib/async.ts";
import { isPathAt, pathStartOf } from "../lib/request-url.ts";
import type { BiddingDeps } from "./deps.ts";
import { handleOpenRtb, OPENRTB_PATH } from "./openrtb-route.ts";
import { handleServingEngine, SERVING_ENGINE_PATH } from "./serving-engine-route.ts";

/** Answers a request of a real-time endpoint; null where its path is another's. */
export function routeBid(deps: BiddingDeps, request: Request, url: string, waitUntil: WaitUntil): Response | Promise<Response> | null {
	const start = pathStartOf(url);
	if (isPathAt(url, start, OPENRTB_PATH, true)) return handleOpenRtb(deps, request, url.slice(start), waitUntil);
	if (isPathAt(url, start, SERVING_ENGINE_PATH, false)) return handleServingEngine(deps, request, url, waitUntil);
	return null;
}
