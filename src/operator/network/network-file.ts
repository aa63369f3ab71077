/**
 * The network file: one valibot schema a section. Each reads an entry of the file into what is stored, so that a row that
 * passes needs no second look.
 */
import ipaddr from "ipaddr.js";
import * as v from "valibot";
import { canonicalAvailability } from "../../lib/availability.ts";
import { canonicalCountry } from "../../lib/country.ts";
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
import { canonicalHost } from "../../lib/host.ts";
import { isObject } from "../../lib/json.ts";
import { hasWrongChecksum } from "../../lib/key-format.ts";
import { canonicalKeyword } from "../../lib/keyword.ts";
import { ABSOLUTE_MAX_PAYOUT_MICROS, MAX_EPC_MICROS, parseDecimal, parseMicros, SHARE_SCALE } from "../../lib/money.ts";
import { RESPONSE_PROFILES } from "../../lib/openrtb-options.ts";
import { listOfAtMost, mapOf, notAList } from "../../lib/shapes.ts";
import { isTimeZone, isUtcDay } from "../../lib/time.ts";
import { hasAtMostBytes } from "../../lib/utf8.ts";
import { campaignLearningSchema, platformLearningSchema, publisherLearningSchema } from "./learning-file.ts";
import { openRtbSchema } from "./openrtb-file.ts";
import { trafficSchema } from "./traffic-file.ts";

const MAX_TEXT = 2_000;
const MAX_KEYWORDS = 2_000;
const MAX_KEYWORD_LENGTH = 255;

/** Of products: feeds cut texts anywhere, also in the middle of a character. */
const anyText = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.nonEmpty("must not be blank"),
	v.maxLength(MAX_TEXT, `must have at most ${MAX_TEXT} characters`),
);
/** Of the network: what a database holds otherwise than it came could be another entry's name there. */
const text = v.pipe(
	anyText,
	v.check((value) => value.isWellFormed() && !value.includes("\0"), "must be Unicode text without NUL"),
);
/** Longest id that rows are found by, with others in one index: one of PostgreSQL takes no more than 2,704 bytes. */
const MAX_ID_BYTES = 255;
const TOO_LONG_ID = `must have at most ${MAX_ID_BYTES} bytes as UTF-8`;
const entryId = v.pipe(
	text,
	v.maxLength(MAX_ID_BYTES, TOO_LONG_ID),
	v.check((value) => value.length > MAX_ID_BYTES || hasAtMostBytes(value, MAX_ID_BYTES), TOO_LONG_ID),
);
/** As many as an answer shows. */
const MAX_CATEGORIES = 20;
const iabCategory = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.toUpperCase(),
	v.regex(
		/^(?:IAB[1-9]\d?(?:-[1-9]\d?)?|[1-9]\d{0,4}:[\x21-\x39\x3b-\x7e]{1,64})$/,
		"must be a category such as IAB22-1, or 7:473 of another taxonomy",
	),
);
/** Longest time for which a click on a bid is paid, minutes. */
const MAX_BID_PAY_MINUTES = 7 * 24 * 60;
const flag = v.boolean("must be true or false");
const id = v.pipe(v.number("must be a whole number"), v.safeInteger("must be a whole number"), v.minValue(0, "must not be negative"));

const NOT_AN_OBJECT = "must be an object";

function objectOf<const Entries extends v.ObjectEntries>(entries: Entries) {
	return notAList(v.object(entries, NOT_AN_OBJECT));
}

function orNull<const Schema extends v.GenericSchema>(schema: Schema) {
	return v.nullish(schema, null);
}

/** Null stands for `fallback`, which is read as if it stood in the file; so does an absent field of a new entry. */
function orElse<const Schema extends v.GenericSchema, const Fallback extends NonNullable<v.InferInput<Schema>>>(
	schema: Schema,
	fallback: Fallback,
) {
	return v.nullish(schema, fallback as v.InferInput<Schema>);
}

/** A decimal string of USD, as micro-dollars. */
const amount = v.pipe(
	v.string('must be a decimal string such as "0.4200"'),
	v.transform((value) => parseMicros(value) ?? Number.NaN),
	v.number("must be a decimal with at most six places"),
	v.minValue(0, "must not be negative"),
);
const epc = v.pipe(amount, v.maxValue(MAX_EPC_MICROS, "must be at most 1000.00 a click"));

