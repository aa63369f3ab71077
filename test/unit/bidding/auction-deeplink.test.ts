import { describe, expect, test } from "vitest";
import { type AuctionBook, type AuctionRequest, type Decision, runAuction } from "../../../src/bidding/auction.ts";
import { readWebAddress } from "../../../src/lib/host.ts";
import { auctionBook, auctionRequest, brand, campaign, hours } from "../../support/auction-parts.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");

function hold(request: Partial<AuctionRequest> = {}, book: Partial<AuctionBook> = {}): Decision {
	return runAuction(auctionRequest(request), auctionBook(book), NOON);
}

const noBid = (reason: string) => ({ outcome: "no-bid", reason });

describe("unit: a deeplink", () => {
	const deeplink = (text: string, homepageInstead = false) => ({ deeplink: readWebAddress(text), homepageInstead });

	test.each([
		"https://shoes.example/p/1",
		"http://www.shoes.example/",
		"shoes.example/p",
		"https://a.b.shoes.example/",
		"https://outlet.example:444/x",
		"https://m.outlet.example",
	])("counts on the brand's hosts: %s", (text) => {
		const brands = [brand({ aliases: ["outlet.example"] })];
		expect(hold(deeplink(text), { brands })).toMatchObject({ outcome: "bid", isDeeplink: true });
	});

	test.each([
		"https://evil.example/shoes.example",
		"https://shoes.example.evil.example/",
		"https://evilshoes.example/",
		"https://shoes.example@evil.example/",
		"https://evil.example#shoes.example",
		"https://example/",
		"http://192.0.2.1/",
	])("on any other host is as if no campaign took deeplinks: %s", (text) => {
		expect(hold(deeplink(text))).toEqual(noBid("no_deeplink_campaign"));
		expect(hold(deeplink(text, true))).toMatchObject({ outcome: "bid", isDeeplink: false });
	});

	test("needs a campaign with verified deeplinks, and prices by those campaigns alone", () => {
		const campaigns = [
			campaign({ campaignId: 1, epcMicros: 900_000, hasDeeplink: false }),
			campaign({ campaignId: 2, epcMicros: 100_000 }),
		];
		expect(hold(deeplink("https://shoes.example/"), { brands: [brand({ campaigns })] })).toMatchObject({ price: 500, isDeeplink: true });
		const none = [campaign({ hasDeeplink: false })];
		expect(hold(deeplink("https://shoes.example/"), { brands: [brand({ campaigns: none })] })).toEqual(noBid("no_deeplink_campaign"));
		expect(hold(deeplink("https://shoes.example/", true), { brands: [brand({ campaigns: none })] })).toMatchObject({ isDeeplink: false });
	});

	test("is served by a campaign that has no homepage link", () => {
		const brands = [brand({ campaigns: [campaign({ hasHomepage: false })] })];
		expect(hold(deeplink("https://shoes.example/"), { brands })).toMatchObject({ outcome: "bid", isDeeplink: true });
	});

	test("never turns a no-bid into a bid: caps, hours, blocks and floors hold for it too", () => {
		const at = deeplink("https://shoes.example/");
		expect(hold(at, { isPaused: () => true })).toEqual(noBid("cap_met"));
		expect(hold(at, { brands: [brand({ campaigns: [campaign({ allowedHours: hours(3) })] })] })).toEqual(noBid("outside_hours"));
		expect(hold({ ...at, floor: { kind: "usd", amount: 0.21 } })).toEqual(noBid("below_floor"));
		expect(hold(at, { brands: [brand({ active: false })] })).toEqual(noBid("brand_inactive"));
	});
});
