import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AuctionBook, type AuctionRequest, MAX_CONSIDERED, runAuction } from "../../../src/bidding/auction.ts";
import { isBlocked, MAX_ADDRESSES, MAX_PARSED_ENTRIES, readBlockedHosts } from "../../../src/bidding/blocked-hosts.ts";
import { canonicalHost } from "../../../src/lib/host.ts";
import { MAX_ID_LENGTH, readBidRequest } from "../../../src/openrtb/read-request.ts";
import { MAX_LIST_ENTRIES } from "../../../src/openrtb/read-values.ts";
import { auctionBook, auctionRequest, brand, campaign } from "../../support/auction-parts.ts";

const NOON = Date.parse("2026-11-18T12:00:00Z");
const hold = (request: Partial<AuctionRequest>, book: Partial<AuctionBook> = {}) =>
	runAuction(auctionRequest(request), auctionBook(book), NOON);
const TOO_COMPLEX = { outcome: "no-bid", reason: "too_complex" };

describe("unit: what an auction may cost", () => {
	test("entries of badv that only a URL parser can read are bounded, however many brands share a keyword", () => {
		const brands = Array.from({ length: 300 }, (_, at) => brand({ brandId: at, domain: `shop-${at}.example` }));
		const junk = (count: number) => Array.from({ length: count }, () => "b c");
		expect(hold({ blockedAdvertisers: junk(400) }, { brands })).toEqual(TOO_COMPLEX);
		expect(hold({ blockedAdvertisers: junk(MAX_PARSED_ENTRIES) }, { brands }).outcome).toBe("bid");
	});

	test("no list is read for an advertiser that nobody knows", () => {
		const blockedAdvertisers = ["b c"];
		Object.defineProperty(blockedAdvertisers, 0, { get: () => expect.unreachable("an entry was read") });
		expect(() => hold({ blockedAdvertisers })).toThrow();
		expect(hold({ blockedAdvertisers }, { brands: [] })).toEqual({ outcome: "no-bid", reason: "unknown_advertiser" });
	});

	test("plain hosts may fill the whole list", () => {
		const hosts = Array.from({ length: MAX_LIST_ENTRIES }, (_, at) => ` Rival-${at}.Example`);
		expect(hold({ blockedAdvertisers: hosts }).outcome).toBe("bid");
		expect(hold({ blockedAdvertisers: [...hosts, "SHOES.example "] })).toMatchObject({ reason: "advertiser_not_accepted" });
	});

	test("a quarter of it may be addresses of plain hosts, as some exchanges send them", () => {
		const addresses = Array.from({ length: MAX_ADDRESSES - 1 }, (_, at) => `http://www.Rival-${at}.example/?a=b`);
		expect(hold({ blockedAdvertisers: addresses }).outcome).toBe("bid");
		expect(hold({ blockedAdvertisers: [...addresses, "https://WWW.shoes.example/sale"] })).toMatchObject({
			reason: "advertiser_not_accepted",
		});
		expect(hold({ blockedAdvertisers: [...addresses, "http://a.example", "http://b.example"] })).toEqual(TOO_COMPLEX);
	});

	test.each(["badv", "wseat", "bseat", "cur"])("a longer %s is a no-bid, not a shorter list", (name) => {
		const read = readBidRequest({ id: "a", imp: [{ id: "1" }], [name]: new Array(MAX_LIST_ENTRIES + 1).fill("USD") });
		expect(read?.tooComplex).toBe(true);
		expect(hold({ tooComplex: true })).toEqual(TOO_COMPLEX);
		expect(readBidRequest({ id: "a", imp: [{ id: "1" }], [name]: new Array(MAX_LIST_ENTRIES).fill("USD") })?.tooComplex).toBe(false);
	});

	test("an id that is too long to repeat is a no-bid, of the request and of the impression", () => {
		const longest = "i".repeat(MAX_ID_LENGTH);
		expect(readBidRequest({ id: longest, imp: [{ id: longest }] })?.tooComplex).toBe(false);
		expect(readBidRequest({ id: `${longest}i`, imp: [{ id: "1" }] })?.tooComplex).toBe(true);
		expect(readBidRequest({ id: "a", imp: [{ id: `${longest}i` }] })?.tooComplex).toBe(true);
	});

	test("campaigns that share a keyword are looked at up to a bound; one among them that bids is the answer", () => {
		const candidate = (at: number, active: boolean) =>
			brand({
				brandId: at,
				domain: `shop-${at}.example`,
				campaigns: [campaign({ campaignId: at, active, keywordEpcMicros: new Map([["boots", 900_000 - at]]) })],
			});
		const inactive = Array.from({ length: MAX_CONSIDERED }, (_, at) => candidate(at, false));
		const request = { domain: null, keyword: "boots" };
		expect(hold(request, { brands: inactive })).toMatchObject({ reason: "no_campaign" });
		expect(hold(request, { brands: [...inactive, candidate(MAX_CONSIDERED, true)] })).toEqual(TOO_COMPLEX);
		expect(hold(request, { brands: [...inactive.slice(1), candidate(MAX_CONSIDERED, true)] }).outcome).toBe("bid");
	});
});

describe("unit: blocked hosts", () => {
	test.each([
		["shoes.example", "shoes.example", true],
		["a.shoes.example", "shoes.example", true],
		["shoes.example", "a.shoes.example", false],
		["ashoes.example", "shoes.example", false],
		["shoes.example", "https://www.Shoes.example/path", true],
		["shoes.example", "example", false],
		["shoes.example", "https://shoes.example:8443/", true],
		["shoes.example", "https://rival.example@shoes.example/", true],
		["rival.example", "https://rival.example@shoes.example/", false],
		["shoes.example", "https://shoes.example./", true],
		["shoes.example", "https://shoes.example#a", true],
		["shoes.example", "shoes.example/rival.example", true],
		["shoes.example", "ftp://shoes.example/", false],
		["a.shoes.example", "*.shoes.example", true],
		["shoes.example", " *.Shoes.example", true],
		["a.shoes.example", ".shoes.example", true],
		["shoes.example", "*shoes.example", false],
		["shoes.example", "*.*.shoes.example", false],
	])("%s is blocked by %s: %s", (host, entry, expected) => {
		expect(isBlocked(host, readBlockedHosts([entry]) ?? new Set())).toBe(expected);
	});

	test("an entry is the host that the URL parser reads of it, after a wildcard", () => {
		const part = fc.constantFrom(
			"shoes",
			"0x1",
			"1",
			".",
			"-",
			"_",
			"xn--",
			"a:80",
			"@",
			"/",
			"?",
			"#",
			"\\",
			" ",
			"ü",
			"%41",
			"www.",
			"*.",
			"://",
		);
		const entry = fc.tuple(fc.constantFrom("", "http://", "HTTPS://", "ftp://"), fc.array(part, { maxLength: 6 }));
		fc.assert(
			fc.property(entry, ([scheme, parts]) => {
				const text = `${scheme}${parts.join("")}`;
				const host = canonicalHost(
					text
						.trim()
						.toLowerCase()
						.replace(/^\*?\./, ""),
				);
				expect(readBlockedHosts([text])).toEqual(new Set(host === null ? [] : [host]));
			}),
			{ numRuns: 3_000 },
		);
	});
});
