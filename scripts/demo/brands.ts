import { RESTRICTED_TRAFFIC, TRAFFIC_TYPES } from "../../src/lib/enums.ts";
import type { Brand, Campaign } from "./network-file.ts";
import type { Random } from "./random.ts";
import { CATEGORIES, type Category, type Country, MARKETS, type Market, NAMES } from "./vocabulary.ts";
import { ALL_HOURS, WELL_KNOWN_BRANDS } from "./well-known.ts";

/** A brand with what its products need to know. */
export type GeneratedBrand = { brand: Brand; category: Category; market: Market };

const FIRST_CAMPAIGN_ID = 6001;
const FIRST_MERCHANT_ID = 1001;

/** Where brands are at home, and how often. */
const HOMES = { US: 62, CA: 6, GB: 10, AU: 5, DE: 8, FR: 6, NL: 2, IN: 1 } as const;
const LINKS = { verified: 62, unverified: 14, homepage: 20, deeplink: 4 } as const;
const CAPS = { clicks: 40, budget: 30, total: 8, none: 18, zero: 4 } as const;
const HOURS = { all: 82, office: 8, evening: 6, night: 4 } as const;

const ALLOWED_HOURS: Record<keyof typeof HOURS, readonly number[]> = {
	all: ALL_HOURS,
	office: [8, 9, 10, 11, 12, 13, 14, 15, 16, 17],
	evening: [17, 18, 19, 20, 21, 22, 23],
	night: [0, 1, 2, 3, 4, 5, 22, 23],
};

/** Brands with campaigns of every kind, each domain once. */
export function generateBrands(random: Random, count: number): GeneratedBrand[] {
	const taken = new Set(WELL_KNOWN_BRANDS.map((brand) => brand.domain));
	const ids = { campaign: FIRST_CAMPAIGN_ID, merchant: FIRST_MERCHANT_ID };
	return Array.from({ length: count }, () => generateBrand(random, taken, ids));
}

function generateBrand(random: Random, taken: Set<string>, ids: { campaign: number; merchant: number }): GeneratedBrand {
	const home: Country = random.weighted(HOMES);
	const market = MARKETS[home];
	const category = random.pick(CATEGORIES);
	const { name, domain } = nameBrand(random, market, category, taken);
	const countries = [home, ...random.sample(abroad(home), 0, random.chance(0.25) ? 3 : 0)];
	const merchantId = ids.merchant++;
	const campaigns = countries.flatMap((country) => {
		const several = random.chance(0.12) ? 2 : 1;
		return Array.from({ length: several }, () => generateCampaign(random, category, MARKETS[country], ids.campaign++, merchantId));
	});
	const restricted = random.sample(RESTRICTED_TRAFFIC, 0, 3);
	return {
		category,
		market,
		brand: {
			domain,
			name,
			aliases: random.chance(0.15) ? [domain.replace(".example", random.pick(["-outlet.example", "-shop.example"]))] : [],
			category: random.chance(0.95) ? category.name : null,
			active: random.chance(0.95),
			marketplace: false,
			new_deal: random.chance(0.1),
			last_updated_date: random.chance(0.85) ? day(random, 2026) : null,
			restricted_traffic: restricted,
			traffic_types: trafficTypes(random, restricted.includes("Incentivized Traffic")),
			blocked_countries: random.chance(0.04) ? [random.pick(countries)] : [],
			campaigns,
		},
	};
}

function abroad(home: Country): Country[] {
	return (Object.keys(MARKETS) as Country[]).filter((country) => country !== home);
}

function nameBrand(random: Random, market: Market, category: Category, taken: Set<string>): { name: string; domain: string } {
	for (;;) {
		const name = `${random.pick(NAMES[market.language])} ${random.pick(category.shop[market.language])}`;
		const domain = `${slug(name).replaceAll("-", "")}.example`;
		if (taken.has(domain)) {
			// A second shop of that name goes by its country.
			const local = `${slug(name)}-${market.country.toLowerCase()}.example`;
			if (taken.has(local)) continue;
			taken.add(local);
			return { name: `${name} ${market.country}`, domain: local };
		}
		taken.add(domain);
		return { name, domain };
	}
}

/** @example slug("Ahorn Möbel") // "ahorn-moebel" */
export function slug(text: string): string {
	return text
		.toLowerCase()
		.replace(/[äöüß]/g, (letter) => ({ ä: "ae", ö: "oe", ü: "ue", ß: "ss" })[letter] ?? letter)
		.normalize("NFD")
		.replace(/\p{M}/gu, "")
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-|-$/g, "");
}

