/** What a keyword's entry has of campaigns whose prices are learned, where publishers are bid the operator's numbers, or nearly these. */
import { describe, expect, test } from "vitest";
import { runAuction } from "../../../src/bidding/auction.ts";
import { mergeCandidates } from "../../../src/bidding/keyword-candidates.ts";
import { grossEpcMicros, pricingKeyword } from "../../../src/bidding/pricing.ts";
import { ALL_HOURS, type BookBrand } from "../../../src/campaign-book/book.ts";
import { buildEntries, type CampaignInput, keysOfBrand } from "../../../src/campaign-book/build.ts";
import { decodeEntry } from "../../../src/campaign-book/format.ts";
import { LearnedFactors, operatorView } from "../../../src/campaign-book/learned.ts";
import { packFacts } from "../../../src/campaign-book/packed/pack-facts.ts";
import { FactsChunk } from "../../../src/campaign-book/packed/read-facts.ts";
import { hashOf } from "../../../src/lib/hash.ts";
import { auctionBook, auctionRequest } from "../../support/auction-parts.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");

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

	test("that were let go of lately win by what keeps them near the operator's number, where the auction ends early, too", () => {
		const priced = (boots: number) => ({ epcMicros: null, defaultKeywordEpcMicros: null, keywordEpcMicros: { boots, caps: boots } });
		const released = { since: NOON, rise: 1.25, fall: 0.6 };
		const campaigns = [
			{ ...LEARNS, campaignId: 1, ...priced(900_000) },
			{ ...LEARNS, campaignId: 2, ...priced(800_000) },
			// No less than 1,200,000 of it is bid today.
			{ ...LEARNS, campaignId: 3, ...priced(600_000), operatorPrices: priced(2_000_000), released },
		];
		for (const find of candidatesOf(campaigns)) {
			const lists = ["boots", "caps"].map((keyword) => ({ keyword, brands: find(keyword) }));
			for (const [keyword, brands] of [
				["boots", find("boots")],
				[new Set(["boots", "caps"]), mergeCandidates(lists)],
			] as const) {
				const book = auctionBook({ brands, learned: new LearnedFactors({ format: 1 }) });
				for (const observe of [undefined, () => {}]) {
					const decision = runAuction(auctionRequest({ domain: null, keyword }), book, NOON, observe);
					expect(decision).toMatchObject({ outcome: "bid", price: 6_000, campaign: { campaignId: 3 } });
				}
			}
		}
	});
});
