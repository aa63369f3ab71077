/**
 * The network file: one valibot schema a section. Each reads an entry of the file into what is stored, so that a row that
 * passes needs no second look.
 */
import * as v from "valibot";
import { canonicalAvailability } from "../../lib/availability.ts";
import {
	AMENDMENTS,
	BUDGET_BASES,
	CONVERSION_STATUSES,
	NEGATIVE_PAYOUTS,
	PRICING_MODELS,
	PRIVACY_POLICIES,
	PUBLISHER_IDENTITY,
	PUBLISHER_STATUSES,
	RESTRICTED_TRAFFIC,
	TRAFFIC_TYPES,
} from "../../lib/enums.ts";
import { parseDecimal, SHARE_SCALE } from "../../lib/money.ts";
import { RESPONSE_PROFILES } from "../../lib/openrtb-options.ts";
import { listOfAtMost, mapOf } from "../../lib/shapes.ts";
import { isTimeZone } from "../../lib/time.ts";
import {
	addressRange,
	amount,
	anyText,
	anyWebUrl,
	country,
	currency,
	day,
	domain,
	entryId,
	epc,
	flag,
	hours,
	iabCategory,
	id,
	key,
	keywordEpc,
	linkTemplate,
	listOf,
	maxPayout,
	NOT_AN_OBJECT,
	objectOf,
	orElse,
	orNull,
	text,
	webUrl,
} from "./file-values.ts";
import { campaignLearningSchema, platformLearningSchema, publisherLearningSchema } from "./learning-file.ts";
import { openRtbSchema } from "./openrtb-file.ts";
import { trafficSchema } from "./traffic-file.ts";

/** As many as an answer shows. */
const MAX_CATEGORIES = 20;
/** Longest time for which a click on a bid is paid, minutes. */
const MAX_BID_PAY_MINUTES = 7 * 24 * 60;

export const platformSchema = objectOf({
	id: entryId,
	/** The `pli` of click URLs. */
	platform_id: orNull(id),
	name: text,
	access_key: orNull(key),
	/** Of payouts that name none. */
	currency: orElse(currency, "USD"),
	/** The platform's own status words beside the usual ones. */
	status_map: orElse(mapOf(text, v.picklist(CONVERSION_STATUSES, "must be approved, pending or cancelled"), NOT_AN_OBJECT), {}),
	max_payout: orNull(maxPayout),
	match_by_publisher_click_id: orElse(flag, true),
	postback_secret: orNull(v.pipe(text, v.minLength(16, "must have at least 16 characters"))),
	source_ranges: orNull(v.pipe(v.array(addressRange, "must be a list"), v.minLength(1, "must name at least one range"))),
	negative_payout: orElse(v.picklist(NEGATIVE_PAYOUTS, "must be cancel or adjust"), "cancel"),
	postbacks_per_minute: orNull(v.pipe(id, v.minValue(1, "must be at least 1"))),
	epc_learning: orNull(platformLearningSchema),
});

export const publisherSchema = objectOf({
	id: entryId,
	name: text,
	/** `pubi` of the Serving Engine. */
	publisher_id: orNull(v.pipe(text, v.maxLength(64, "must have at most 64 characters"))),
	/** Path segment of the OpenRTB endpoint. */
	publisher_identity: orNull(v.pipe(text, v.regex(PUBLISHER_IDENTITY, "must have 1 to 64 letters, digits, underscores or hyphens"))),
	serving_engine_enabled: orElse(flag, false),
	openrtb_enabled: orElse(flag, false),
	seat: orNull(text),
	access_key: orNull(key),
	publisher_key: orNull(key),
	/** The publisher's part of what a click earns, 0 to 1. */
	revenue_share: v.pipe(
		v.union([v.number(), v.string()], "must be a share such as 0.8"),
		v.transform((value) => parseDecimal(String(value), 6) ?? Number.NaN),
		v.number("must be a decimal with at most six places"),
		v.minValue(0, "must not be negative"),
		v.maxValue(SHARE_SCALE, "must be at most 1"),
	),
	pricing_model: v.picklist(PRICING_MODELS, "must be CPA or CPC"),
	cashback_enabled: orElse(flag, false),
	sales_data_enabled: orElse(flag, false),
	campaign_id_enabled: orElse(flag, false),
	marketplace_tag: orNull(text),
	callback_url: orNull(webUrl),
	status: orElse(v.picklist(PUBLISHER_STATUSES, "must be active or suspended"), "active"),
	amendments: orElse(v.picklist(AMENDMENTS, "must be none or pair"), "none"),
	bid_pay_minutes: orNull(
		v.pipe(id, v.minValue(1, "must be at least 1"), v.maxValue(MAX_BID_PAY_MINUTES, `must be at most ${MAX_BID_PAY_MINUTES}`)),
	),
	privacy: orElse(v.picklist(PRIVACY_POLICIES, "must be as_sent, strip or no_bid"), "strip"),
	traffic: orNull(trafficSchema),
	openrtb: orNull(openRtbSchema),
	response_profile: orElse(v.picklist(RESPONSE_PROFILES, "must be contract or full"), "contract"),
	epc_learning: orNull(publisherLearningSchema),
	/** Without a country the brand is blocked everywhere. */
	blocked_brands: orElse(v.array(objectOf({ domain, country: orNull(country) }), "must be a list"), []),
});

