import { describe, expect, test } from "vitest";
import { type AuctionBook, type AuctionRequest, type Decision, runAuction, seatOf } from "../../../src/bidding/auction.ts";
import type { CampaignVerdict } from "../../../src/bidding/eligibility.ts";
import type { BookBrand } from "../../../src/campaign-book/book.ts";
import { readWebAddress } from "../../../src/lib/host.ts";
import { auctionBook, auctionRequest, brand, campaign, hours, publisher } from "../../support/auction-parts.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");

function hold(request: Partial<AuctionRequest> = {}, book: Partial<AuctionBook> = {}): Decision {
	return runAuction(auctionRequest(request), auctionBook(book), NOON);
}

function winner(decision: Decision): number | string {
	return decision.outcome === "bid" ? decision.campaign.campaignId : decision.reason;
}

const noBid = (reason: string) => ({ outcome: "no-bid", reason });

describe("unit: a bid", () => {
	test("is the campaign's price for the publisher, on the homepage", () => {
		expect(hold()).toMatchObject({
			outcome: "bid",
			price: 2000,
			isDeeplink: false,
			brand: { domain: "shoes.example" },
			campaign: { campaignId: 1 },
		});
	});

	test("goes to the highest price, whatever the order", () => {
		const campaigns = [
			campaign({ campaignId: 1, epcMicros: 100_000 }),
			campaign({ campaignId: 2, epcMicros: 300_000 }),
			campaign({ campaignId: 3, epcMicros: 200_000 }),
		];
		expect(winner(hold({}, { brands: [brand({ campaigns })] }))).toBe(2);
		expect(winner(hold({}, { brands: [brand({ campaigns: campaigns.toReversed() })] }))).toBe(2);
	});

	test("goes to the lowest campaign id where prices are equal, whatever the order", () => {
		const campaigns = [campaign({ campaignId: 12 }), campaign({ campaignId: 11 }), campaign({ campaignId: 13 })];
		expect(winner(hold({}, { brands: [brand({ campaigns })] }))).toBe(11);
		expect(winner(hold({}, { brands: [brand({ campaigns: campaigns.toReversed() })] }))).toBe(11);
	});

	test("counts prices as equal that are equal once they are rounded", () => {
		const campaigns = [campaign({ campaignId: 12, epcMicros: 400_020 }), campaign({ campaignId: 11, epcMicros: 400_000 })];
		expect(winner(hold({}, { brands: [brand({ campaigns })] }))).toBe(11);
	});

	test("goes to the lowest campaign id among the candidates of a keyword, though one before it bids as much", () => {
		const priced = { epcMicros: null, keywordEpcMicros: new Map([["boots", 400_000]]) };
		const brands = [12, 11, 13].map((campaignId) =>
			brand({ domain: `brand-${campaignId}.example`, campaigns: [campaign({ campaignId, ...priced })] }),
		);
		expect(winner(hold({ domain: null, keyword: "boots" }, { brands }))).toBe(11);
	});

	test("passes over campaigns that may not bid, however high", () => {
		const campaigns = [campaign({ campaignId: 1, epcMicros: 900_000, country: "GB" }), campaign({ campaignId: 2, epcMicros: 100_000 })];
		expect(winner(hold({}, { brands: [brand({ campaigns })] }))).toBe(2);
	});

	test("is priced by the keyword", () => {
		const campaigns = [
			campaign({ campaignId: 1, epcMicros: 900_000, defaultKeywordEpcMicros: 100_000 }),
			campaign({ campaignId: 2, epcMicros: 200_000, keywordEpcMicros: new Map([["boots", 500_000]]) }),
		];
		expect(hold({ keyword: "boots" }, { brands: [brand({ campaigns })] })).toMatchObject({ price: 2500, campaign: { campaignId: 2 } });
		expect(hold({}, { brands: [brand({ campaigns })] })).toMatchObject({ price: 4500, campaign: { campaignId: 1 } });
	});
});

