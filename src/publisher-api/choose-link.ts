/** The link of a page, or why there is none: pure, over what is stored of the page's brand. Its answers agree with what the redirect does. */
import { readDeeplink } from "../clicks/choose-target.ts";
import type { BlockedBrand } from "../lib/blocked-brands.ts";
import { canonicalHost } from "../lib/host.ts";
import { blockedCountriesOf, type Campaign, chooseBest, type LinkTerms, priceOfLink } from "./offers.ts";

/** Why an address gets no link, in the order in which they are asked. */
export const NO_LINK_REASONS = {
	invalid_address: "no http(s) address of a page, or one that is too long or has control characters, a backslash or credentials in it",
	unknown_brand: "no brand has this host",
	blocked: "the brand is blocked for you, or in the country",
	stopped: "the brand is not active, or has no active campaign",
	not_in_country: "no campaign of the brand serves this country",
	no_deeplinks: "no campaign can lead to a page of the brand: it has links to its homepage at most",
	not_available_now: "the brand takes no more clicks for now",
} as const;
export type NoLinkReason = keyof typeof NO_LINK_REASONS;

export type LinkedBrand = {
	brandId: number;
	domain: string;
	aliases: readonly string[];
	active: boolean;
	blockedCountries: readonly string[];
	campaigns: readonly Campaign[];
};

export type Wish = {
	/** As it was sent. */
	url: string;
	/** The links' country; null for any. */
	country: string | null;
	blocks: readonly BlockedBrand[];
	terms: LinkTerms;
};

/** `deeplink` is null for a link to the homepage. */
export type ChosenLink = {
	campaign: Campaign;
	deeplink: string | null;
	/** In ten-thousandths of a USD. */
	price: number;
};

export function chooseLink(brand: LinkedBrand, { url, country, blocks, terms }: Wish): ChosenLink | NoLinkReason {
	const page = url.toWellFormed().trim();
	if (readDeeplink(brand, page) === null) return "invalid_address";
	const blocked = blockedCountriesOf(brand.domain, blocks, brand.blockedCountries);
	if (blocked === "all" || (country !== null && blocked.has(country))) return "blocked";
	const active = brand.active ? brand.campaigns.filter((campaign) => campaign.active) : [];
	if (active.length === 0) return "stopped";
	const allowed = active.filter((campaign) => !blocked.has(campaign.country));
	if (allowed.length === 0) return "blocked";
	const serving = country === null ? allowed : allowed.filter((campaign) => campaign.country === country);
	if (serving.length === 0) return "not_in_country";
	const homepages = isHomepage(brand, page) ? serving.filter(({ hasHomepage }) => hasHomepage) : [];
	const deeplinks = serving.filter(({ hasDeeplink }) => hasDeeplink);
	// A homepage link that is stopped does not stand in the way of a deeplink to the same page.
	const isDeeplink = homepages.every(({ paused }) => paused) && deeplinks.length > 0;
	const priceOf = (campaign: Campaign) => priceOfLink(campaign, isDeeplink ? "deeplink" : "homepage", terms);
	const campaign = chooseBest(isDeeplink ? deeplinks : homepages, priceOf);
	if (campaign === undefined) return "no_deeplinks";
	return campaign.paused ? "not_available_now" : { campaign, deeplink: isDeeplink ? page : null, price: priceOf(campaign) };
}

/** Nothing but the brand's domain: its homepage link leads there. */
function isHomepage({ domain }: LinkedBrand, page: string): boolean {
	return canonicalHost(page) === domain && /^(?:https?:\/\/)?[^/?#:]+\/?$/i.test(page);
}
