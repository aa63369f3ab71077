import type { BookBrand, BookCampaign, KeywordPrices } from "../campaign-book/book.ts";
import { holdBack, operatorView, type Reckoning, reckonEpc } from "../campaign-book/learned.ts";
import type { Keywords } from "../lib/keyword.ts";
import { priceOf } from "../lib/money.ts";

/**
 * Gross earnings per click of a campaign in micro-dollars, or null where it has none. With a keyword: the campaign's entry for
 * it, else its default keyword EPC, else its EPC. With several: the most that one of them alone would have.
 */
export function grossEpcMicros(campaign: BookCampaign, keywords: Keywords): number | null {
	if (keywords === null) return campaign.epcMicros;
	const any = campaign.defaultKeywordEpcMicros ?? campaign.epcMicros;
	if (typeof keywords === "string") return campaign.keywordEpcMicros?.get(keywords) ?? any;
	const best = bestEntry(campaign.keywordEpcMicros, keywords);
	if (best === null) return any;
	// One of them has no entry, and so the price of any.
	return any !== null && any > best.epcMicros && best.found < keywords.size ? any : best.epcMicros;
}

/** The keyword where it priced the bid, by its own entry or the default keyword EPC; null where the EPC did. */
export function pricingKeyword(campaign: BookCampaign, keywords: Keywords): string | null {
	if (keywords === null) return null;
	if (typeof keywords === "string") return isPricedBy(campaign, keywords) ? keywords : null;
	const best = bestEntry(campaign.keywordEpcMicros, keywords);
	const gross = grossEpcMicros(campaign, keywords);
	if (best !== null && best.epcMicros === gross) return best.keyword;
	return campaign.defaultKeywordEpcMicros === null ? null : firstWithout(campaign, keywords);
}

function isPricedBy(campaign: BookCampaign, keyword: string): boolean {
	return campaign.defaultKeywordEpcMicros !== null || campaign.keywordEpcMicros?.has(keyword) === true;
}

function firstWithout(campaign: BookCampaign, keywords: ReadonlySet<string>): string | null {
	for (const keyword of keywords) if (campaign.keywordEpcMicros?.has(keyword) !== true) return keyword;
	return null;
}

type Entry = { keyword: string; epcMicros: number; found: number };

/** The highest entry for one of several keywords, and how many of them have one; null for none. Costs what the shorter side has. */
function bestEntry(prices: KeywordPrices | null, keywords: ReadonlySet<string>): Entry | null {
	if (prices === null) return null;
	let best: Entry | null = null;
	let found = 0;
	const take = (keyword: string, epcMicros: number | undefined) => {
		if (epcMicros === undefined) return;
		found++;
		if (best === null || epcMicros > best.epcMicros) best = { keyword, epcMicros, found: 0 };
	};
	if (prices.entries !== undefined && (prices.size === undefined || prices.size < keywords.size)) {
		for (const [keyword, epcMicros] of prices.entries()) if (keywords.has(keyword)) take(keyword, epcMicros);
	} else for (const keyword of keywords) take(keyword, prices.get(keyword));
	return best === null ? null : Object.assign(best as Entry, { found });
}

/** The same as it is reckoned with in one request, where prices are learned. */
export function reckonedEpcMicros(campaign: BookCampaign, keywords: Keywords, reckoning: Reckoning | null): number | null {
	const epcMicros = grossEpcMicros(campaign, keywords);
	if (epcMicros === null || reckoning === null) return epcMicros;
	return reckonEpc(epcMicros, campaign, reckoning, () => grossEpcMicros(operatorView(campaign), keywords));
}

/**
 * What a publisher is offered for a click, in ten-thousandths of a USD; 0 where the campaign has no price.
 * @param reckoning null where prices are not learned
 */
export function campaignPrice(campaign: BookCampaign, keywords: Keywords, sharePpm: number, reckoning: Reckoning | null): number {
	const epcMicros = reckonedEpcMicros(campaign, keywords, reckoning);
	return epcMicros === null ? 0 : priceOf(holdBack(epcMicros, campaign, reckoning), sharePpm);
}

/**
 * The most that a campaign has for a request before what `Reckoning.most` allows for, micro-dollars. One that was let go of lately is kept
 * near the operator's number, which may lie above what was learned.
 */
export function mostEpcMicros(campaign: BookCampaign, keywords: Keywords): number {
	const epcMicros = grossEpcMicros(campaign, keywords) ?? 0;
	return campaign.released === null ? epcMicros : Math.max(epcMicros, grossEpcMicros(operatorView(campaign), keywords) ?? 0);
}

/** No campaign of a candidate offers more, and neither does one that comes after it by its price in the book. */
export function highestPrice(brand: BookBrand, keywords: Keywords, sharePpm: number, reckoning: Reckoning | null): number {
	let highest = 0;
	for (const campaign of brand.campaigns) highest = Math.max(highest, mostEpcMicros(campaign, keywords));
	// Two steps make a price of it, and each may round up.
	return priceOf(reckoning === null ? highest : Math.ceil(highest * reckoning.most) + 2, sharePpm);
}
