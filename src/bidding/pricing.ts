import type { BookBrand, BookCampaign } from "../campaign-book/format.ts";
import { priceOf } from "../lib/money.ts";

/**
 * Gross earnings per click of a campaign in micro-dollars, or null where it has none. With a keyword: the campaign's entry for
 * it, else its default keyword EPC, else its EPC.
 */
export function grossEpcMicros(campaign: BookCampaign, keyword: string | null): number | null {
	if (keyword === null) return campaign.epcMicros;
	return campaign.keywordEpcMicros?.get(keyword) ?? campaign.defaultKeywordEpcMicros ?? campaign.epcMicros;
}

/** The keyword where it priced the bid, by its own entry or the default keyword EPC; null where the EPC did. */
export function pricingKeyword(campaign: BookCampaign, keyword: string | null): string | null {
	if (keyword === null) return null;
	return campaign.defaultKeywordEpcMicros !== null || campaign.keywordEpcMicros?.has(keyword) === true ? keyword : null;
}

/** What a publisher is offered for a click, in ten-thousandths of a USD; 0 where the campaign has no price. */
export function campaignPrice(campaign: BookCampaign, keyword: string | null, sharePpm: number): number {
	const epcMicros = grossEpcMicros(campaign, keyword);
	return epcMicros === null ? 0 : priceOf(epcMicros, sharePpm);
}

/** The most any campaign of a candidate offers. */
export function highestPrice(brand: BookBrand, keyword: string | null, sharePpm: number): number {
	return brand.campaigns.reduce((highest, campaign) => Math.max(highest, campaignPrice(campaign, keyword, sharePpm)), 0);
}
