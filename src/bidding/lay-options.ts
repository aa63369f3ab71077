/** What a publisher has its OpenRTB requests read for beyond the interface, laid over what every request is read for. */
import type { BookPublisher } from "../campaign-book/book.ts";
import { canonicalHost } from "../lib/host.ts";
import { canonicalKeywords } from "../lib/keyword.ts";
import type { OpenRtbOptions } from "../lib/openrtb-options.ts";
import { isBot } from "../lib/user-agent.ts";
import {
	readCategories,
	readExpiry,
	readKeywordLists,
	readSupplyChains,
	type SupplyChain,
	type SupplyNode,
} from "../openrtb/read-options.ts";
import type { BidRequest } from "../openrtb/read-request.ts";
import { object } from "../openrtb/read-values.ts";
import { type AuctionRequest, type NoBid, noBid } from "./auction.ts";
import { readCategoryRule } from "./categories.ts";

/**
 * The auction's facts as the publisher has them read, or why there is no bid.
 * @param body the parsed body that `request` was read from
 */
export function layOptions(auction: AuctionRequest, request: BidRequest, body: unknown, publisher: BookPublisher): AuctionRequest | NoBid {
	const options = publisher.openRtb;
	if (options === null) return auction;
	if (options.bot_ua === true && isBot(request.userAgent)) return noBid("bot_user_agent");
	const json = object(body);
	const fault = options.schain === undefined ? null : chainFault(readSupplyChains(json), options.schain);
	if (fault !== null) return fault;
	const laid = { ...auction };
	if (options.keywords === true && request.search === null) {
		const lists = readKeywordLists(json);
		const keywords = lists === null ? "too_many" : canonicalKeywords(lists);
		if (keywords === "too_many") laid.tooComplex = true;
		else laid.keyword = keywords;
	}
	if (options.bcat === true) {
		const categories = readCategories(json);
		if (categories === null) laid.tooComplex = true;
		else laid.categories = readCategoryRule(categories);
	}
	return laid;
}

/** What is wrong with the chains of a request: each that is sent must be right, and one must be. */
function chainFault(chains: readonly SupplyChain[], { parties }: NonNullable<OpenRtbOptions["schain"]>): NoBid | null {
	if (chains.length === 0) return noBid("schain_incomplete");
	for (const chain of chains) {
		if (chain === null || !chain.complete || chain.nodes.some(({ asi, sid }) => asi === "" || sid === ""))
			return noBid("schain_incomplete");
		if (parties !== undefined && !chain.nodes.every((node) => isParty(node, parties))) return noBid("schain_not_accepted");
	}
	return null;
}

function isParty({ asi, sid }: SupplyNode, parties: NonNullable<NonNullable<OpenRtbOptions["schain"]>["parties"]>): boolean {
	const host = canonicalHost(asi);
	return parties.some((party) => party.asi === host && (party.sid === undefined || party.sid === sid));
}

/** For how long the request lets a click on the bid be paid, whole seconds; null where it, or its publisher, sets no such bound. */
export function lifeOf(body: unknown, publisher: BookPublisher): number | null {
	const seconds = publisher.openRtb?.exp === true ? readExpiry(object(body)) : null;
	return seconds === null ? null : Math.max(1, Math.min(MAX_LIFE_SECONDS, Math.floor(seconds)));
}

/** Longer than any click is paid. */
const MAX_LIFE_SECONDS = 1_000_000;
