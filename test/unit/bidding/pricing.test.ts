import { describe, expect, test } from "vitest";
import { campaignPrice, grossEpcMicros, highestPrice, pricingKeyword } from "../../../src/bidding/pricing.ts";
import { brand, campaign } from "../../support/auction-parts.ts";

const priced = campaign({ epcMicros: 420_000, defaultKeywordEpcMicros: 300_000, keywordEpcMicros: new Map([["running shoes", 550_000]]) });

describe("unit: the gross EPC of a campaign", () => {
	test("without a keyword is its EPC", () => {
		expect(grossEpcMicros(priced, null)).toBe(420_000);
	});
	test("with a keyword it has an entry for is that entry's", () => {
		expect(grossEpcMicros(priced, "running shoes")).toBe(550_000);
	});
	test("with another keyword is its default keyword EPC", () => {
		expect(grossEpcMicros(priced, "boots")).toBe(300_000);
	});
	test("with a keyword and no default keyword EPC is its EPC", () => {
		expect(grossEpcMicros(campaign({ epcMicros: 420_000, keywordEpcMicros: new Map([["running shoes", 550_000]]) }), "boots")).toBe(
			420_000,
		);
		expect(grossEpcMicros(campaign({ epcMicros: 420_000 }), "boots")).toBe(420_000);
	});
	test("an entry of zero is the price for that keyword, not a reason to fall back", () => {
		expect(grossEpcMicros(campaign({ keywordEpcMicros: new Map([["boots", 0]]) }), "boots")).toBe(0);
		expect(grossEpcMicros(campaign({ defaultKeywordEpcMicros: 0 }), "boots")).toBe(0);
	});
	test("is null where the campaign has none", () => {
		const bare = campaign({ epcMicros: null, defaultKeywordEpcMicros: 300_000 });
		expect(grossEpcMicros(bare, null)).toBeNull();
		expect(grossEpcMicros(bare, "boots")).toBe(300_000);
	});
});

describe("unit: the keyword that priced a bid", () => {
	test("is the one asked for, by its own entry or as any keyword", () => {
		expect(pricingKeyword(priced, "running shoes")).toBe("running shoes");
		expect(pricingKeyword(priced, "boots")).toBe("boots");
		expect(pricingKeyword(campaign({ keywordEpcMicros: new Map([["boots", 0]]) }), "boots")).toBe("boots");
	});
	test("is none where the domain's EPC priced it", () => {
		expect(pricingKeyword(priced, null)).toBeNull();
		expect(pricingKeyword(campaign({ epcMicros: 420_000 }), "boots")).toBeNull();
		expect(pricingKeyword(campaign({ keywordEpcMicros: new Map([["running shoes", 1]]) }), "boots")).toBeNull();
	});
});

describe("unit: the price of a campaign", () => {
	test("is the gross EPC times the publisher's share, half up to four decimals", () => {
		expect(campaignPrice(priced, null, 800_000, null)).toBe(3360);
		expect(campaignPrice(campaign({ epcMicros: 20_100 }), null, 500_000, null)).toBe(101);
		expect(campaignPrice(campaign({ epcMicros: 20_099 }), null, 500_000, null)).toBe(100);
	});
	test("is 0 where the campaign has no EPC", () => {
		expect(campaignPrice(campaign({ epcMicros: null }), null, 800_000, null)).toBe(0);
	});
	test("the highest of a brand's campaigns is found, 0 without any", () => {
		const campaigns = [campaign({ epcMicros: 100_000 }), priced, campaign({ epcMicros: null })];
		expect(highestPrice(brand({ campaigns }), null, 1_000_000, null)).toBe(4200);
		expect(highestPrice(brand({ campaigns }), "running shoes", 1_000_000, null)).toBe(5500);
		expect(highestPrice(brand({ campaigns: [] }), null, 1_000_000, null)).toBe(0);
	});
});
