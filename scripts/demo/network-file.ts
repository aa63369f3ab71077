import type { ConversionStatus, PricingModel, RestrictedTraffic, TrafficType } from "../../src/lib/enums.ts";

/** The network file: what `POST /operator/network` takes. A section left out leaves what is stored untouched. */
export type NetworkFile = {
	platforms?: Platform[];
	publishers?: Publisher[];
	brands?: Brand[];
	exchange_rates?: ExchangeRate[];
	products?: Product[];
	seller_products?: SellerProduct[];
};

/** An amount of USD (or of the currency named beside it) as a decimal string. */
type Amount = string;
/** YYYY-MM-DD. */
type Day = string;

export type Platform = {
	id: string;
	/** The `pli` of click URLs. */
	platform_id: number | null;
	name: string;
	access_key?: string;
	/** Currency of payouts that name none. */
	currency: string;
	/** The platform's own status words beside the usual ones. */
	status_map: Record<string, ConversionStatus>;
};

export type Publisher = {
	id: string;
	name: string;
	/** `pubi` of the Serving Engine. */
	publisher_id: string;
	/** Path segment of the OpenRTB endpoint. */
	publisher_identity: string;
	serving_engine_enabled: boolean;
	openrtb_enabled: boolean;
	seat: string | null;
	access_key?: string;
	publisher_key?: string;
	/** The publisher's part of what a click earns, 0 to 1. */
	revenue_share: number;
	pricing_model: PricingModel;
	cashback_enabled: boolean;
	sales_data_enabled: boolean;
	campaign_id_enabled: boolean;
	marketplace_tag: string | null;
	callback_url: string | null;
	/** Without a country the brand is blocked everywhere. */
	blocked_brands: { domain: string; country?: string }[];
};

export type Brand = {
	domain: string;
	name: string;
	aliases: string[];
	category: string | null;
	active: boolean;
	marketplace: boolean;
	new_deal: boolean;
	last_updated_date: Day | null;
	restricted_traffic: RestrictedTraffic[];
	traffic_types: TrafficType[];
	blocked_countries: string[];
	campaigns: Campaign[];
};

export type Campaign = {
	campaign_id: number;
	merchant_id: number;
	/** Id of a platform. */
	platform: string;
	active: boolean;
	country: string;
	homepage_url: string | null;
	deeplink_url: string | null;
	deeplink_verified: boolean;
	/** Gross earnings per click. */
	epc: Amount | null;
	default_keyword_epc: Amount | null;
	keyword_epc: Record<string, Amount>;
	commission_rate: string | null;
	flat_fee: Amount | null;
	rate_type: string | null;
	rate_basis: string | null;
	max_rate: string | null;
	daily_click_cap: number | null;
	daily_budget: Amount | null;
	total_budget: Amount | null;
	budget_basis: "publisher" | "gross" | null;
	/** IANA name. */
	timezone: string;
	/** Hours of the day, 0 to 23, on the clocks of the time zone. */
	allowed_hours: number[];
};

export type ExchangeRate = { currency: string; date: Day; usd: Amount };

export type Product = {
	id: string;
	domain: string;
	name: string;
	description: string | null;
	brand: string | null;
	category: string | null;
	url: string;
	image_url: string | null;
	currency: string;
	regular_price: Amount | null;
	final_price: Amount;
	availability: string;
};

export type SellerProduct = {
	asin: string;
	/** The marketplace's brand. */
	domain: string;
	seller_id: string;
	seller_name: string | null;
	name: string | null;
	description: string | null;
	manufacturer: string | null;
	category: string | null;
	catalog_name: string | null;
	current_price: Amount | null;
	image_url: string | null;
	stock_availability: string | null;
	url: string;
};
