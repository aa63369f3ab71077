/**
 * How a chunk of facts is laid out, which are what the auction asks of campaigns: a keyed chunk, whose keys are those of the book and
 * whose tail is {@link FactsTables}, which records name by place.
 *
 * `n` is a number, `t` a text and `s` a section of `ByteWriter`. Behind a host stands its brand; behind a keyword the number of its
 * candidates (n), and each as a brand with one campaign.
 *
 * - brand: id n, flags; where flagged: domain t, aliases (count n, each t), blocked countries (count n, each n), publishers' blocks s;
 *   campaigns: count n, each below
 * - campaign: id n, less that of the one before; flags; more flags; country n; where flagged: platform n, EPC n, default keyword EPC n,
 *   time zone n, mask of hours in three bytes, rules n, keywords s (each t and its EPC n; ascending). Of a candidate, the keyword's EPC n.
 */

import type { ReleaseWire } from "../../lib/release.ts";
import type { TrafficSettings } from "../../lib/traffic-rules.ts";
import type { CampaignWire } from "../wire.ts";

/** "CBF2" */
export const FACTS_MAGIC = 0x3246_4243;

export type FactsTables = {
	countries: string[];
	zones: string[];
	/** Campaigns' own rules on which clicks are paid. */
	traffic: TrafficSettings[];
	/** Brand id → IAB categories. Here, since earlier versions of the code read the records; absent where no brand has any. */
	categories?: Record<string, string[]>;
	/** Campaigns that bid what was learned: id, and both parts of HeldBack, one after another in the order of ids. Here for the same. */
	heldBack?: number[];
	/** Campaign id → the operator's numbers, as CampaignWire has them; of a chunk's keywords those that stand in it. Here for the same. */
	operatorPrices?: Record<string, NonNullable<CampaignWire["n"]>>;
	/** Campaign id → `CampaignWire.q`. Here for the same. */
	released?: Record<string, ReleaseWire>;
};

export const BRAND_INACTIVE = 1;
/** The domain stands in the record: the key is an alias, or a keyword. */
export const BRAND_DOMAIN = 2;
export const BRAND_ALIASES = 4;
export const BRAND_COUNTRIES = 8;
export const BRAND_BLOCKS = 16;

export const CAMPAIGN_INACTIVE = 1;
export const CAMPAIGN_HOMEPAGE = 2;
export const CAMPAIGN_DEEPLINK = 4;
export const CAMPAIGN_VERIFIED = 8;
export const CAMPAIGN_CAPPED = 16;
export const CAMPAIGN_PLATFORM = 32;
export const CAMPAIGN_EPC = 64;
export const CAMPAIGN_DEFAULT_EPC = 128;

/** Of the second byte of flags. */
export const CAMPAIGN_ZONE = 1;
export const CAMPAIGN_HOURS = 2;
export const CAMPAIGN_TRAFFIC = 4;
export const CAMPAIGN_KEYWORDS = 8;
