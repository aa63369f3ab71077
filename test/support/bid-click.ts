import type { ClickMessage } from "../../src/clicks/message.ts";

/** A click on a bid, with as little in its message as there may be. */
export const BID_CLICK: ClickMessage = {
	format: 1,
	id: "click-1",
	at: 1_000,
	hash: "0123456789abcdef0123456789abcdef",
	kind: "openrtb",
	publisher: "acme_rtb",
	brandId: 1,
	campaignId: 5001,
};
