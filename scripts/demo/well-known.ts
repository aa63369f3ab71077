/**
 * The part of the demo that is written by hand and stays as it is: publishers with their credentials, platforms, and a few brands
 * that the documentation and the tests quote. The credentials are public; never import the demo into a network that earns money.
 */
import type { Brand, Campaign, Platform, Publisher } from "./network-file.ts";

export const ALL_HOURS: readonly number[] = Array.from({ length: 24 }, (_, hour) => hour);

export const PLATFORMS: readonly Platform[] = [
	{
		id: "northwind",
		platform_id: 7,
		name: "Northwind Affiliates",
		access_key: "demo-platform-key-northwind",
		currency: "USD",
		status_map: { invoiced: "approved", disputed: "cancelled" },
	},
	{
		id: "bluefjord",
		platform_id: 12,
		name: "Bluefjord Performance",
		access_key: "demo-platform-key-bluefjord",
		currency: "EUR",
		status_map: { bestaetigt: "approved", offen: "pending", storniert: "cancelled" },
	},
	{
		id: "thamesgate",
		platform_id: null,
		name: "Thamesgate Partners",
		access_key: "demo-platform-key-thamesgate",
		currency: "GBP",
		status_map: { validated: "approved", "under review": "pending", "not payable": "cancelled" },
	},
];

type KeyedPublisher = Publisher & Record<"publisher_id" | "publisher_identity" | "access_key" | "publisher_key", string>;

function publisher(id: string, facts: Omit<KeyedPublisher, "id" | "access_key" | "publisher_key">): KeyedPublisher {
	return { id, ...facts, access_key: `demo-access-key-${id}`, publisher_key: `demo-publisher-key-${id}` };
}

/** The publisher whose identity and id the documentation quotes. */
export const ACME = publisher("acme-media", {
	name: "Acme Media",
	publisher_id: "1001",
	publisher_identity: "acme_rtb",
	serving_engine_enabled: true,
	openrtb_enabled: true,
	seat: "acme-seat",
	revenue_share: 0.8,
	pricing_model: "CPA",
	cashback_enabled: false,
	sales_data_enabled: true,
	campaign_id_enabled: false,
	marketplace_tag: "acme-20",
	callback_url: "https://callbacks.acme-media.example/s2s?source=network",
	blocked_brands: [{ domain: "gadgets.example", country: "CA" }],
});

export const PUBLISHERS: readonly KeyedPublisher[] = [
	ACME,
	publisher("bonus-club", {
		name: "Bonus Club",
		publisher_id: "1002",
		publisher_identity: "bonus_club",
		serving_engine_enabled: true,
		openrtb_enabled: false,
		seat: null,
		revenue_share: 0.7,
		pricing_model: "CPA",
		cashback_enabled: true,
		sales_data_enabled: false,
		campaign_id_enabled: true,
		marketplace_tag: "bonusclub-21",
		callback_url: "https://tracking.bonus-club.example/conversions",
		blocked_brands: [],
	}),
	publisher("clearwater-search", {
		name: "Clearwater Search",
		publisher_id: "1003",
		publisher_identity: "clearwater-rtb",
		serving_engine_enabled: false,
		openrtb_enabled: true,
		seat: null,
		revenue_share: 0.65,
		pricing_model: "CPC",
		cashback_enabled: false,
		sales_data_enabled: false,
		campaign_id_enabled: true,
		marketplace_tag: null,
		callback_url: null,
		blocked_brands: [{ domain: "shoes.example" }],
	}),
	publisher("dealfinch", {
		name: "Dealfinch",
		publisher_id: "1004",
		publisher_identity: "dealfinch",
		serving_engine_enabled: true,
		openrtb_enabled: true,
		seat: "finch-7",
		revenue_share: 0.9,
		pricing_model: "CPC",
		cashback_enabled: true,
		sales_data_enabled: true,
		campaign_id_enabled: true,
		marketplace_tag: "dealfinch-20",
		callback_url: null,
		blocked_brands: [{ domain: "gadgets.example" }, { domain: "nightcap.example", country: "US" }],
	}),
	publisher("evening-review", {
		name: "The Evening Review",
		publisher_id: "1005",
		publisher_identity: "evening_review",
		serving_engine_enabled: false,
		openrtb_enabled: false,
		seat: null,
		revenue_share: 0.75,
		pricing_model: "CPA",
		cashback_enabled: false,
		sales_data_enabled: true,
		campaign_id_enabled: false,
		marketplace_tag: null,
		callback_url: "https://review.example/hooks/affiliate",
		blocked_brands: [],
	}),
];

