/** What is told of a decision, to those who count them. */
import type { WaitUntil } from "../lib/async.ts";
import type { BidEndpoint } from "../lib/enums.ts";
import type { Measure } from "../lib/measure.ts";
import { priceToMicros } from "../lib/money.ts";
import type { Decision } from "./auction.ts";
import type { BiddingDeps } from "./deps.ts";

/** @param requester the name by which the publisher asked */
export function tellDecision(
	{ measure, counts }: BiddingDeps,
	endpoint: BidEndpoint,
	requester: string,
	decision: Decision,
	now: number,
	waitUntil: WaitUntil,
): void {
	if (counts !== undefined) counts.count(endpoint, requester, decision, now, waitUntil);
	if (measure !== undefined) measureDecision(measure, endpoint, requester, decision);
}

/** One data point for a decision: a bid with its price, or a no-bid with its reason. */
function measureDecision(measure: Measure, channel: BidEndpoint, requester: string, decision: Decision): void {
	if (decision.outcome === "no-bid") {
		// An unknown publisher is whatever a caller made up.
		const publisher = decision.reason === "publisher_not_enabled" ? "" : requester;
		measure({ event: "no-bid", publisher, outcome: decision.reason, channel });
	} else
		measure({
			event: "bid",
			publisher: decision.publisher.identity,
			outcome: decision.isDeeplink ? "deeplink" : "homepage",
			channel,
			amountMicros: priceToMicros(decision.price),
		});
}
