import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BidRequest, readBidRequest } from "../../../src/openrtb/read-request.ts";
import { fullRequest, type Json, leastRequest, set } from "../../support/bid-requests.ts";

function read(body: unknown): BidRequest {
	const request = readBidRequest(body);
	if (request === null) throw new Error("the request was refused");
	return request;
}

describe("unit: a whole request", () => {
	test("every field of the interface's request table is read", () => {
		expect(read(fullRequest())).toEqual({
			id: "auction-1",
			impId: "imp-1",
			country: "USA",
			domain: "shoes.example",
			search: "running shoes",
			keywords: "boots",
			page: "https://news.example/article",
			deeplink: "https://shoes.example/imp",
			altered: true,
			privateAuction: false,
			floor: { kind: "usd", amount: 0.1 },
			test: false,
			tmaxMs: 120,
			clickId: "click-7",
			publisherClickId: "click-7",
			privacy: null,
			buyerUid: "buyer-4",
			tagId: "placement-9",
			ip: "203.0.113.7",
			ipv6: "2001:db8::1",
			userAgent: "Mozilla/5.0",
			blockedAdvertisers: ["rival.example"],
			allowedSeats: ["acme-seat"],
			blockedSeats: ["other-seat"],
			currencies: ["USD"],
			tooComplex: false,
		});
	});

	test("what is omitted is absent", () => {
		expect(read(leastRequest())).toEqual({
			id: "auction-1",
			impId: "imp-1",
			country: null,
			domain: "shoes.example",
			search: null,
			keywords: null,
			page: null,
			deeplink: null,
			altered: false,
			privateAuction: false,
			floor: { kind: "none" },
			test: false,
			tmaxMs: null,
			clickId: null,
			publisherClickId: null,
			privacy: null,
			buyerUid: null,
			tagId: null,
			ip: null,
			ipv6: null,
			userAgent: null,
			blockedAdvertisers: [],
			allowedSeats: [],
			blockedSeats: [],
			currencies: [],
			tooComplex: false,
		});
	});
});

describe("unit: what makes a request invalid", () => {
	test.each<[string, unknown]>([
		["null", null],
		["a number", 7],
		["text", "{}"],
		["a list", [fullRequest()]],
		["nothing in it", {}],
		["no id", set(leastRequest(), "id", undefined)],
		["a null id", set(leastRequest(), "id", null)],
		["a blank id", set(leastRequest(), "id", " \t")],
		["an id that is a number", set(leastRequest(), "id", 7)],
		["an id that is an object", set(leastRequest(), "id", {})],
		["no imp", set(leastRequest(), "imp", undefined)],
		["a null imp", set(leastRequest(), "imp", null)],
		["no impression", set(leastRequest(), "imp", [])],
		["an imp that is text", set(leastRequest(), "imp", "imp-1")],
		["a first impression that is null", set(leastRequest(), "imp", [null, { id: "imp-2" }])],
		["a first impression that is a list", set(leastRequest(), "imp", [[{ id: "imp-1" }]])],
		["a first impression without id", set(leastRequest(), "imp", [{ bidfloor: 1 }, { id: "imp-2" }])],
		["a first impression with a blank id", set(leastRequest(), "imp.0.id", "")],
		["a first impression whose id is a number", set(leastRequest(), "imp.0.id", 1)],
		["a single impression without id", set(leastRequest(), "imp", { bidfloor: 1 })],
	])("%s", (_, body) => {
		expect(readBidRequest(body)).toBeNull();
	});

	test("nothing else: any value in any other field leaves it valid", () => {
		const base = fullRequest();
		const path = fc.constantFrom(
			...["imp.0.tagid", "imp.0.bidfloor", "imp.0.bidfloorcur", "imp.0.native", "imp.0.native.ext", "imp.0.native.ext.alt", "imp.0.ext"],
			...["imp.0.ext.deeplink", "site", "site.domain", "site.page", "site.search", "site.publisher", "site.publisher.id", "site.ext"],
			...["app", "app.domain", "device", "device.ip", "device.geo", "device.geo.country", "user", "user.id", "user.buyeruid"],
			...["user.keywords", "user.geo", "ext", "ext.deeplink", "test", "tmax", "cur", "badv", "wseat", "bseat", "at", "bcat"],
		);
		fc.assert(
			fc.property(path, fc.jsonValue(), (at, value) => {
				const request = readBidRequest(set(base, at, value as Json));
				expect(request?.id).toBe("auction-1");
				expect(request?.impId).toBe("imp-1");
			}),
			{ numRuns: 1_000 },
		);
	});
});