const domain = v.pipe(
	text,
	v.transform((value) => canonicalHost(value) ?? ""),
	v.nonEmpty("must be a domain such as shoes.example"),
);
const country = v.pipe(
	v.string("must be a country code"),
	v.trim(),
	v.toUpperCase(),
	v.regex(/^[A-Z]{2}$/, "must be a two-letter country code such as US"),
	v.transform(canonicalCountry),
);
const currency = v.pipe(
	v.string("must be a currency code"),
	v.trim(),
	v.toUpperCase(),
	v.regex(/^[A-Z]{3}$/, "must be a three-letter currency code such as USD"),
);
const day = v.pipe(
	v.string("must be a date"),
	v.isoDate("must be a date such as 2026-10-01"),
	v.check(isUtcDay, "must be a day of the calendar"),
);
const WEB_URL = "must be an http(s) address";
const webUrl = v.pipe(text, v.check(isWebUrl, WEB_URL));
const anyWebUrl = v.pipe(anyText, v.check(isWebUrl, WEB_URL));
const linkTemplate = v.pipe(
	text,
	v.check((value) => isWebUrl(value.replaceAll(/\{[a-z0-9_]+\}/g, "x")), "must be an http(s) address; placeholders stand in {braces}"),
);
const key = v.pipe(
	text,
	v.minLength(8, "must have at least 8 characters"),
	v.maxLength(256, "must have at most 256 characters"),
	v.regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces"),
	v.check((value) => !hasWrongChecksum(value), "looks like a key that was issued here, but is mistyped"),
);

function isWebUrl(value: string): boolean {
	const url = URL.parse(value);
	return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "";
}

function listOf<const Names extends readonly string[]>(names: Names) {
	const known = new Map(names.map((name) => [name.toLowerCase(), name as Names[number]]));
	return v.array(
		v.pipe(
			v.string("must be a text"),
			v.transform((value) => known.get(value.trim().toLowerCase()) ?? ""),
			v.picklist(names, `must be one of ${names.join(", ")}`),
		),
		"must be a list",
	);
}

const addressRange = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.check((value) => ipaddr.isValidCIDR(value) || ipaddr.isValid(value), "must be an address or a range such as 203.0.113.0/24"),
);
const maxPayout = v.pipe(amount, v.maxValue(ABSOLUTE_MAX_PAYOUT_MICROS, "must be at most 1000000.00"));

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

/** A JSON object with any keys. valibot's own records leave out keys such as `prototype`, which is a keyword like any other. */
const anyObject = v.custom<Record<string, unknown>>(isObject, "must be an object of keyword and amount");

const keywordEpc = v.pipe(
	anyObject,
	v.maxEntries(MAX_KEYWORDS, `must have at most ${MAX_KEYWORDS} keywords`),
	v.rawTransform(({ dataset, addIssue, NEVER }) => {
		const canonical = new Map<string, number>();
		for (const [keyword, value] of Object.entries(dataset.value)) {
			const message = takeKeyword(canonical, keyword, value);
			if (message === null) continue;
			addIssue({ message: `${JSON.stringify(keyword)} ${message}` });
			return NEVER;
		}
		return Object.fromEntries(canonical);
	}),
);

/** Takes one keyword's amount; what is wrong with it, or null. */
function takeKeyword(canonical: Map<string, number>, keyword: string, value: unknown): string | null {
	const name = canonicalKeyword(keyword);
	if (name === null) return "is blank";
	if (name.length > MAX_KEYWORD_LENGTH) return `has more than ${MAX_KEYWORD_LENGTH} characters`;
	if (canonical.has(name)) return "stands twice";
	const micros = v.safeParse(epc, value);
	if (!micros.success) return micros.issues[0].message;
	canonical.set(name, micros.output);
	return null;
}

const hours = v.pipe(
	v.array(
		v.pipe(
			v.number("must be an hour"),
			v.integer("must be a whole hour"),
			v.minValue(0, "must be 0 to 23"),
			v.maxValue(23, "must be 0 to 23"),
		),
		"must be a list of hours",
	),
	v.transform((list) => list.reduce((mask, hour) => mask | (1 << hour), 0)),
);

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
