/** GET /api/marketplace-seller-products/search on real D1. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { MAX_CANDIDATES } from "../../src/products/affiliate-query.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { getSearch, openLink, PUBLISHER_HEADERS, searchMarketplace, sellerEntry } from "../support/product-search.ts";

const DEEPLINKS = { deeplink_url: "https://track.example/d?sub={click_id}&u={deeplink}", deeplink_verified: true };
const BARRED = {
	...ACME,
	id: "barred",
	publisher_id: "1002",
	publisher_identity: "barred_rtb",
	access_key: null,
	publisher_key: "publisher-key-barred",
};
const OUTFITTERS = { seller_id: "S-77", seller_name: "Example Outfitters" };

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [
			{ ...ACME, marketplace_tag: "acme-20" },
			{ ...BARRED, blocked_brands: [{ domain: "marketplace.example" }] },
		],
		brands: [
			brandEntry("marketplace.example", 1, { marketplace: true }, DEEPLINKS),
			brandEntry("bazaar.example", 2, { marketplace: true }, DEEPLINKS),
			brandEntry("closed.example", 3, { marketplace: true, active: false }),
		],
		seller_products: [
			sellerEntry("B000TEST01", "Steel water bottle", {
				...OUTFITTERS,
				description: "Keeps cold for a day",
				manufacturer: "Example Steel",
				category: "Kitchen",
				catalog_name: "Home",
				current_price: "19.9900",
				image_url: "https://cdn.marketplace.example/b.jpg",
				stock_availability: "InStock",
			}),
			sellerEntry("B000TEST02", "Sold-out bottle", { ...OUTFITTERS, stock_availability: "out of stock", current_price: "0.12345" }),
			sellerEntry("B000TEST03", null, { seller_id: "S-9", seller_name: "élan & Co", manufacturer: "Nameless" }),
			sellerEntry("B000TEST04", "Carpet", { domain: "bazaar.example", url: "https://bazaar.example/4" }),
			sellerEntry("B000TEST05", "Carpet", { domain: "closed.example", url: "https://closed.example/5" }),
			...Array.from({ length: 45 }, (_, at) =>
				sellerEntry(`L${at}`, `Lamp ${at}${at % 3 ? " with shade" : ""}`, { seller_id: `S-${at % 2}` }),
			),
		],
	});
});

describe("worker: parameters of the marketplace search", () => {
	it.each([
		["missing", {}],
		["unknown", { PublisherKey: "publisher-key-nobody" }],
		["an access key", { PublisherKey: "access-key-acme" }],
	])("key %s: 401", async (_name, headers) => {
		const response = await getSearch("marketplace-seller-products", { q: "bottle" }, headers as Record<string, string>);
		expect(response.status).toBe(401);
		expect(await response.json()).toEqual({ error: "Unauthorized" });
	});

	it("an AccessKey beside the PublisherKey does not matter here", async () => {
		expect((await searchMarketplace({ q: "steel" }, { ...PUBLISHER_HEADERS, AccessKey: "access-key-acme" })).total).toBe(1);
	});

	it.each(["", "q=", "q=%20&seller=", "query=bottle"])("neither q nor seller (%s): 422 on q", async (query) => {
		const response = await getSearch("marketplace-seller-products", query);
		expect(response.status).toBe(422);
		expect(await response.json()).toEqual({ error: "Validation failed", messages: { q: [expect.any(String)] } });
	});

	it("q has at most 255 characters", async () => {
		expect((await getSearch("marketplace-seller-products", { q: "ü".repeat(255) })).status).toBe(200);
		const response = await getSearch("marketplace-seller-products", { q: "b".repeat(256) });
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ messages: { q: [expect.any(String)] } });
	});

	it.each(["0", "-1", "1.5", "two", "1e3", "NaN", "０"])("page and per_page of %s: 422 that names them", async (value) => {
		const response = await getSearch("marketplace-seller-products", { q: "lamp", page: value, per_page: value });
		expect(response.status).toBe(422);
		expect(await response.json()).toEqual({
			error: "Validation failed",
			messages: { page: [expect.any(String)], per_page: [expect.any(String)] },
		});
	});

	it("page is 1 and per_page 20 where they are absent or blank; per_page over 100 is 100", async () => {
		expect(await searchMarketplace({ q: "lamp" })).toMatchObject({ total: 45, page: 1, per_page: 20, last_page: 3 });
		expect(await searchMarketplace({ q: "lamp", page: "", per_page: "" })).toMatchObject({ page: 1, per_page: 20 });
		for (const value of ["101", "99999999999999999999"]) {
			expect(await searchMarketplace({ q: "lamp", per_page: value })).toMatchObject({ per_page: 100, last_page: 1 });
		}
	});

	it("a page behind all there can be is 422", async () => {
		const response = await getSearch("marketplace-seller-products", { q: "lamp", page: "99999999999999999999" });
		expect([response.status, await response.json()]).toEqual([
			422,
			{ error: "Validation failed", messages: { page: [expect.any(String)] } },
		]);
	});

	it.each(["!!!", "😀", '"', "\u0000"])("q without a word (%j): nothing, in the envelope", async (q) => {
		expect(await searchMarketplace({ q })).toEqual({ total: 0, page: 1, per_page: 20, last_page: 1, results: [] });
	});
});

describe("worker: a marketplace result", () => {
	it("has every field of the interface, text or null", async () => {
		const { results } = await searchMarketplace({ q: "steel bottle" });
		expect(results).toEqual([
			{
				name: "Steel water bottle",
				description: "Keeps cold for a day",
				manufacturer: "Example Steel",
				category: "Kitchen",
				catalog_name: "Home",
				asin: "B000TEST01",
				current_price: "19.9900",
				image_url: "https://cdn.marketplace.example/b.jpg",
				stock_availability: "InStock",
				redirect_url: expect.any(String),
			},
		]);
		const [nameless] = (await searchMarketplace({ q: "nameless" })).results;
		expect(nameless).toEqual({
			name: null,
			description: null,
			manufacturer: "Nameless",
			category: null,
			catalog_name: null,
			asin: "B000TEST03",
			current_price: null,
			image_url: null,
			stock_availability: null,
			redirect_url: expect.any(String),
		});
	});

	it("lists what is sold out, its price to four decimals", async () => {
		const [sold] = (await searchMarketplace({ q: "sold-out bottle" })).results;
		expect(sold).toMatchObject({ stock_availability: "OutOfStock", current_price: "0.1235" });
	});

	it("links by a click URL that carries the publisher's marketplace tag", async () => {
		const [bottle] = (await searchMarketplace({ q: "steel" })).results;
		const { parameters, token } = await openLink(bottle?.redirect_url ?? "");
		expect(parameters).toEqual({ cc: "US", dl: "https://marketplace.example/dp/B000TEST01", atag: "acme-20" });
		expect(token).toMatchObject({ kind: "link", publisher: "acme_rtb", domain: "marketplace.example", campaignId: 1 });
	});
});

describe("worker: which seller products are found", () => {
	it("by text of any field, and by ASIN", async () => {
		for (const q of ["bottles steel", "kitchen", "home", "cold", "example steel", "b000test01"]) {
			expect((await searchMarketplace({ q })).results.map(({ asin }) => asin)).toContain("B000TEST01");
		}
	});

	it.each(["S-77", "s-77", "Example Outfitters", "EXAMPLE OUTFITTERS"])("by the seller's id or name, whole: %s", async (seller) => {
		expect((await searchMarketplace({ seller })).results.map(({ asin }) => asin)).toEqual(["B000TEST01", "B000TEST02"]);
		expect((await searchMarketplace({ seller, q: "steel" })).results.map(({ asin }) => asin)).toEqual(["B000TEST01"]);
	});

	it("not by a part of the seller's name", async () => {
		for (const seller of ["Example", "Outfitters", "S", "%", "' OR 1=1 --", '"', "S-77*"]) {
			expect((await searchMarketplace({ seller })).total).toBe(0);
		}
		expect((await searchMarketplace({ seller: "élan & co" })).total).toBe(1);
	});

	it("not of brands that may not be promoted", async () => {
		expect((await searchMarketplace({ q: "carpet" })).results.map(({ asin }) => asin)).toEqual(["B000TEST04"]);
		expect((await searchMarketplace({ q: "carpet" }, { PublisherKey: "publisher-key-barred" })).total).toBe(1);
		expect(await searchMarketplace({ q: "bottle" }, { PublisherKey: "publisher-key-barred" })).toMatchObject({ total: 0, results: [] });
	});
});

describe("worker: pages", () => {
	it("hold every match once, in one order whatever the size of a page", async () => {
		const whole = (await searchMarketplace({ q: "lamp shade", per_page: "100" })).results.map(({ asin }) => asin);
		expect(whole).toHaveLength(30);
		for (const size of [1, 7, 30]) {
			const pages = Array.from({ length: Math.ceil(30 / size) }, (_, at) => at + 1);
			const answers = await Promise.all(pages.map((page) => searchMarketplace({ q: "lamp shade", page: `${page}`, per_page: `${size}` })));
			expect(answers.flatMap(({ results }) => results.map(({ asin }) => asin))).toEqual(whole);
			expect(new Set(answers.map(({ total, last_page }) => `${total} ${last_page}`))).toEqual(new Set([`30 ${pages.length}`]));
		}
	});

	it("begin with what has just this title, and what is written otherwise is found where nothing else is", async () => {
		const description = "It boils. ".repeat(300);
		const lids = Array.from({ length: 12 }, (_, at) => sellerEntry(`Z${at}`, `Lid for Zephyr Deluxe 2000, size ${at}`));
		await importFile({
			seller_products: [...lids, sellerEntry("Z", "Zephyr Deluxe 2000", { description }), sellerEntry("C", "Coca-Cola Mug")],
		});
		const asinsOf = async (query: Record<string, string>) => (await searchMarketplace(query)).results.map(({ asin }) => asin);
		const pages = await Promise.all(["1", "2", "3"].map((page) => asinsOf({ q: "zephyr deluxe 2000", page, per_page: "5" })));
		expect([pages[0]?.[0], new Set(pages.flat()).size]).toEqual(["Z", 13]);
		expect(await asinsOf({ q: "cocacola mug" })).toEqual(["C"]);
		await env.PRODUCTS.prepare("DELETE FROM seller_products WHERE asin IN ('C', 'Z') OR name LIKE 'Lid for%'").run();
	});

	it("go on behind the matches that are ranked", async () => {
		const extra = 30;
		await env.PRODUCTS.prepare(
			`INSERT INTO seller_products (asin, seller_id, domain, name, url)
				SELECT 'T' || value, 'T', 'marketplace.example', 'Thimble', 'https://marketplace.example/t' FROM json_each(?)`,
		)
			.bind(JSON.stringify(Array.from({ length: MAX_CANDIDATES + extra }, (_, at) => at + 1)))
			.run();
		const asinsOf = async (page: number, perPage: number) => {
			const { total, results } = await searchMarketplace({ q: "thimble", page: `${page}`, per_page: `${perPage}` });
			expect(total).toBe(MAX_CANDIDATES + extra);
			return results.map(({ asin }) => asin);
		};
		// Pages of 60 do not end where ranking does: the one across it has some of both.
		const across = Math.floor(MAX_CANDIDATES / 60) + 1;
		const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `T${from + at}`);
		expect(await asinsOf(across, 60)).toEqual(numbers((across - 1) * 60 + 1, MAX_CANDIDATES + extra));
		expect(await asinsOf(MAX_CANDIDATES / 10 + 2, 10)).toEqual(numbers(MAX_CANDIDATES + 11, MAX_CANDIDATES + 20));
		await env.PRODUCTS.prepare("DELETE FROM seller_products WHERE seller_id = 'T'").run();
	});

	it("past the last are empty, and say how many there are", async () => {
		for (const page of ["4", "1000000000"]) {
			expect(await searchMarketplace({ q: "lamp", page })).toEqual({
				total: 45,
				page: Number(page),
				per_page: 20,
				last_page: 3,
				results: [],
			});
		}
	});
});

describe("worker: the products database fails", () => {
	afterEach(async () => {
		await env.PRODUCTS.prepare("ALTER TABLE seller_products_away RENAME TO seller_products").run();
	});

	it("500, in the shape of the other search", async () => {
		await env.PRODUCTS.prepare("ALTER TABLE seller_products RENAME TO seller_products_away").run();
		const response = await getSearch("marketplace-seller-products", { q: "bottle" });
		expect(response.status).toBe(500);
		expect(await response.json()).toEqual({ error: "Search failed.", message: expect.any(String) });
	});
});
