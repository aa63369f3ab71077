/** A catalogue of any size: brand number n is always the same one, whatever the size. */
import type { Brand, Campaign, NetworkFile } from "../../demo/network-file.ts";
import { Random } from "../../demo/random.ts";
import { PLATFORMS, PUBLISHERS } from "../../demo/well-known.ts";

const SEED = 20_261_102;
/** Campaigns of brands in turn: four on average. */
const CAMPAIGNS_IN_TURN = [2, 4, 6, 3, 5] as const;
const CAMPAIGNS_PER_BRAND = 4;
const FIRST_CAMPAIGN_ID = 10_000;
/** Room for the campaigns of one brand, so that a brand's ids follow from its number. */
const IDS_PER_BRAND = 10;

const FIRST_WORDS = [
	"amber",
	"birch",
	"cedar",
	"delta",
	"ember",
	"fjord",
	"grove",
	"harbor",
	"indigo",
	"juniper",
	"kestrel",
	"linden",
	"maple",
	"north",
	"orchard",
] as const;
const SECOND_WORDS = [
	"boots",
	"books",
	"cycles",
	"decor",
	"foods",
	"garden",
	"home",
	"jewels",
	"kitchen",
	"lighting",
	"optics",
	"outdoor",
	"pets",
	"sports",
	"travel",
] as const;
const CATEGORIES = ["Footwear", "Books", "Cycling", "Home", "Food", "Garden", "Jewellery", "Kitchen", "Pets", "Sports", "Travel"] as const;
const KEYWORDS = [
	"running shoes",
	"garden chairs",
	"reading lamp",
	"road bike",
	"coffee beans",
	"trail boots",
	"dog bed",
	"silver ring",
	"city break",
	"desk lamp",
] as const;
const COUNTRIES = ["US", "CA", "GB", "AU", "DE", "FR"] as const;
const EVERY_HOUR = Array.from({ length: 24 }, (_, hour) => hour);
const DAYTIME = EVERY_HOUR.slice(7, 22);

export function brandsFor(campaigns: number): number {
	return campaigns / CAMPAIGNS_PER_BRAND;
}

export function domainOf(brand: number): string {
	const first = FIRST_WORDS[brand % FIRST_WORDS.length];
	const second = SECOND_WORDS[Math.floor(brand / FIRST_WORDS.length) % SECOND_WORDS.length];
	return `${first}${second}-${brand.toString(36)}.example`;
}

/** Publishers and platforms that the brands need. */
export function generateOwners(): NetworkFile {
	return { platforms: [...PLATFORMS], publishers: [...PUBLISHERS] };
}

export function generateBrands(from: number, count: number): Brand[] {
	return Array.from({ length: count }, (_, at) => generateBrand(from + at));
}

/** A brand whose first campaign bids in the US at any hour. */
export function generateBrand(number: number): Brand {
	const random = new Random(SEED + number);
	const domain = domainOf(number);
	const count = CAMPAIGNS_IN_TURN[number % CAMPAIGNS_IN_TURN.length] ?? CAMPAIGNS_PER_BRAND;
	return {
		domain,
		name: `Brand ${number.toString(36)}`,
		aliases: random.chance(0.1) ? [domain.replace(".example", "-outlet.example")] : [],
		category: random.pick(CATEGORIES),
		active: true,
		marketplace: false,
		new_deal: random.chance(0.1),
		last_updated_date: "2026-10-01",
		restricted_traffic: random.chance(0.3) ? ["Coupons", "Paid Search"] : [],
		traffic_types: ["All"],
		blocked_countries: random.chance(0.03) ? ["DE"] : [],
		campaigns: Array.from({ length: count }, (_, at) => generateCampaign(random, number, at)),
	};
}

function generateCampaign(random: Random, brand: number, at: number): Campaign {
	const id = FIRST_CAMPAIGN_ID + brand * IDS_PER_BRAND + at;
	const platform = random.pick(PLATFORMS).id;
	const link = `https://track.${platform}.example/c?m=${brand}&o=${id}&sub={click_id}`;
	const epc = random.integer(500, 9_000);
	const deeplinks = random.chance(0.8);
	return {
		campaign_id: id,
		merchant_id: brand,
		platform,
		active: at === 0 || random.chance(0.95),
		country: at === 0 ? "US" : random.pick(COUNTRIES),
		homepage_url: link,
		deeplink_url: deeplinks ? `${link}&url={deeplink}` : null,
		deeplink_verified: deeplinks && random.chance(0.85),
		epc: decimal(epc),
		default_keyword_epc: random.chance(0.2) ? decimal(epc * 0.8) : null,
		keyword_epc: random.chance(0.05) ? { [`${random.pick(KEYWORDS)} ${random.integer(1, 5_000)}`]: decimal(epc * 1.3) } : {},
		commission_rate: "5% CPS",
		flat_fee: null,
		rate_type: "CPA",
		rate_basis: "percentage",
		max_rate: "5",
		daily_click_cap: random.integer(1, 100) * 1_000,
		daily_budget: random.chance(0.3) ? "250.00" : null,
		total_budget: null,
		budget_basis: "publisher",
		timezone: "America/New_York",
		allowed_hours: at === 0 || random.chance(0.8) ? EVERY_HOUR : DAYTIME,
	};
}

/** Ten-thousandths of a USD as a decimal. */
function decimal(amount: number): string {
	return (Math.round(amount) / 10_000).toFixed(4);
}
