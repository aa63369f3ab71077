/** What a click's price depends on. */
import type { LinkType } from "../lib/enums.ts";

/** Stands for clicks without a keyword. */
export const NO_KEYWORD = "";
/** Stands for every keyword that the campaign does not list. */
export const OTHER_KEYWORDS = "*";
/** Stands for the sources of a publisher beyond the ones that are followed singly. */
export const OTHER_SOURCES = "*other";

/** One price: clicks alike in all that prices are learned by. `keyword` and `source` are classes, so that cells stay few. */
export type Cell = { campaign: string; publisher: string; source: string; keyword: string; link: LinkType };

/** What an operator has said of a campaign's worth. Amounts are gross, in micro-dollars a click; null where there is none. */
export type CampaignTerms = {
	id: string;
	platform: string;
	epcMicros: number | null;
	defaultKeywordEpcMicros: number | null;
	keywordEpcMicros: ReadonlyMap<string, number>;
};

/** The class of a click's keyword: those that the campaign lists stand alone, the rest together. */
export function keywordClass(campaign: CampaignTerms, keyword: string | null): string {
	if (keyword === null || keyword === NO_KEYWORD) return NO_KEYWORD;
	return campaign.keywordEpcMicros.has(keyword) ? keyword : OTHER_KEYWORDS;
}

/** The operator's number for a class of keywords, as bids choose it: its own entry, else the default keyword EPC, else the EPC. */
export function operatorEpcMicros(campaign: CampaignTerms, keyword: string): number {
	if (keyword === NO_KEYWORD) return campaign.epcMicros ?? 0;
	return campaign.keywordEpcMicros.get(keyword) ?? campaign.defaultKeywordEpcMicros ?? campaign.epcMicros ?? 0;
}

/** A cell as one text, for keys of maps and tables. */
export function cellKey({ campaign, publisher, source, keyword, link }: Cell): string {
	return JSON.stringify([campaign, publisher, source, keyword, link]);
}
