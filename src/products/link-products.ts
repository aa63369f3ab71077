import type { Publisher } from "../db/key-owners.ts";
import type { ProductsDeps } from "./deps.ts";
import type { PromotableBrand } from "./promotable-brands.ts";

/**
 * Makes the click URLs of one answer: a link of the publisher's on the brand's campaign, with the product's page as `dl`, and the
 * publisher's tag on a marketplace. One token a campaign serves the whole answer: each click of a link is one of its own.
 * The publisher may append `clickid`, `subi`, `subid1` to `subid5` and the other parameters of a tracking link.
 */
export function productLinks(
	{ tokens, clickUrl, now }: Pick<ProductsDeps, "tokens" | "clickUrl" | "now">,
	publisher: Publisher,
): (brand: PromotableBrand, page: string) => Promise<string> {
	const minted = new Map<number, Promise<string>>();
	return async (brand, page) => {
		const token =
			minted.get(brand.campaignId) ??
			tokens.mint({
				kind: "link",
				publisher: publisher.publisherIdentity,
				advertiserId: brand.brandId,
				domain: brand.domain,
				campaignId: brand.campaignId,
				bidMicros: 0,
				typoId: 0,
				auctionId: "",
				mintedAt: now(),
				test: false,
			});
		minted.set(brand.campaignId, token);
		const tag = brand.marketplace ? publisher.marketplaceTag : null;
		const query = `encyp=${await token}&cc=${brand.country}&dl=${encode(page)}${tag === null ? "" : `&atag=${encode(tag)}`}`;
		return `${clickUrl}/click?${query}`;
	};
}

function encode(text: string): string {
	return encodeURIComponent(text.toWellFormed());
}
