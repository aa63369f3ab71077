/** The publishers' pages, in the order of the menu. */
import type { Page } from "../page.ts";
import { BRANDS_PAGES } from "./brands.tsx";
import { CALLBACKS_PAGES } from "./callbacks.tsx";
import { CLAIMS_PAGES } from "./claims.tsx";
import { CLICKS_PAGES } from "./clicks.tsx";
import { CONVERSIONS_PAGES } from "./conversions.tsx";
import { EARNINGS_PAGES } from "./earnings.tsx";
import { LINKS_PAGES } from "./links.tsx";
import { NO_BIDS_PAGES } from "./no-bids.tsx";
import { PRODUCTS_PAGES } from "./products.tsx";
import { SETTINGS_PAGES } from "./settings.tsx";
import { SETTINGS_ADDRESS_PAGES } from "./settings-address.tsx";
import { SETTINGS_KEYS_PAGES } from "./settings-keys.tsx";
import { SETTINGS_MEMBERS_PAGES } from "./settings-members.tsx";

export const PUBLISHER_PAGES: readonly Page[] = [
	...EARNINGS_PAGES,
	...CLICKS_PAGES,
	...CONVERSIONS_PAGES,
	...LINKS_PAGES,
	...BRANDS_PAGES,
	...PRODUCTS_PAGES,
	...NO_BIDS_PAGES,
	...CLAIMS_PAGES,
	...CALLBACKS_PAGES,
	...SETTINGS_PAGES,
	...SETTINGS_KEYS_PAGES,
	...SETTINGS_ADDRESS_PAGES,
	...SETTINGS_MEMBERS_PAGES,
];
