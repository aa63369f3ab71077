import type { BidEndpoint } from "../lib/enums.ts";
import type { Measure } from "../lib/measure.ts";
import { priceToMicros } from "../lib/money.ts";
import type { Decision } from "./auction.ts";

/** One data point for a decision: a bid with its price, or a no-bid with its reason. */
export function measureDecision(measure: Measure, channel: BidEndpoint, requester: string, decision: Decision): void {
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
