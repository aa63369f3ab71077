/** What a publisher gets for a brand: of its campaigns the one that speaks for it, and what a click on its link pays. Pure. */
import type { BookCampaign } from "../campaign-book/book.ts";
import { type Reckoning, reckonLink } from "../campaign-book/learned.ts";
import type { BlockedBrand } from "../lib/blocked-brands.ts";
import type { LinkType } from "../lib/enums.ts";

/** A campaign, as far as links are concerned. */
export type Campaign = {
	campaignId: number;
	active: boolean;
	country: string;
	hasHomepage: boolean;
	/** It has a deeplink, and the deeplink is verified. */
	hasDeeplink: boolean;
	/** As the book has it: what was learned is in it, where that is bid. */
	epcMicros: number | null;
	heldBack: BookCampaign["heldBack"];
	/** The operator's number, where it holds learned ones near to it. */
	operatorPrices: { epcMicros: number | null } | null;
	released: BookCampaign["released"];
	/** A cap of it is met. */
	paused: boolean;
};

/** What prices of links are reckoned by for a publisher. */
export type LinkTerms = {
	sharePpm: number;
	/** What was learned of the publisher's clicks on such links; null where they are paid by the operator's numbers. */
	reckonings: Readonly<Record<LinkType, Reckoning>> | null;
};

/** What a click on a link of the campaign pays, in ten-thousandths of a USD, as the redirect reckons it. */
export function priceOfLink(campaign: Campaign, link: LinkType, { sharePpm, reckonings }: LinkTerms): number {
	return reckonLink(campaign, sharePpm, reckonings === null ? null : reckonings[link]).price;
}

/** Of campaigns that serve alike: one that is not paused, else the highest price, then the lowest id, as for bids. */
export function chooseBest<Of extends Campaign>(campaigns: readonly Of[], priceOf: (campaign: Of) => number): Of | undefined {
	return campaigns.toSorted((a, b) => Number(a.paused) - Number(b.paused) || priceOf(b) - priceOf(a) || a.campaignId - b.campaignId)[0];
}

/** Countries in which a brand is blocked for a publisher; "all" for every one. @param blocks publishers.blocked_brands */
export function blockedCountriesOf(
	domain: string,
	blocks: readonly BlockedBrand[],
	brandBlocks: readonly string[],
): ReadonlySet<string> | "all" {
	const own = blocks.filter((block) => block.domain === domain);
	if (own.some(({ country }) => country === undefined)) return "all";
	return new Set([...brandBlocks, ...own.flatMap(({ country }) => country ?? [])]);
}