export const campaignSchema = objectOf({
	campaign_id: id,
	merchant_id: id,
	/** Id of a platform. */
	platform: text,
	active: orElse(flag, true),
	country,
	homepage_url: orNull(linkTemplate),
	deeplink_url: orNull(linkTemplate),
	deeplink_verified: orElse(flag, false),
	/** Gross earnings per click. */
	epc: orNull(epc),
	default_keyword_epc: orNull(epc),
	keyword_epc: orElse(keywordEpc, {}),
	commission_rate: orNull(text),
	flat_fee: orNull(amount),
	rate_type: orNull(text),
	rate_basis: orNull(text),
	max_rate: orNull(text),
	daily_click_cap: orNull(id),
	daily_budget: orNull(amount),
	total_budget: orNull(amount),
	/** Absent: as `publisher`, with a warning where there is a budget. */
	budget_basis: orNull(v.picklist(BUDGET_BASES, `must be ${BUDGET_BASES.join(" or ")}`)),
	/** IANA name. */
	timezone: orElse(
		v.pipe(v.string("must be a time zone"), v.check(isTimeZone, "must be an IANA time zone such as America/New_York")),
		"UTC",
	),
	/** Hours of the day, 0 to 23, on the clocks of the time zone. */
	allowed_hours: orNull(hours),
	traffic: orNull(trafficSchema),
	max_payout: orNull(maxPayout),
	epc_learning: orNull(campaignLearningSchema),
});

export const brandSchema = objectOf({
	domain,
	name: text,
	aliases: orElse(v.array(domain, "must be a list"), []),
	category: orNull(text),
	active: orElse(flag, true),
	marketplace: orElse(flag, false),
	new_deal: orElse(flag, false),
	last_updated_date: orNull(day),
	restricted_traffic: orElse(listOf(RESTRICTED_TRAFFIC), []),
	traffic_types: orElse(listOf(TRAFFIC_TYPES), []),
	blocked_countries: orElse(v.array(country, "must be a list"), []),
	/** Of the IAB: `IAB22-1` of its Content Category Taxonomy 1.0, or the number of another taxonomy and an id in it, `7:473`. */
	iab_categories: orElse(listOfAtMost(iabCategory, MAX_CATEGORIES, `must have at most ${MAX_CATEGORIES} categories`), []),
	/** Matched by id: those of the brand that are not named stay. */
	campaigns: orElse(v.array(campaignSchema, "must be a list"), []),
	/** Whether the campaigns are all there are: others of the brand are removed. */
	campaigns_complete: orElse(flag, false),
});

export const exchangeRateSchema = objectOf({
	currency,
	date: day,
	usd: v.pipe(
		v.string('must be a decimal string such as "1.0800"'),
		v.transform((value) => parseDecimal(value, 9) ?? Number.NaN),
		v.number("must be a decimal with at most nine places"),
		v.minValue(1, "must be more than zero"),
	),
});

const availability = v.pipe(anyText, v.transform(canonicalAvailability));

export const productSchema = objectOf({
	id: anyText,
	domain,
	name: anyText,
	description: orNull(v.pipe(v.string("must be a text"), v.maxLength(20_000, "must have at most 20000 characters"))),
	brand: orNull(anyText),
	category: orNull(anyText),
	url: anyWebUrl,
	image_url: orNull(anyWebUrl),
	currency: orElse(currency, "USD"),
	regular_price: orNull(amount),
	final_price: amount,
	availability: orElse(availability, "InStock"),
});

export const sellerProductSchema = objectOf({
	asin: anyText,
	/** The marketplace's brand. */
	domain,
	seller_id: anyText,
	seller_name: orNull(anyText),
	name: orNull(anyText),
	description: orNull(v.pipe(v.string("must be a text"), v.maxLength(20_000, "must have at most 20000 characters"))),
	manufacturer: orNull(anyText),
	category: orNull(anyText),
	catalog_name: orNull(anyText),
	current_price: orNull(amount),
	image_url: orNull(anyWebUrl),
	stock_availability: orNull(availability),
	url: anyWebUrl,
});

export const SECTIONS = {
	platforms: platformSchema,
	publishers: publisherSchema,
	brands: brandSchema,
	exchange_rates: exchangeRateSchema,
	products: productSchema,
	seller_products: sellerProductSchema,
} as const;

export type SectionName = keyof typeof SECTIONS;
export type PlatformEntry = v.InferOutput<typeof platformSchema>;
export type PublisherEntry = v.InferOutput<typeof publisherSchema>;
export type BrandEntry = v.InferOutput<typeof brandSchema>;
export type CampaignEntry = v.InferOutput<typeof campaignSchema>;
export type ExchangeRateEntry = v.InferOutput<typeof exchangeRateSchema>;
export type ProductEntry = v.InferOutput<typeof productSchema>;
export type SellerProductEntry = v.InferOutput<typeof sellerProductSchema>;
export type Entries = {
	platforms: PlatformEntry;
	publishers: PublisherEntry;
	brands: BrandEntry;
	exchange_rates: ExchangeRateEntry;
	products: ProductEntry;
	seller_products: SellerProductEntry;
};