describe("unit: ids", () => {
	test("are kept as sent", () => {
		const body = set(set(leastRequest(), "id", " Ä-\ud83d\ude00 "), "imp.0.id", "1 ");
		expect(read(body)).toMatchObject({ id: " Ä-\ud83d\ude00 ", impId: "1 " });
	});
});

describe("unit: the impression", () => {
	test("only the first is read", () => {
		const body = set(leastRequest(), "imp", [
			{ id: "first", bidfloor: 0.2 },
			{ id: "second", bidfloor: 9, tagid: "t" },
		]);
		expect(read(body)).toMatchObject({ impId: "first", floor: { kind: "usd", amount: 0.2 }, tagId: null });
	});

	test("a single object counts as the first", () => {
		expect(read(set(leastRequest(), "imp", { id: "only", tagid: "t" }))).toMatchObject({ impId: "only", tagId: "t" });
	});
});

describe("unit: text fields", () => {
	const FIELDS = [
		["site.domain", "domain"],
		["app.domain", "domain"],
		["site.search", "search"],
		["user.keywords", "keywords"],
		["site.page", "page"],
		["imp.0.tagid", "tagId"],
		["site.publisher.id", "clickId"],
		["user.id", "clickId"],
		["user.buyeruid", "buyerUid"],
		["device.ip", "ip"],
		["imp.0.ext.deeplink", "deeplink"],
		["site.ext.deeplink", "deeplink"],
		["app.ext.deeplink", "deeplink"],
		["ext.deeplink", "deeplink"],
		["imp.0.native.ext.url", "deeplink"],
	] as const;
	const bare = set(leastRequest(), "site.domain", undefined);

	test.each(FIELDS)("%s is read as %s: text as sent, a number as its digits, anything else and blanks as absent", (path, field) => {
		expect(read(set(bare, path, "value-1"))[field]).toBe("value-1");
		expect(read(set(bare, path, 42))[field]).toBe("42");
		expect(read(set(bare, path, 0))[field]).toBe("0");
		expect(read(set(bare, path, 0.5))[field]).toBe("0.5");
		for (const absent of [null, "", "  ", true, false, {}, [], ["value-1"]]) expect(read(set(bare, path, absent))[field]).toBeNull();
	});

	test.each([
		["domain", "site.domain", "app.domain"],
		["clickId", "site.publisher.id", "user.id"],
		["country", "device.geo.country", "user.geo.country"],
		["deeplink", "imp.0.ext.deeplink", "site.ext.deeplink"],
		["deeplink", "site.ext.deeplink", "app.ext.deeplink"],
		["deeplink", "app.ext.deeplink", "ext.deeplink"],
		["deeplink", "ext.deeplink", "imp.0.native.ext.url"],
	] as const)("%s: %s goes before %s, which counts where the first is empty, null or omitted", (field, first, second) => {
		const both = set(set(bare, first, "ONE"), second, "TWO");
		expect(read(both)[field]).toBe("ONE");
		expect(read(set(both, first, ""))[field]).toBe("TWO");
		expect(read(set(both, first, null))[field]).toBe("TWO");
		expect(read(set(both, first, undefined))[field]).toBe("TWO");
	});
});

describe("unit: tolerance", () => {
	test("unknown fields, the order of keys and added nulls change nothing", () => {
		const expected = read(fullRequest());
		fc.assert(
			fc.property(fc.integer(), fc.jsonValue(), (seed, value) => {
				const body = decorate(fullRequest(), seed, value as Json);
				expect(read(body)).toEqual(expected);
			}),
		);
	});

	test("never throws, whatever the body", () => {
		fc.assert(
			fc.property(fc.jsonValue({ maxDepth: 5 }), (body) => {
				readBidRequest(body);
			}),
			{ numRuns: 1_000 },
		);
	});
});

/** The same request with its keys in another order, and with fields that nobody knows. */
function decorate(value: Json, seed: number, unknown: Json): Json {
	if (Array.isArray(value)) return value.map((item) => decorate(item, seed, unknown));
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).map(([key, item]): [string, Json] => [key, decorate(item, seed, unknown)]);
	const at = Math.abs(seed) % (entries.length + 1);
	const rotated = [...entries.slice(at), ...entries.slice(0, at)];
	if (seed % 2 === 0) rotated.reverse();
	return Object.fromEntries([["x_unknown", unknown], ...rotated, ["x_null", null]]);
}
