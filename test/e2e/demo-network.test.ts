import { describe, expect, it } from "vitest";
import { buildDemoNetwork } from "../../scripts/demo/build-demo-network.ts";
import { RESTRICTED_TRAFFIC, TRAFFIC_TYPES } from "../../src/lib/enums.ts";

describe("the demo network", () => {
	const network = buildDemoNetwork();
	const { platforms = [], publishers = [], brands = [], products = [], seller_products = [] } = network;
	const campaigns = brands.flatMap((brand) => brand.campaigns);

	it("is the same every time", () => {
		expect(buildDemoNetwork()).toEqual(network);
	});

	it("has the promised size", () => {
		expect([platforms, publishers, brands, products, seller_products].map((list) => list.length)).toEqual([3, 5, 300, 2_000, 2_000]);
	});

	it("names every host under the reserved top-level domain", () => {
		const hosts = JSON.stringify(network).match(/https?:\/\/[^/"?]+/g) ?? [];
		const domains = [...brands.flatMap(({ domain, aliases }) => [domain, ...aliases]), ...hosts];
		expect(domains.filter((domain) => !domain.endsWith(".example"))).toEqual([]);
	});

	it("uses every natural key once", () => {
		for (const keys of [
			brands.flatMap(({ domain, aliases }) => [domain, ...aliases]),
			campaigns.map((campaign) => campaign.campaign_id),
			products.map((product) => product.id),
			seller_products.map((product) => product.asin),
		]) {
			expect(new Set<string | number>(keys).size).toBe(keys.length);
		}
	});

	it("restricts every kind of traffic somewhere, and maps brands to every traffic type", () => {
		expect(new Set(brands.flatMap((brand) => brand.restricted_traffic))).toEqual(new Set(RESTRICTED_TRAFFIC));
		expect(new Set(brands.flatMap((brand) => brand.traffic_types))).toEqual(new Set(TRAFFIC_TYPES));
	});

	it.each([
		["a verified deeplink", () => campaigns.some((campaign) => campaign.deeplink_verified && campaign.homepage_url !== null)],
		["an unverified deeplink", () => campaigns.some((campaign) => !campaign.deeplink_verified && campaign.deeplink_url !== null)],
		["a homepage only", () => campaigns.some((campaign) => campaign.deeplink_url === null)],
		["a deeplink only", () => campaigns.some((campaign) => campaign.homepage_url === null)],
		["a flat fee", () => campaigns.some((campaign) => campaign.flat_fee !== null && campaign.commission_rate === null)],
		["keyword prices", () => campaigns.some((campaign) => Object.keys(campaign.keyword_epc).length > 1)],
		["a default keyword price", () => campaigns.some((campaign) => campaign.default_keyword_epc !== null)],
		["a click cap of 0", () => campaigns.some((campaign) => campaign.daily_click_cap === 0)],
		["a total budget", () => campaigns.some((campaign) => campaign.total_budget !== null)],
		["no cap", () => campaigns.some((c) => c.daily_click_cap === null && c.daily_budget === null && c.total_budget === null)],
		[
			"restricted hours in many time zones",
			() => new Set(campaigns.filter((c) => (c.allowed_hours?.length ?? 24) < 24).map((c) => c.timezone)).size > 5,
		],
		["an inactive brand", () => brands.some((brand) => !brand.active)],
		["an inactive campaign", () => campaigns.some((campaign) => !campaign.active)],
		["a marketplace", () => brands.some((brand) => brand.marketplace)],
		["blocked countries", () => brands.some((brand) => brand.blocked_countries.length > 0)],
		["aliases", () => brands.some((brand) => brand.aliases.length > 0)],
		["six countries and more", () => new Set(campaigns.map((campaign) => campaign.country)).size >= 6],
		["a brand in several countries", () => brands.some((brand) => new Set(brand.campaigns.map((c) => c.country)).size > 2)],
		["brands without a traffic type", () => brands.some((brand) => brand.traffic_types.length === 0)],
		[
			"a brand blocked for a publisher everywhere",
			() => publishers.some((p) => p.blocked_brands.some((blocked) => blocked.country === undefined)),
		],
		[
			"a brand blocked for a publisher in a country",
			() => publishers.some((p) => p.blocked_brands.some((blocked) => blocked.country !== undefined)),
		],
	])("has %s", (_, isThere) => {
		expect(isThere()).toBe(true);
	});

	it("sets every flag of a publisher both ways", () => {
		for (const flag of [
			"serving_engine_enabled",
			"openrtb_enabled",
			"cashback_enabled",
			"sales_data_enabled",
			"campaign_id_enabled",
		] as const) {
			expect(new Set(publishers.map((publisher) => publisher[flag])), flag).toEqual(new Set([true, false]));
		}
		for (const field of ["seat", "callback_url", "marketplace_tag"] as const) {
			expect(new Set(publishers.map((publisher) => publisher[field] === null)), field).toEqual(new Set([true, false]));
		}
		expect(new Set(publishers.map((publisher) => publisher.pricing_model))).toEqual(new Set(["CPA", "CPC"]));
	});
});
