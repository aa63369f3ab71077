import type { Publisher } from "../keys/key-owners.ts";
import type { ProductsDeps } from "./deps.ts";
import type { PromotableBrand } from "./promotable-brands.ts";

/**
 * Makes the click URLs of one answer: a link of the publisher's on the brand's campaign, with the product's page as `dl`, and the
 * publisher's tag on a marketplace. A token is the same for the same campaign: each click of a link is one of its own.
 * The publisher may append `clickid`, `subi`, `subid1` to `subid5` and the other parameters of a tracking link.
 */
export function productLinks(
	{ links, clickUrl }: Pick<ProductsDeps, "links" | "clickUrl">,
	publisher: Publisher,
): (brand: PromotableBrand, page: string) => Promise<string> {
	const minted = new Map<number, Promise<string>>();
	return async (brand, page) => {
		const { brandId: advertiserId, domain, campaignId, country } = brand;
		const token = minted.get(campaignId) ?? links.mint({ publisher: publisher.publisherIdentity, advertiserId, domain, campaignId });
		minted.set(campaignId, token);
		const tag = brand.marketplace ? publisher.marketplaceTag : null;
		const query = `encyp=${await token}&cc=${country}&dl=${encode(page)}${tag === null ? "" : `&atag=${encode(tag)}`}`;
		return `${clickUrl}/click?${query}`;
	};
}

function encode(text: string): string {
	return encodeURIComponent(text.toWellFormed());
}