describe("unit: no bid before any campaign is looked at", () => {
	test.each<[string, Partial<AuctionRequest>, string]>([
		["neither domain nor keyword", { domain: null }, "no_domain_or_keyword"],
		["a floor in another currency", { floor: { kind: "other_currency" } }, "floor_currency"],
		["a floor that cannot be read", { floor: { kind: "unusable" } }, "unusable_floor"],
		["an auction that takes no USD", { currencies: ["EUR", "GBP"] }, "currency_not_accepted"],
		["a seat that is not among the allowed", { allowedSeats: ["other-seat"] }, "seat_not_accepted"],
		["a seat that is blocked", { blockedSeats: ["other-seat", "acme-seat"] }, "seat_not_accepted"],
	])("%s", (_, request, reason) => {
		expect(hold(request)).toEqual(noBid(reason));
	});

	test("USD among the currencies, in any case, is enough", () => {
		expect(hold({ currencies: ["EUR", " usd "] }).outcome).toBe("bid");
	});

	test("the publisher's seat among the allowed ones is enough; without an assigned seat it is the identity", () => {
		expect(hold({ allowedSeats: ["other-seat", "acme-seat"], blockedSeats: ["other-seat"] }).outcome).toBe("bid");
		const seatless = publisher({ seat: null });
		expect(seatOf(seatless)).toBe("acme_rtb");
		expect(hold({ allowedSeats: ["acme_rtb"] }, { publisher: seatless }).outcome).toBe("bid");
		expect(hold({ allowedSeats: ["acme-seat"] }, { publisher: seatless })).toEqual(noBid("seat_not_accepted"));
		expect(hold({ allowedSeats: ["acme_rtb"] })).toEqual(noBid("seat_not_accepted"));
	});
});

describe("unit: no bid from the brand", () => {
	test.each<[string, Partial<AuctionRequest>, Partial<AuctionBook>, string]>([
		["no brand", {}, { brands: [] }, "unknown_advertiser"],
		["a brand that is not active", {}, { brands: [brand({ active: false })] }, "brand_inactive"],
		["a brand without campaigns", {}, { brands: [brand({ campaigns: [] })] }, "no_campaign"],
		["a brand blocked in the country", {}, { brands: [brand({ blockedCountries: ["CA", "US"] })] }, "advertiser_blocked"],
		[
			"a brand the publisher blocks everywhere",
			{},
			{ publisher: publisher({ blockedBrands: new Map([["shoes.example", []]]) }) },
			"advertiser_blocked",
		],
		[
			"a brand the publisher blocks in the country",
			{},
			{ publisher: publisher({ blockedBrands: new Map([["shoes.example", ["GB", "US"]]]) }) },
			"advertiser_blocked",
		],
		["a brand the auction blocks", { blockedAdvertisers: ["shoes.example"] }, {}, "advertiser_not_accepted"],
		["only campaigns of other countries", {}, { brands: [brand({ campaigns: [campaign({ country: "GB" })] })] }, "no_campaign"],
		["only campaigns that are not active", {}, { brands: [brand({ campaigns: [campaign({ active: false })] })] }, "no_campaign"],
		["a homepage request and no homepage link", {}, { brands: [brand({ campaigns: [campaign({ hasHomepage: false })] })] }, "no_campaign"],
		["a campaign without a price", {}, { brands: [brand({ campaigns: [campaign({ epcMicros: null })] })] }, "no_campaign"],
		["a price that rounds to nothing", {}, { brands: [brand({ campaigns: [campaign({ epcMicros: 99 })] })] }, "no_campaign"],
		["a cap of zero", {}, { brands: [brand({ campaigns: [campaign({ capped: true })] })] }, "cap_met"],
		["a campaign that stands still", {}, { isPaused: () => true }, "cap_met"],
		["an hour that is not allowed", {}, { brands: [brand({ campaigns: [campaign({ allowedHours: hours(3) })] })] }, "outside_hours"],
	])("%s", (_, request, book, reason) => {
		expect(hold(request, book)).toEqual(noBid(reason));
	});

	test("a block for another brand, country or domain blocks nothing", () => {
		const blockedBrands = new Map([
			["boots.example", []],
			["shoes.example", ["GB"]],
		]);
		expect(hold({}, { publisher: publisher({ blockedBrands }), brands: [brand({ blockedCountries: ["GB"] })] }).outcome).toBe("bid");
	});

	test("badv blocks the advertiser's domain, aliases and what lies below the entry, in any spelling", () => {
		const brands = [brand({ domain: "shop.shoes.example", aliases: ["outlet.example"] })];
		for (const entry of ["shop.shoes.example", "shoes.example", "HTTPS://WWW.Shoes.Example/", "outlet.example"]) {
			expect(hold({ blockedAdvertisers: ["other.example", entry] }, { brands })).toEqual(noBid("advertiser_not_accepted"));
		}
		for (const entry of ["a.shop.shoes.example", "hoes.example", "", "%", "boots.example"]) {
			expect(hold({ blockedAdvertisers: [entry] }, { brands }).outcome).toBe("bid");
		}
	});

	test("is named by the candidate that came nearest to a bid", () => {
		const campaigns = [
			campaign({ campaignId: 1, country: "GB" }),
			campaign({ campaignId: 2, capped: true }),
			campaign({ campaignId: 3, active: false }),
		];
		expect(hold({}, { brands: [brand({ campaigns })] })).toEqual(noBid("cap_met"));
	});

	/** One candidate for each reason, farthest from a bid first. */
	const AT = { domain: "at.example", aliases: ["shared.example"] };
	const LOSERS: [reason: string, loser: BookBrand][] = [
		["brand_inactive", brand({ ...AT, active: false })],
		["advertiser_blocked", brand({ ...AT, blockedCountries: ["US"] })],
		["advertiser_not_accepted", brand({ ...AT, domain: "barred.example" })],
		["no_campaign", brand({ ...AT, campaigns: [campaign({ country: "GB" })] })],
		["no_deeplink_campaign", brand({ ...AT, campaigns: [campaign({ hasDeeplink: false })] })],
		["outside_hours", brand({ ...AT, campaigns: [campaign({ allowedHours: hours(3) })] })],
		["cap_met", brand({ ...AT, campaigns: [campaign({ capped: true })] })],
	];
	const pairs = LOSERS.flatMap((far, at) => LOSERS.slice(at + 1).map((near) => [near[0], far[0], near[1], far[1]] as const));

	test.each(pairs)("%s goes before %s, whichever candidate comes first", (reason, _, near, far) => {
		const request = {
			domain: null,
			keyword: "boots",
			deeplink: readWebAddress("https://shared.example/"),
			blockedAdvertisers: ["barred.example"],
		};
		expect(hold(request, { brands: [near, far] })).toEqual(noBid(reason));
		expect(hold(request, { brands: [far, near] })).toEqual(noBid(reason));
	});
});

