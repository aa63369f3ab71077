/** What a publisher gets for a brand: of its campaigns the one that speaks for it, and what a click on its link pays. Pure. */
import { priceOf } from "../lib/money.ts";

/** A campaign, as far as links are concerned. */
export type Campaign = {
	campaignId: number;
	active: boolean;
	country: string;
	hasHomepage: boolean;
	/** It has a deeplink, and the deeplink is verified. */
	hasDeeplink: boolean;
	epcMicros: number | null;
	/** A cap of it is met. */
	paused: boolean;
};

/** What a click on a link of the campaign pays, in ten-thousandths of a USD, as the redirect reckons it. */
export function priceOfLink({ epcMicros }: Pick<Campaign, "epcMicros">, sharePpm: number): number {
	return priceOf(epcMicros ?? 0, sharePpm);
}

/** Of campaigns that serve alike: one that is not paused, else the highest price, then the lowest id, as for bids. */
export function chooseBest<Of extends Campaign>(campaigns: readonly Of[], sharePpm: number): Of | undefined {
	return campaigns.toSorted(
		(a, b) => Number(a.paused) - Number(b.paused) || priceOfLink(b, sharePpm) - priceOfLink(a, sharePpm) || a.campaignId - b.campaignId,
	)[0];
}

export type Block = { domain: string; country?: string | null };

/** Countries in which a brand is blocked for a publisher; "all" for every one. @param blocks publishers.blocked_brands */
export function blockedCountriesOf(domain: string, blocks: readonly Block[], brandBlocks: readonly string[]): ReadonlySet<string> | "all" {
	const own = blocks.filter((block) => block.domain === domain);
	if (own.some(({ country }) => country === undefined || country === null)) return "all";
	return new Set([...brandBlocks, ...own.flatMap(({ country }) => country ?? [])]);
}
