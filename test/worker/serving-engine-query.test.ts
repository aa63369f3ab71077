import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readServingEngineQuery } from "../../src/bidding/serving-engine-route.ts";

function read(query: string) {
	const result = readServingEngineQuery(query);
	if (!result.ok) throw new Error(result.error);
	return result;
}

describe("worker: the Serving Engine's query", () => {
	test("every parameter of the interface is read", () => {
		const query = new URLSearchParams({
			...{ pubi: "1001", bd: "https://shoes.example/", cc: "US", ua: "Mozilla/5.0", kw: "Running Shoes", ip: "203.0.113.7" },
			...{ dl: "https://shoes.example/p", clickid: "c-1", subid: "s-1", fbid: "0.25", ref: "https://news.example/" },
		});
		expect(read(query.toString())).toEqual({
			ok: true,
			publisherId: "1001",
			auction: {
				country: "US",
				domain: "https://shoes.example/",
				source: "s-1",
				keyword: "running shoes",
				deeplink: { url: "https://shoes.example/p", hadScheme: true },
				homepageInstead: true,
				privateAuction: false,
				floor: { kind: "usd", amount: 0.25 },
				blockedAdvertisers: [],
				allowedSeats: [],
				blockedSeats: [],
				currencies: [],
				categories: null,
				tooComplex: false,
				privacy: null,
			},
			clickId: "c-1",
			sourceId: "s-1",
			ip: "203.0.113.7",
			userAgent: "Mozilla/5.0",
		});
	});

	test("an empty or blank optional parameter is absent", () => {
		const empty = read("pubi=1001&bd=shoes.example&cc=US&kw=&dl=&clickid=%20&subid=&fbid=&ip=");
		expect(empty).toEqual(read("pubi=1001&bd=shoes.example&cc=US"));
		expect(empty).toMatchObject({
			auction: { keyword: null, deeplink: null, floor: { kind: "none" } },
			clickId: null,
			sourceId: null,
			ip: null,
		});
	});

	test.each([
		["", "publisher id"],
		["bd=shoes.example&cc=US", "publisher id"],
		["pubi=&bd=shoes.example&cc=US", "publisher id"],
		["pubi=1001&bd=shoes.example", "country code"],
		["pubi=1001&bd=shoes.example&cc=%20", "country code"],
		["pubi=1001&cc=US", "brand domain"],
		["pubi=1001&cc=US&bd=", "brand domain"],
	])("%j lacks the %s and says so", (query, missing) => {
		const result = readServingEngineQuery(query);
		expect(result.ok ? "" : result.error).toContain(`${missing} is required`);
	});

	test.each([
		["us", "US"],
		["USA", "US"],
		[" gb ", "GB"],
	])("the country %j is %s", (sent, country) => {
		expect(read(`pubi=1001&bd=shoes.example&cc=${encodeURIComponent(sent)}`).auction.country).toBe(country);
	});

	test("a floor that cannot be read is kept as that", () => {
		expect(read("pubi=1&bd=a.example&cc=US&fbid=free").auction.floor).toEqual({ kind: "unusable" });
	});

	test("the first of a repeated parameter counts", () => {
		expect(read("pubi=1&pubi=2&bd=a.example&bd=b.example&cc=US")).toMatchObject({ publisherId: "1", auction: { domain: "a.example" } });
	});

	test("never throws, whatever the query", () => {
		fc.assert(
			fc.property(
				fc.oneof(fc.string({ unit: "binary" }), fc.webQueryParameters(), fc.constantFrom("%", "%zz", "pubi=%ff&bd=%00&cc=%d8")),
				(query) => {
					readServingEngineQuery(query);
				},
			),
		);
	});
});