describe("unit: the floor", () => {
	const usd = (amount: number) => ({ floor: { kind: "usd", amount } as const });

	test("above the price, there is no bid", () => {
		expect(hold(usd(0.2001))).toEqual(noBid("below_floor"));
		expect(hold(usd(Number.POSITIVE_INFINITY))).toEqual(noBid("below_floor"));
		expect(hold(usd(0.2000000001))).toEqual(noBid("below_floor"));
	});

	test("equal to the price, the bid is returned", () => {
		expect(hold(usd(0.2)).outcome).toBe("bid");
	});

	test("is compared with the rounded price", () => {
		// 0.0201 × 50 % is 0.01005, which is bid as 0.0101.
		const brands = [brand({ campaigns: [campaign({ epcMicros: 20_100 })] })];
		expect(hold(usd(0.0101), { brands })).toMatchObject({ outcome: "bid", price: 101 });
		expect(hold(usd(0.0102), { brands })).toEqual(noBid("below_floor"));
	});
});

describe("unit: an observer", () => {
	test("is told of every campaign of every candidate, and changes nothing", () => {
		const brands = [
			brand({
				domain: "a.example",
				campaigns: [campaign({ campaignId: 1, epcMicros: 900_000 }), campaign({ campaignId: 2, capped: true, epcMicros: 900_000 })],
			}),
			brand({ domain: "b.example", active: false, campaigns: [campaign({ campaignId: 3 })] }),
			brand({ domain: "c.example", campaigns: [campaign({ campaignId: 4, epcMicros: 100_000 })] }),
		];
		const seen: [string, number, string, CampaignVerdict][] = [];
		const request = auctionRequest({ domain: null, keyword: "boots" });
		const decision = runAuction(request, auctionBook({ brands }), NOON, (of, { campaignId }, link, verdict) =>
			seen.push([of.domain, campaignId, link, verdict]),
		);
		expect(decision).toEqual(runAuction(request, auctionBook({ brands }), NOON));
		expect(seen).toEqual([
			["a.example", 1, "homepage", { eligible: true, price: 4500 }],
			["a.example", 2, "homepage", { eligible: false, reason: "cap_met" }],
			["b.example", 3, "homepage", { eligible: false, reason: "brand_inactive" }],
			["c.example", 4, "homepage", { eligible: true, price: 500 }],
		]);
	});
});