function trafficTypes(random: Random, noIncentives: boolean): Brand["traffic_types"] {
	if (random.chance(0.3)) return ["All"];
	if (random.chance(0.05)) return [];
	const allowed = TRAFFIC_TYPES.filter((type) => type !== "All" && !(noIncentives && (type === "Cashback" || type === "Incentive")));
	return random.sample(allowed, 1, 5);
}

function day(random: Random, year: number): string {
	return `${year}-${pad(random.integer(1, 10))}-${pad(random.integer(1, 28))}`;
}

function pad(number: number): string {
	return String(number).padStart(2, "0");
}

function generateCampaign(random: Random, category: Category, market: Market, id: number, merchantId: number): Campaign {
	const platform =
		market.currency === "EUR"
			? "bluefjord"
			: market.currency === "GBP"
				? "thamesgate"
				: random.pick(["northwind", "northwind", "bluefjord"]);
	const epc = Math.round((random.integer(...category.epc) * market.level) / 100);
	return {
		campaign_id: id,
		merchant_id: merchantId,
		platform,
		active: random.chance(0.94),
		country: market.country,
		...links(random, platform, merchantId),
		...prices(random, category, epc),
		...commission(random, category),
		...caps(random, epc),
		timezone: random.pick(market.zones),
		allowed_hours: [...ALLOWED_HOURS[random.weighted(HOURS)]],
	};
}

function links(
	random: Random,
	platform: string,
	merchantId: number,
): Pick<Campaign, "homepage_url" | "deeplink_url" | "deeplink_verified"> {
	const kind = random.weighted(LINKS);
	const base = `https://track.${platform}.example/c?m=${merchantId}&sub={click_id}`;
	return {
		homepage_url: kind === "deeplink" ? null : base,
		deeplink_url: kind === "homepage" ? null : `${base}&url={deeplink}`,
		deeplink_verified: kind === "verified" || kind === "deeplink",
	};
}

function prices(random: Random, category: Category, epc: number): Pick<Campaign, "epc" | "default_keyword_epc" | "keyword_epc"> {
	const keywords = random.chance(0.35) ? random.sample(category.keywords, 1, 4) : [];
	return {
		epc: tenThousandths(epc),
		default_keyword_epc: random.chance(0.25) ? tenThousandths(Math.round(epc * 0.8)) : null,
		keyword_epc: Object.fromEntries(
			keywords.map((keyword) => [keyword, tenThousandths(Math.round((epc * random.integer(105, 190)) / 100))]),
		),
	};
}

function commission(
	random: Random,
	category: Category,
): Pick<Campaign, "commission_rate" | "flat_fee" | "rate_type" | "rate_basis" | "max_rate"> {
	if (random.chance(0.12)) {
		const fee = `${random.integer(3, 60)}.${random.pick(["00", "50"])}`;
		return { commission_rate: null, flat_fee: fee, rate_type: random.pick(["CPA", "CPL"]), rate_basis: "flat", max_rate: fee };
	}
	if (random.chance(0.08)) return { commission_rate: null, flat_fee: null, rate_type: null, rate_basis: null, max_rate: null };
	const percent = String(random.integer(...category.commission));
	return {
		commission_rate: `${percent}% CPS`,
		flat_fee: null,
		rate_type: random.chance(0.1) ? "CPC" : "CPA",
		rate_basis: "percentage",
		max_rate: percent,
	};
}

function caps(random: Random, epc: number): Pick<Campaign, "daily_click_cap" | "daily_budget" | "total_budget" | "budget_basis"> {
	const none = { daily_click_cap: null, daily_budget: null, total_budget: null, budget_basis: "publisher" as const };
	const clicks = random.integer(5, 200) * 100;
	const budget = `${Math.ceil((clicks * epc) / 10_000)}.00`;
	switch (random.weighted(CAPS)) {
		case "clicks":
			return { ...none, daily_click_cap: clicks };
		case "budget":
			return { ...none, daily_click_cap: random.chance(0.5) ? clicks * 2 : null, daily_budget: budget };
		case "total":
			return { ...none, total_budget: `${random.integer(5, 90)}000.00` };
		case "zero":
			return random.chance(0.5) ? { ...none, daily_click_cap: 0 } : { ...none, daily_budget: "0.00" };
		case "none":
			return none;
	}
}

/** An amount of ten-thousandths as a decimal with four places. */
function tenThousandths(amount: number): string {
	return (amount / 10_000).toFixed(4);
}
