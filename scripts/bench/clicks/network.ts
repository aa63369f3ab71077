/** The network whose clicks are counted: publishers, and campaigns with caps. */
import { CAMPAIGNS, CAMPAIGNS_PER_BRAND, FIRST_CAMPAIGN_ID, IDENTITIES } from "../../../test/bench/click-messages.ts";
import { generateOwners } from "../catalogue/generate.ts";
import { importNetwork } from "../import-network.ts";

const BRANDS = CAMPAIGNS / CAMPAIGNS_PER_BRAND;
/** Local days of the campaigns begin by it. */
export const TIMEZONE = "America/New_York";

/** The publishers of the clicks, each like `model` but for its names and keys. */
export function namePublishers<Model extends object>(model: Model) {
	return Array.from({ length: IDENTITIES }, (_, at) => ({
		...model,
		id: `p${at}`,
		publisher_id: `bench-${at}`,
		publisher_identity: `bench_${at}`,
		access_key: `benchmark-access-key-${at}`,
		publisher_key: `benchmark-publisher-key-${at}`,
		blocked_brands: [],
	}));
}

/** @param origin of the all-in-one Worker */
export async function importClickedNetwork(origin: string): Promise<void> {
	const owners = generateOwners();
	const [model] = owners.publishers ?? [];
	const [platform] = owners.platforms ?? [];
	if (model === undefined || platform === undefined) throw new Error("there is no publisher to take after");
	const publishers = namePublishers(model);
	const brands = Array.from({ length: BRANDS }, (_, brand) => ({
		domain: `brand-${brand}.example`,
		name: `Brand ${brand}`,
		campaigns: Array.from({ length: CAMPAIGNS_PER_BRAND }, (_, at) => ({
			campaign_id: FIRST_CAMPAIGN_ID + brand * CAMPAIGNS_PER_BRAND + at,
			merchant_id: brand + 1,
			platform: platform.id,
			country: "US",
			homepage_url: "https://track.example/c?sub={click_id}",
			epc: "0.4200",
			daily_click_cap: 100_000_000,
			timezone: TIMEZONE,
		})),
	}));
	await importNetwork(origin, JSON.stringify({ ...owners, publishers, brands }));
}
