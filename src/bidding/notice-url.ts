/** Where an exchange tells what became of a bid: nothing is paid by it, and nothing else rests on it. */
import type { NoticeKind } from "../lib/enums.ts";

export const NOTICE_PATH = "/notice";

/** Macros of OpenRTB, for which the exchange puts its values: 2.6 has the price to beat for bids that lost. */
const QUERIES: Record<NoticeKind, string> = {
	// biome-ignore-start lint/suspicious/noTemplateCurlyInString: macros of OpenRTB
	won: "?price=${AUCTION_PRICE}",
	billed: "?price=${AUCTION_PRICE}",
	lost: "?loss=${AUCTION_LOSS}&price=${AUCTION_MIN_TO_WIN}",
	// biome-ignore-end lint/suspicious/noTemplateCurlyInString: macros of OpenRTB
};

/** @param clickUrl origin of the click tracker, without a trailing slash */
export function noticeUrl(clickUrl: string, identity: string, kind: NoticeKind): string {
	return `${clickUrl}${NOTICE_PATH}/${identity}/${kind}${QUERIES[kind]}`;
}
