import { type GeneratedBrand, slug } from "./brands.ts";
import type { ExchangeRate, Product, SellerProduct } from "./network-file.ts";
import type { Random } from "./random.ts";
import { CATEGORIES, type Category, COLOURS, FOOTWEAR, MARKETS, type Market, STYLES } from "./vocabulary.ts";

const MARKETPLACE = "marketplace.example";
const SELLERS = [
	["S-101", "Example Outfitters"],
	["S-102", "Brightside Trading"],
	["S-103", "Northfield Supply"],
	["S-104", "Maple Street Goods"],
	["S-105", "Cargo & Crate"],
	["S-106", "Tidewater Imports"],
	["S-107", "Seven Oaks Market"],
	["S-108", "Paper Kite Store"],
] as const;
const MAKERS = ["Arden", "Brookline", "Calder", "Dunmore", "Everett", "Fairhaven", "Garnet", "Holloway"] as const;
const BASE36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

type Item = { title: string; noun: string; cents: number };

function makeItem(random: Random, category: Category, market: Market): Item {
	const [noun, low, high] = random.pick(category.goods);
	// Rupee prices have more digits than the others.
	const factor = market.currency === "INR" ? 60 : 1;
	const units = random.integer(low, high) * factor;
	return { title: `${random.pick(STYLES)} ${noun}, ${random.pick(COLOURS)}`, noun, cents: units * 100 + random.pick([-1, -5, -10, 0]) };
}

/** Products of the brands, mostly in stock, one in three on sale. `special` come first, from shoes.example. */
export function generateProducts(random: Random, brands: readonly GeneratedBrand[], count: number): Product[] {
	const shoes = { domain: "shoes.example", name: "Shoes Example", category: FOOTWEAR, market: MARKETS.US };
	const shops = brands
		.filter(({ brand }) => brand.active)
		.map(({ brand, category, market }) => ({ domain: brand.domain, name: brand.name, category, market }));
	return Array.from({ length: count }, (_, index) => {
		const shop = index < 40 ? shoes : random.pick(shops);
		const item = makeItem(random, shop.category, shop.market);
		const sku = `${shop.domain.slice(0, 3).toUpperCase()}-${10_001 + index}`;
		return {
			id: sku,
			domain: shop.domain,
			name: item.title,
			description: random.chance(0.9) ? `${item.title}. Sold and shipped by ${shop.name}.` : null,
			brand: random.chance(0.8) ? random.pick(MAKERS) : null,
			category: shop.category.name,
			url: `https://${shop.domain}/p/${slug(item.title)}-${10_001 + index}`,
			image_url: random.chance(0.95) ? `https://cdn.${shop.domain}/images/${sku.toLowerCase()}.jpg` : null,
			currency: shop.market.currency,
			regular_price: money(item.cents),
			final_price: money(random.chance(0.33) ? Math.round((item.cents * random.integer(60, 95)) / 100) : item.cents),
			availability: random.chance(0.92) ? "InStock" : "OutOfStock",
		};
	});
}

/** Products that sellers offer on the demo's marketplace. */
export function generateSellerProducts(random: Random, count: number): SellerProduct[] {
	return Array.from({ length: count }, (_, index) => {
		const category = random.pick(CATEGORIES);
		const item = makeItem(random, category, MARKETS.US);
		const [sellerId, sellerName] = random.pick(SELLERS);
		const asin = `B0${base36(random, 5)}${index.toString(36).toUpperCase().padStart(3, "0")}`;
		return {
			asin,
			domain: MARKETPLACE,
			seller_id: sellerId,
			seller_name: sellerName,
			name: item.title,
			description: random.chance(0.85) ? `${item.title}, offered by ${sellerName}.` : null,
			manufacturer: random.chance(0.9) ? random.pick(MAKERS) : null,
			category: category.name,
			catalog_name: category.name,
			current_price: `${money(item.cents)}00`,
			image_url: `https://cdn.${MARKETPLACE}/${asin.toLowerCase()}.jpg`,
			stock_availability: random.chance(0.9) ? "InStock" : "OutOfStock",
			url: `https://${MARKETPLACE}/dp/${asin}`,
		};
	});
}

/** Millionths of a USD. */
const RATES = { EUR: 1_080_000, GBP: 1_270_000, CAD: 720_000, AUD: 650_000, INR: 11_800 } as const;

/** Rates of the last quarter of 2026, drifting a little from day to day. */
export function generateExchangeRates(random: Random): ExchangeRate[] {
	const days = [31, 30, 31].flatMap((length, month) =>
		Array.from({ length }, (_, day) => `2026-${10 + month}-${String(day + 1).padStart(2, "0")}`),
	);
	return Object.entries(RATES).flatMap(([currency, start]) => {
		let rate: number = start;
		return days.map((date) => {
			rate = Math.round((rate * random.integer(9_970, 10_030)) / 10_000);
			return { currency, date, usd: (rate / 1_000_000).toFixed(6) };
		});
	});
}

function base36(random: Random, length: number): string {
	return Array.from({ length }, () => random.pick([...BASE36])).join("");
}

function money(cents: number): string {
	return (cents / 100).toFixed(2);
}
