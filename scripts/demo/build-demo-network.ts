import { generateBrands } from "./brands.ts";
import type { NetworkFile } from "./network-file.ts";
import { generateExchangeRates, generateProducts, generateSellerProducts } from "./products.ts";
import { Random } from "./random.ts";
import { PLATFORMS, PUBLISHERS, WELL_KNOWN_BRANDS } from "./well-known.ts";

const SEED = 20_261_101;
const BRANDS = 300;
const PRODUCTS = 2_000;
const SELLER_PRODUCTS = 2_000;

/** The demo network: always the same one, with every kind of brand, campaign and publisher in it. */
export function buildDemoNetwork(): NetworkFile {
	// A generator for each part, so that a change to one part leaves the others as they are.
	const brands = generateBrands(new Random(SEED), BRANDS - WELL_KNOWN_BRANDS.length);
	return {
		platforms: [...PLATFORMS],
		publishers: [...PUBLISHERS],
		brands: [...WELL_KNOWN_BRANDS, ...brands.map(({ brand }) => brand)],
		exchange_rates: generateExchangeRates(new Random(SEED + 1)),
		products: generateProducts(new Random(SEED + 2), brands, PRODUCTS),
		seller_products: generateSellerProducts(new Random(SEED + 3), SELLER_PRODUCTS),
	};
}
