/** The campaign book as bids and clicks read it, whatever the format it is stored in. */
import type { PricingModel, PrivacyPolicy } from "../lib/enums.ts";
import type { OpenRtbOptions } from "../lib/openrtb-options.ts";
import type { Release } from "../lib/release.ts";
import { MINUTE_MS } from "../lib/time.ts";
import type { TrafficPolicy, TrafficSettings } from "../lib/traffic-rules.ts";

/** Prices of a campaign. Micro-dollars. */
export type CampaignPrices = Pick<BookCampaign, "epcMicros" | "defaultKeywordEpcMicros" | "keywordEpcMicros">;

/** The parts of its price that a campaign bids, in ten-thousandths: to publishers who are paid by click, and to the others. */
export type HeldBack = { readonly byClick: number; readonly all: number };

/** Keyword → EPC, micro-dollars. Packed ones do not know their number, and are walked as cheaply as one is looked for. */
export type KeywordPrices = Pick<ReadonlyMap<string, number>, "get" | "has"> & {
	readonly size?: number;
	entries?(): Iterable<readonly [keyword: string, epcMicros: number]>;
};

export type BookCampaign = {
	readonly campaignId: number;
	readonly active: boolean;
	readonly country: string;
	readonly platformId: number | null;
	readonly hasHomepage: boolean;
	readonly hasDeeplink: boolean;
	/** Link templates; null in keyword entries and where the campaign has no such link. */
	readonly homepageUrl: string | null;
	readonly deeplinkUrl: string | null;
	readonly epcMicros: number | null;
	readonly defaultKeywordEpcMicros: number | null;
	readonly keywordEpcMicros: KeywordPrices | null;
	/** A cap of the campaign is zero. */
	readonly capped: boolean;
	readonly timeZone: string | null;
	readonly allowedHours: number;
	readonly traffic: TrafficSettings | null;
	/** Null where the operator's prices are bid, and not what was learned. */
	readonly heldBack: HeldBack | null;
	/** The operator's numbers, where others were learned and some publisher is bid these, or nearly these. */
	readonly operatorPrices: CampaignPrices | null;
	/** Null where it was not let go of lately. */
	readonly released: Release | null;
};

export type BookBrand = {
	readonly brandId: number;
	readonly domain: string;
	readonly aliases: readonly string[];
	readonly active: boolean;
	readonly blockedCountries: readonly string[];
	/** IAB categories, as the network file has them. */
	readonly categories: readonly string[];
	/** Publishers that may not promote it, where the book has them with the brand; null where the publisher names its brands. */
	readonly blocks: { isBlocked(publisher: number, country: string): boolean } | null;
	readonly campaigns: readonly BookCampaign[];
};

export type BookPublisher = {
	readonly id: string;
	/** What the blocks of brands call it; null where the publisher names its brands. */
	readonly number: number | null;
	readonly identity: string;
	readonly seat: string | null;
	readonly sharePpm: number;
	/** Null in books of earlier versions. */
	readonly pricingModel: PricingModel | null;
	/** Blocked brands: domain → countries; an empty list means every country. */
	readonly blockedBrands: ReadonlyMap<string, readonly string[]>;
	readonly suspended: boolean;
	/** How long a click on a bid is paid, milliseconds. */
	readonly bidPayMs: number;
	/** What a privacy signal that says no does. */
	readonly privacy: PrivacyPolicy;
	/** Rules on which clicks are paid, the network's among them. */
	readonly traffic: TrafficPolicy;
	/** What its OpenRTB requests are read for beyond the interface; null for nothing. */
	readonly openRtb: OpenRtbOptions | null;
	/** Whether bids are answered with all that OpenRTB has, or as the interface says. */
	readonly fullAnswers: boolean;
	/** Its Access Keys, where the edge has to know them; else none. */
	readonly accessKeys: readonly BookAccessKey[];
	/** Whether it is bid the operator's numbers, whatever was learned. */
	readonly restrained: boolean;
	/** Null where it was not let go of lately. */
	readonly released: Release | null;
};

/** How long a click on a bid is paid where the publisher has no time of its own. */
export const BID_PAY_MS = 60 * MINUTE_MS;

/** What a privacy signal that says no does where the publisher is not known. */
export const DEFAULT_PRIVACY: PrivacyPolicy = "strip";

export const ALL_HOURS = 0xff_ffff;

/** SHA-256 of a key, lower-case hex, and from when it is valid no more, Unix milliseconds; absent: it has no end. */
export type BookAccessKey = { h: string; u?: number };

/** Whether a brand is blocked in a country, for everyone or for this publisher. */
export function isBrandBlocked(brand: BookBrand, publisher: BookPublisher, country: string): boolean {
	const blockedFor = publisher.blockedBrands.get(brand.domain);
	if (blockedFor !== undefined && (blockedFor.length === 0 || blockedFor.includes(country))) return true;
	if (brand.blocks !== null && publisher.number !== null && brand.blocks.isBlocked(publisher.number, country)) return true;
	return brand.blockedCountries.includes(country);
}
