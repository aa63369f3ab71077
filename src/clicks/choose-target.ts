/** Where a click leads: pure, and never anywhere but to the platform's link, with the brand's own page in it at most. */
import type { BookBrand, BookCampaign } from "../campaign-book/book.ts";
import type { LinkType } from "../lib/enums.ts";
import { hostOfAddress, isWithin, MAX_URL_LENGTH, readWebAddress, siteUrl } from "../lib/host.ts";

export type Target = {
	/** The campaign whose link it is. */
	campaign: BookCampaign;
	/** The platform's link template. */
	template: string;
	/** The value of `{deeplink}`. */
	deeplink: string;
	/** Whether the user is sent to a page of their choice, or to the brand's homepage. */
	link: LinkType;
};

/**
 * The campaign of a token, and its link: with a usable `dl` the deeplink link, else the homepage link; a campaign that has only
 * a deeplink link leads to the brand's homepage through it. Where the brand no longer has the campaign (an import replaces
 * campaigns as a whole) another one of it takes the click: active before inactive, the link's country first, then the lowest id.
 * Null where the brand has no link at all.
 * @param dl the `dl` parameter as sent; null where there is none
 */
export function chooseTarget(brand: BookBrand, campaignId: number, country: string | null, dl: string | null): Target | null {
	const deeplink = dl === null ? null : readDeeplink(brand, dl);
	const own = brand.campaigns.find((campaign) => campaign.campaignId === campaignId);
	const target = own === undefined ? null : linkOf(brand, own, deeplink);
	if (target !== null) return target;
	const others = [...brand.campaigns].sort(
		(a, b) =>
			Number(b.active) - Number(a.active) || Number(b.country === country) - Number(a.country === country) || a.campaignId - b.campaignId,
	);
	for (const campaign of others) {
		const found = linkOf(brand, campaign, deeplink);
		if (found !== null) return found;
	}
	return null;
}

function linkOf(brand: BookBrand, campaign: BookCampaign, deeplink: string | null): Target | null {
	const { homepageUrl, deeplinkUrl } = campaign;
	if (deeplink !== null && deeplinkUrl !== null) return { campaign, template: deeplinkUrl, deeplink, link: "deeplink" };
	const template = homepageUrl ?? deeplinkUrl;
	return template === null ? null : { campaign, template, deeplink: siteUrl(brand.domain), link: "homepage" };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what must be found
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
/** An address whose host every parser reads alike. */
const PLAIN_AUTHORITY = /^https?:\/\/[a-z0-9.-]+(?::\d+)?(?:[/?#]|$)/i;

/**
 * The page of a brand that `dl` names; null where it is not an http(s) address on one of the brand's hosts, holds control
 * characters, backslashes or credentials, or is over 2,048 characters long.
 */
export function readDeeplink(brand: Pick<BookBrand, "domain" | "aliases">, dl: string): string | null {
	if (dl.length > MAX_URL_LENGTH || CONTROL.test(dl)) return null;
	const address = readWebAddress(dl);
	const host = address === null ? null : hostOfAddress(address);
	if (address === null || host === null) return null;
	if (!isWithin(host, brand.domain) && !brand.aliases.some((alias) => isWithin(host, alias))) return null;
	// A host in other letters or in escapes is passed on as we read it: the platform's parser may read it otherwise.
	return PLAIN_AUTHORITY.test(address.url) ? address.url : (URL.parse(address.url)?.href ?? null);
}

/** The platform's link with the click hash and the deeplink in it: printable ASCII, as a header needs it. */
export function fillTemplate({ template, deeplink }: Pick<Target, "template" | "deeplink">, clickHash: string): string {
	const filled = template.replaceAll("{click_id}", clickHash).replaceAll("{deeplink}", () => encodeURIComponent(deeplink.toWellFormed()));
	return /^[!-~]*$/.test(filled) ? filled : new URL(filled).href;
}