/** A campaign that bids in the US round the clock on homepages and deeplinks, except where `facts` say otherwise. */
function campaign(id: number, facts: Partial<Campaign>): Campaign {
	const link = `https://track.northwind.example/c?m=${id - 4700}&sub={click_id}`;
	return {
		campaign_id: id,
		merchant_id: id - 4700,
		platform: "northwind",
		active: true,
		country: "US",
		homepage_url: link,
		deeplink_url: `${link}&url={deeplink}`,
		deeplink_verified: true,
		epc: "0.4200",
		default_keyword_epc: null,
		keyword_epc: {},
		commission_rate: "5% CPS",
		flat_fee: null,
		rate_type: "CPA",
		rate_basis: "percentage",
		max_rate: "5",
		daily_click_cap: 100_000,
		daily_budget: "20000.00",
		total_budget: null,
		timezone: "America/New_York",
		allowed_hours: [...ALL_HOURS],
		...facts,
	};
}

function brand(domain: string, name: string, category: string, campaigns: Campaign[], facts: Partial<Brand> = {}): Brand {
	return {
		domain,
		name,
		aliases: [],
		category,
		active: true,
		marketplace: false,
		new_deal: false,
		last_updated_date: "2026-10-01",
		restricted_traffic: [],
		traffic_types: ["All"],
		blocked_countries: [],
		campaigns,
		...facts,
	};
}

const NO_DEEPLINK = { deeplink_url: null, deeplink_verified: false } as const;

export const WELL_KNOWN_BRANDS: readonly Brand[] = [
	brand(
		"shoes.example",
		"Shoes Example",
		"Footwear",
		[
			campaign(5001, { default_keyword_epc: "0.3000", keyword_epc: { "running shoes": "0.5500", "trail shoes": "0.4800" } }),
			campaign(5002, { country: "CA", epc: "0.3100", timezone: "America/Toronto" }),
		],
		{
			aliases: ["shoes-outlet.example"],
			new_deal: true,
			restricted_traffic: ["Coupons", "Paid Search"],
			traffic_types: ["Content", "Shopping"],
		},
	),
	// Homepage only: a deeplink gets no OpenRTB bid.
	brand("gadgets.example", "Gadgets Example", "Electronics", [campaign(5003, { ...NO_DEEPLINK, epc: "0.1900" })]),
	// Bids from 18:00 to midnight in New York.
	brand("nightcap.example", "Nightcap Teas", "Kitchen", [campaign(5004, { epc: "0.2600", allowed_hours: [18, 19, 20, 21, 22, 23] })]),
	// A cap of 0: never bids.
	brand("soldout.example", "Soldout Tickets", "Travel", [campaign(5005, { epc: "0.9000", daily_click_cap: 0 })]),
	// A fixed amount per order, cashback welcome.
	brand(
		"mattress.example",
		"Mattress Example",
		"Home",
		[campaign(5006, { epc: "1.2500", commission_rate: null, flat_fee: "45.00", rate_basis: "flat", max_rate: "45.00" })],
		{ traffic_types: ["Cashback", "Content", "Shopping"] },
	),
	brand(
		"marketplace.example",
		"Marketplace Example",
		"Marketplace",
		[campaign(5007, { epc: "0.1100", commission_rate: "3% CPS", max_rate: "3" })],
		{
			marketplace: true,
		},
	),
	brand("closed.example", "Closed Example", "Fashion", [campaign(5008, { epc: "0.3300" })], { active: false }),
	// Has a link template for deeplinks that nobody has verified yet.
	brand("unchecked.example", "Unchecked Example", "Garden", [campaign(5009, { epc: "0.2400", deeplink_verified: false })]),
	brand("abroad.example", "Abroad Example", "Travel", [campaign(5010, { epc: "0.7000" })], { blocked_countries: ["US"] }),
];
