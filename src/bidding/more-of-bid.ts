/** What an answer in full has beyond that of the interface. */
import type { NoticeKind } from "../lib/enums.ts";
import { SECOND_MS } from "../lib/time.ts";
import { readCategories } from "../openrtb/read-options.ts";
import { object } from "../openrtb/read-values.ts";
import type { MoreOfBid } from "../openrtb/write-response.ts";
import type { Bid } from "./auction.ts";
import { categoriesIn, FIRST_TAXONOMY } from "./categories.ts";
import type { BiddingDeps } from "./deps.ts";
import { noticeUrl } from "./notice-url.ts";

/** @param body what was asked @param lifeSeconds the bound it set to the bid's paid life */
export function moreOf(deps: BiddingDeps, bid: Bid, body: unknown, lifeSeconds: number | null): MoreOfBid {
	const { publisher, brand, campaign, isDeeplink } = bid;
	const campaignId = String(campaign.campaignId);
	const notice = (kind: NoticeKind) => noticeUrl(deps.clickUrl, publisher.identity, kind);
	return {
		nurl: notice("won"),
		burl: notice("billed"),
		lurl: notice("lost"),
		campaignId,
		creativeId: `${campaignId}-${isDeeplink ? "deeplink" : "homepage"}`,
		...categoriesFor(brand.categories, readCategories(object(body))?.taxonomy ?? FIRST_TAXONOMY),
		exp: Math.min(
			Math.floor(publisher.bidPayMs / SECOND_MS),
			Math.floor(deps.clickTtlMs / SECOND_MS),
			lifeSeconds ?? Number.POSITIVE_INFINITY,
		),
	};
}

/** Those of the taxonomy that was asked for; where the brand has none there, of the first one, or of whichever it has any of. */
function categoriesFor(own: readonly string[], asked: number): Pick<MoreOfBid, "categories" | "taxonomy"> {
	for (const taxonomy of [asked, FIRST_TAXONOMY]) {
		const categories = categoriesIn(own, taxonomy);
		if (categories.length > 0) return { categories, taxonomy };
	}
	const taxonomy = Number((own[0] ?? "").split(":", 1)[0]);
	return { categories: categoriesIn(own, taxonomy), taxonomy };
}
