import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AuctionBook, type AuctionRequest, runAuction } from "../../../src/bidding/auction.ts";
import { campaignVerdict } from "../../../src/bidding/eligibility.ts";
import { campaignPrice, highestPrice } from "../../../src/bidding/pricing.ts";
import type { BookBrand, BookCampaign } from "../../../src/campaign-book/book.ts";
import { auctionBook, auctionRequest, brand, campaign, publisher } from "../../support/auction-parts.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");
const KEYWORD = "boots";

/** Few distinct prices, so that ties are frequent. */
const epc = fc.constantFrom(100, 199, 200, 20_000, 20_100, 20_199, 400_000, 1_000_000);

/** Mostly the first: each of the five things that may stand against a candidate is rare, so that most may bid. */
function mostly<Value>(usual: Value, rare: Value): fc.Arbitrary<Value> {
	return fc.oneof({ weight: 15, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(rare) });
}

/** One candidate of a keyword: a campaign with an entry for it, and whatever may stand against it. */
const candidate = fc
	.record({
		epc,
		capped: mostly(false, true),
		active: mostly(true, false),
		brandActive: mostly(true, false),
		country: mostly("US", "GB"),
		hasHomepage: mostly(true, false),
	})
	.map((of) => (campaignId: number) => toBrand(of, campaignId));

type Candidate = { epc: number; capped: boolean; active: boolean; brandActive: boolean; country: string; hasHomepage: boolean };

function toBrand(of: Candidate, campaignId: number): BookBrand {
	const { capped, active, country, hasHomepage } = of;
	const only = campaign({
		campaignId,
		epcMicros: null,
		keywordEpcMicros: new Map([[KEYWORD, of.epc]]),
		capped,
		active,
		country,
		hasHomepage,
	});
	return brand({ brandId: campaignId, domain: `brand-${campaignId}.example`, active: of.brandActive, campaigns: [only] });
}

/** Candidates as the book holds them: highest keyword EPC first, then the lowest campaign id. */
const candidates = fc.tuple(fc.array(candidate, { maxLength: 12 }), fc.infiniteStream(fc.nat())).map(([makers, order]) => {
	const ids = makers.map((_, i) => ({ id: i + 1, rank: order.next().value ?? 0 })).sort((a, b) => a.rank - b.rank);
	const brands = makers.map((make, i) => make(ids[i]?.id ?? i + 1));
	return brands.sort((a, b) => epcOf(b) - epcOf(a) || a.brandId - b.brandId);
});

function epcOf(of: BookBrand): number {
	return of.campaigns[0]?.keywordEpcMicros?.get(KEYWORD) ?? 0;
}

/** The auction's rule, said plainly: all that may bid, sorted by price and then by campaign id. */
function model(request: AuctionRequest, book: AuctionBook): { campaignId: number; price: number } | null {
	const { sharePpm } = book.publisher;
	const bids = [...book.brands]
		.filter((of) => of.active)
		.flatMap((of) => of.campaigns)
		.map((of: BookCampaign) => ({ of, price: campaignPrice(of, request.keyword, sharePpm, null) }))
		.filter(({ of, price }) => campaignVerdict(of, { country: "US", link: "homepage", now: NOON, isPaused: book.isPaused, price }).eligible)
		.map(({ of, price }) => ({ campaignId: of.campaignId, price }))
		.sort((a, b) => b.price - a.price || a.campaignId - b.campaignId);
	const [best] = bids;
	if (best === undefined) return null;
	const floor = request.floor.kind === "usd" ? request.floor.amount : 0;
	return best.price / 10_000 < floor ? null : best;
}

const floor = fc.oneof(
	fc.constant({ kind: "none" } as const),
	fc.constantFrom(0.0001, 0.01, 0.0101, 0.2, 0.5, 2).map((amount) => ({ kind: "usd", amount }) as const),
);
const share = fc.constantFrom(1, 250_000, 500_000, 800_000, 1_000_000);
const paused = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 2 });

describe("unit: an auction among the candidates of a keyword", () => {
	test("ends early with what a look at every candidate gives", () => {
		fc.assert(
			fc.property(candidates, floor, share, paused, (brands, asked, sharePpm, still) => {
				const request = auctionRequest({ domain: null, keyword: KEYWORD, floor: asked });
				const book = auctionBook({ brands, publisher: publisher({ sharePpm }), isPaused: (id) => still.includes(id) });
				const early = runAuction(request, book, NOON);
				const whole = runAuction(request, book, NOON, () => {});
				expect(early).toEqual(whole);
				const expected = model(request, book);
				const got = early.outcome === "bid" ? { campaignId: early.campaign.campaignId, price: early.price } : null;
				expect(got).toEqual(expected);
			}),
			{ numRuns: 2_000 },
		);
	});

	test("never bids under a positive floor, nor nothing", () => {
		fc.assert(
			fc.property(candidates, fc.double({ min: 0, max: 2, noNaN: true }), share, (brands, amount, sharePpm) => {
				const request = auctionRequest({ domain: null, keyword: KEYWORD, floor: { kind: "usd", amount } });
				const decision = runAuction(request, auctionBook({ brands, publisher: publisher({ sharePpm }) }), NOON);
				if (decision.outcome === "no-bid") return;
				expect(decision.price).toBeGreaterThan(0);
				expect(decision.price / 10_000).toBeGreaterThanOrEqual(amount);
			}),
			{ numRuns: 1_000 },
		);
	});

	test("highest keyword EPC first is highest price first, for every share", () => {
		fc.assert(
			fc.property(candidates, share, (brands, sharePpm) => {
				const prices = brands.map((of) => highestPrice(of, KEYWORD, sharePpm, null));
				expect(prices).toEqual(prices.toSorted((a, b) => b - a));
			}),
		);
	});
});

describe("unit: an auction among the campaigns of one brand", () => {
	test("does not depend on their order", () => {
		fc.assert(
			fc.property(fc.array(epc, { minLength: 1, maxLength: 8 }), share, fc.boolean(), (epcs, sharePpm, keyed) => {
				const campaigns = epcs.map((epcMicros, i) =>
					campaign({ campaignId: i + 1, epcMicros, defaultKeywordEpcMicros: keyed ? epcMicros : null }),
				);
				const request = auctionRequest({ keyword: keyed ? KEYWORD : null });
				const of = (list: BookCampaign[]) =>
					runAuction(request, auctionBook({ publisher: publisher({ sharePpm }), brands: [brand({ campaigns: list })] }), NOON);
				const [forth, back] = [of(campaigns), of(campaigns.toReversed())];
				expect(forth.outcome).toBe(back.outcome);
				if (forth.outcome === "bid" && back.outcome === "bid") expect(forth.campaign.campaignId).toBe(back.campaign.campaignId);
			}),
		);
	});
});
