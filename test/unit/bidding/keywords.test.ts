import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runAuction } from "../../../src/bidding/auction.ts";
import { mergeCandidates } from "../../../src/bidding/keyword-candidates.ts";
import { campaignPrice, grossEpcMicros, pricingKeyword } from "../../../src/bidding/pricing.ts";
import type { BookBrand } from "../../../src/campaign-book/book.ts";
import { packFacts } from "../../../src/campaign-book/packed/pack-facts.ts";
import { FactsChunk } from "../../../src/campaign-book/packed/read-facts.ts";
import { hashOf } from "../../../src/lib/hash.ts";
import { canonicalKeyword, canonicalKeywords, MAX_KEYWORDS, MAX_KEYWORDS_LENGTH } from "../../../src/lib/keyword.ts";
import { auctionBook, auctionRequest, brand, campaign } from "../../support/auction-parts.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");
const WORDS = ["boots", "hats", "socks", "a, b", "é"];
const word = fc.constantFrom(...WORDS, "none");
const epc = fc.constantFrom(0, 100, 20_000, 20_100, 400_000);
const prices = fc.dictionary(fc.constantFrom(...WORDS), epc).map((entries) => new Map(Object.entries(entries)));

describe("unit: a list of keywords", () => {
	test.each<[string, string | string[] | null]>([
		["running shoes", "running shoes"],
		["Running Shoes,SNEAKERS", ["running shoes,sneakers", "running shoes", "sneakers"]],
		[" , boots ,\t, ", [", boots , ,", "boots"]],
		["boots,boots", ["boots,boots", "boots"]],
		["ＢＯＯＴＳ,e\u0301", ["boots,é", "boots", "é"]],
		["\ud800,boots", ["\ufffd,boots", "\ufffd", "boots"]],
		[" \t", null],
		[`${"k".repeat(300)},boots`, [`${"k".repeat(300)},boots`, "boots"]],
	])("%j is %j", (list, expected) => {
		const read = canonicalKeywords([list]);
		expect(read instanceof Set ? [...read] : read).toEqual(expected);
	});

	test("is read up to a bound of parts and of length, of all lists together; one text may be as long as it likes", () => {
		const parts = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(",");
		expect(canonicalKeywords([parts(MAX_KEYWORDS)])).toHaveProperty("size", MAX_KEYWORDS + 1);
		expect(canonicalKeywords([parts(MAX_KEYWORDS + 1)])).toBe("too_many");
		expect(canonicalKeywords([parts(MAX_KEYWORDS - 1), "one", "two"])).toBe("too_many");
		expect(canonicalKeywords([",".repeat(MAX_KEYWORDS)])).toBe("too_many");
		expect(canonicalKeywords([`a,${"b".repeat(MAX_KEYWORDS_LENGTH)}`])).toBe("too_many");
		expect(canonicalKeywords(["b".repeat(100_000)])).toBe("b".repeat(100_000));
	});
});

describe("unit: the price of several keywords", () => {
	const several = fc.uniqueArray(word, { minLength: 2, maxLength: 5 });
	const priced = fc.record({ epcMicros: fc.option(epc), defaultKeywordEpcMicros: fc.option(epc), keywordEpcMicros: fc.option(prices) });

	test("is the best that one of them alone has, in either format of the book, and that one is the keyword that priced it", () => {
		fc.assert(
			fc.property(priced, several, (fields, words) => {
				const [plain, packed] = [campaign(fields), packedCampaign(fields)];
				for (const of of [plain, packed]) {
					const alone = words.map((keyword) => grossEpcMicros(of, keyword));
					const best = alone.reduce((one, other) => (other !== null && (one === null || other > one) ? other : one), null);
					expect(grossEpcMicros(of, new Set(words))).toBe(best);
					expect(campaignPrice(of, new Set(words), 500_000, null)).toBe(
						Math.max(...words.map((keyword) => campaignPrice(of, keyword, 500_000, null))),
					);
					const named = pricingKeyword(of, new Set(words));
					if (named === null) expect(words.some((keyword) => pricingKeyword(of, keyword) === null)).toBe(true);
					else expect(grossEpcMicros(of, named)).toBe(best);
				}
			}),
			{ numRuns: 1_000 },
		);
	});

	/** A campaign as a packed book gives it. */
	function packedCampaign(of: {
		epcMicros: number | null;
		defaultKeywordEpcMicros: number | null;
		keywordEpcMicros: Map<string, number> | null;
	}) {
		const { epcMicros: e, defaultKeywordEpcMicros: f, keywordEpcMicros: k } = of;
		const wire = {
			i: 1,
			o: "US",
			h: "x",
			...(e !== null && { e }),
			...(f !== null && { f }),
			...(k !== null && { k: Object.fromEntries(k) }),
		};
		const bytes = packFacts(new Map([["d shoes.example", [{ i: 10, d: "shoes.example", c: [wire] }]]]), new Map());
		const found = new FactsChunk("v", bytes.slice().buffer).host("d shoes.example", hashOf("d shoes.example"))?.campaigns[0];
		if (found === undefined) throw new Error("the campaign was not packed");
		return found;
	}
});

describe("unit: candidates of several keywords", () => {
	const entry = fc.record({ campaignId: fc.integer({ min: 1, max: 9 }), epcMicros: epc, active: fc.boolean() });
	const book = fc.uniqueArray(
		fc.tuple(fc.constantFrom(...WORDS), fc.uniqueArray(entry, { selector: ({ campaignId }) => campaignId, maxLength: 5 })),
		{
			selector: ([keyword]) => keyword,
			minLength: 2,
		},
	);

	function listsOf(entries: [keyword: string, of: { campaignId: number; epcMicros: number; active: boolean }[]][]) {
		return entries.map(([keyword, of]) => ({
			keyword,
			brands: of
				.toSorted((a, b) => b.epcMicros - a.epcMicros || a.campaignId - b.campaignId)
				.map(({ campaignId, epcMicros, active }): BookBrand => {
					const only = campaign({ campaignId, active, epcMicros: null, keywordEpcMicros: new Map([[keyword, epcMicros]]) });
					return brand({ brandId: campaignId, campaigns: [only] });
				}),
		}));
	}

	test("win as the best of each keyword alone would, whether the auction ends early or not, and however often they are asked for", () => {
		fc.assert(
			fc.property(book, (entries) => {
				const lists = listsOf(entries);
				const request = auctionRequest({ domain: null, keyword: new Set(lists.map(({ keyword }) => keyword)) });
				const brands = mergeCandidates(lists);
				const decision = runAuction(request, auctionBook({ brands }), NOON);
				const alone = lists.flatMap(({ keyword, brands: of }) => {
					const one = runAuction({ ...request, keyword }, auctionBook({ brands: of }), NOON);
					return one.outcome === "bid" ? [one] : [];
				});
				const [best] = alone.toSorted((a, b) => b.price - a.price || a.campaign.campaignId - b.campaign.campaignId);
				const shown = (of: typeof decision | undefined) => (of?.outcome === "bid" ? [of.price, of.campaign.campaignId] : null);
				expect(shown(decision)).toEqual(shown(best));
				expect(shown(runAuction(request, auctionBook({ brands }), NOON, () => {}))).toEqual(shown(best));
			}),
			{ numRuns: 500 },
		);
	});
});

test("unit: the whole text of a list is a keyword, too", () => {
	const listed = campaign({ keywordEpcMicros: new Map([[canonicalKeyword("Boots, Hats") ?? "", 900_000]]) });
	expect(grossEpcMicros(listed, canonicalKeywords(["boots,  hats"]) as ReadonlySet<string>)).toBe(900_000);
});
