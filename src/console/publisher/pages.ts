/** The publishers' pages, in the order of the menu. */
import type { Page } from "../page.ts";
import { BRANDS_PAGES } from "./brands.tsx";
import { CALLBACKS_PAGES } from "./callbacks.tsx";
import { CLICKS_PAGES } from "./clicks.tsx";
import { CONVERSIONS_PAGES } from "./conversions.tsx";
import { EARNINGS_PAGES } from "./earnings.tsx";
import { LINKS_PAGES } from "./links.tsx";
import { NO_BIDS_PAGES } from "./no-bids.tsx";
import { PRODUCTS_PAGES } from "./products.tsx";

export const PUBLISHER_PAGES: readonly Page[] = [
	...EARNINGS_PAGES,
	...CLICKS_PAGES,
	...CONVERSIONS_PAGES,
	...LINKS_PAGES,
	...BRANDS_PAGES,
	...PRODUCTS_PAGES,
	...NO_BIDS_PAGES,
	...CALLBACKS_PAGES,
];
