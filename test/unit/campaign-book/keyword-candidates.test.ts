/** What a keyword's entry has of campaigns whose prices are learned, where publishers are bid the operator's numbers, or nearly these. */
import { describe, expect, test } from "vitest";
import { grossEpcMicros, pricingKeyword } from "../../../src/bidding/pricing.ts";
import { ALL_HOURS, type BookBrand } from "../../../src/campaign-book/book.ts";
import { buildEntries, type CampaignInput, keysOfBrand } from "../../../src/campaign-book/build.ts";
import { decodeEntry } from "../../../src/campaign-book/format.ts";
import { operatorView } from "../../../src/campaign-book/learned.ts";
import { packFacts } from "../../../src/campaign-book/packed/pack-facts.ts";
import { FactsChunk } from "../../../src/campaign-book/packed/read-facts.ts";
import { hashOf } from "../../../src/lib/hash.ts";

const LEARNS: CampaignInput = {
	campaignId: 1,
	active: true,
	country: "US",
	platformId: null,
	homepageUrl: "https://t.example/{click_id}",
	deeplinkUrl: null,
	deeplinkVerified: false,
	epcMicros: null,
	defaultKeywordEpcMicros: null,
	keywordEpcMicros: {},
	dailyClickCap: null,
	dailyBudgetMicros: null,
	totalBudgetMicros: null,
	timezone: "UTC",
	allowedHours: ALL_HOURS,
	traffic: null,
	heldBack: { byClick: 10_000, all: 10_000 },
};

/** The candidates of a keyword in each format of a book in which every campaign is of a brand of its own. */
function candidatesOf(campaigns: readonly CampaignInput[]): ((keyword: string) => BookBrand[])[] {
	const brands = campaigns.map((campaign) => ({
		id: campaign.campaignId,
		domain: `brand-${campaign.campaignId}.example`,
		aliases: [],
		active: true,
		blockedCountries: [],
		iabCategories: [],
		campaigns: [campaign],
	}));
	const entries = buildEntries(
		brands.flatMap((of) => keysOfBrand(of).map((key) => ({ key, brandId: of.id }))),
		new Map(brands.map((of) => [of.id, of])),
	);
	const chunk = new FactsChunk("v", packFacts(entries, new Map()).slice().buffer);
	return [
		(keyword) => decodeEntry(JSON.stringify(entries.get(`k ${keyword}`))),
		(keyword) => [...(chunk.keyword(`k ${keyword}`, hashOf(`k ${keyword}`)) ?? [])],
	];
}

describe("unit: candidates of a keyword whose prices are learned", () => {
	test("have of the operator's numbers that of the keyword alone, whatever else the chunk has of the campaign", () => {
		const numbers = { epcMicros: 3_000_000, defaultKeywordEpcMicros: 2_000_000, keywordEpcMicros: { boots: 500_000, hats: 900_000 } };
		const own = { ...LEARNS, ...numbers, operatorPrices: numbers };
		for (const find of candidatesOf([own])) {
			for (const keywords of ["boots", new Set(["boots,caps", "boots", "caps"]), new Set(["boots,hats", "boots", "hats"])]) {
				const views = find("boots").flatMap(({ campaigns }) => campaigns.map(operatorView));
				expect(views.map((view) => [grossEpcMicros(view, keywords), pricingKeyword(view, keywords)])).toEqual([[500_000, "boots"]]);
			}
		}
	});
});
