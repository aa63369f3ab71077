/** GET /api/products/search on real D1. */
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { MAX_CANDIDATES } from "../../src/products/affiliate-query.ts";
import { KeptNetwork } from "../../src/products/kept-network.ts";
import { clickRows, follow } from "../support/clicks.ts";
import { ACME, brandEntry, importExactly, importFile, NORTHWIND } from "../support/network-import.ts";
import { getSearch, openLink, PUBLISHER_HEADERS, productEntry, searchAffiliate } from "../support/product-search.ts";

const DEEPLINKS = { deeplink_url: "https://track.example/d?sub={click_id}&u={deeplink}", deeplink_verified: true };
const RIVAL = {
	...ACME,
	id: "rival",
	publisher_id: "1002",
	publisher_identity: "rival_rtb",
	access_key: "access-key-rival",
	publisher_key: "publisher-key-rival",
};

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [
			{ ...ACME, marketplace_tag: "acme-20", blocked_brands: [{ domain: "blocked.example" }, { domain: "half.example", country: "US" }] },
			RIVAL,
		],
		brands: [
			brandEntry("shoes.example", 1, { name: "Shoes & Co", aliases: ["shoes-outlet.example"] }, DEEPLINKS),
			brandEntry("hats.example", 2),
			brandEntry("blocked.example", 3),
			brandEntry("asleep.example", 4, { active: false }),
			brandEntry("idle.example", 5, {}, { active: false }),
			brandEntry("market.example", 6, { marketplace: true }, DEEPLINKS),
			brandEntry("barred.example", 30, { blocked_countries: ["US"] }),
			{
				...brandEntry("abroad.example", 31, { blocked_countries: ["US"] }),
				campaigns: [...brandEntry("abroad.example", 31).campaigns, ...brandEntry("abroad.example", 32, {}, { country: "CA" }).campaigns],
			},
			{
				...brandEntry("half.example", 7),
				campaigns: [...brandEntry("half.example", 7).campaigns, ...brandEntry("half.example", 8, {}, { country: "CA" }).campaigns],
			},
			{
				...brandEntry("many.example", 20),
				campaigns: [
					...brandEntry("many.example", 20).campaigns,
					...brandEntry("many.example", 21, {}, { ...DEEPLINKS, country: "CA" }).campaigns,
					...brandEntry("many.example", 22, {}, { ...DEEPLINKS, daily_click_cap: 0 }).campaigns,
					...brandEntry("many.example", 23, {}, DEEPLINKS).campaigns,
					...brandEntry("many.example", 24, {}, DEEPLINKS).campaigns,
				],
			},
		],
		products: [
			productEntry("S-1", "Trail running shoes, blue", {
				brand: "Example Sport",
				category: "Footwear",
				description: "Light for rough ground",
				image_url: "https://cdn.shoes.example/1.jpg",
				regular_price: "120.00",
				final_price: "89.90",
			}),
			productEntry("S-2", "Crème brûlée torch", { regular_price: "5.00", final_price: "5.00", currency: "EUR", availability: "in_stock" }),
			productEntry("S-3", "Sold-out slippers", { availability: "out of stock" }),
			productEntry("S-4", "Bus model", { availability: "https://schema.org/InStock" }),
			productEntry("S-5", "Bucket"),
			productEntry("S-6", "Lantern", { description: "goes with the zebra bag" }),
			productEntry("S-7", "Zebra bag"),
			productEntry("H-1", "Straw hat", { domain: "hats.example", url: "https://hats.example/p/1" }),
			productEntry("B-1", "Straw basket", { domain: "blocked.example", url: "https://blocked.example/p/1" }),
			productEntry("A-1", "Straw pillow", { domain: "asleep.example", url: "https://asleep.example/p/1" }),
			productEntry("I-1", "Straw mat", { domain: "idle.example", url: "https://idle.example/p/1" }),
			productEntry("E-1", "Straw bag", { domain: "barred.example", url: "https://barred.example/p/1" }),
			productEntry("F-1", "Kite", { domain: "abroad.example", url: "https://abroad.example/p/1" }),
			productEntry("U-1", "Straw doll", { domain: "unknown.example", url: "https://unknown.example/p/1" }),
			productEntry("M-1", "Mug", { domain: "market.example", url: "https://market.example/dp/1?a=b&c=d" }),
			productEntry("X-1", "Halved apple", { domain: "half.example", url: "https://half.example/1" }),
			productEntry("Y-1", "Manifold", { domain: "many.example", url: "https://many.example/1" }),
			...Array.from({ length: 25 }, (_, at) => productEntry(`K-${at}`, `Kettle number ${at}`)),
			...Array.from({ length: 70 }, (_, at) =>
				productEntry(`Q-${at}`, `Quilt`, { domain: "blocked.example", url: "https://blocked.example/q" }),
			),
			productEntry("Q-own", "A quilt of wool, hidden behind many others by its long name", {}),
		],
	});
});

const idsOf = async (keyword: string, more: Record<string, string> = {}, headers?: Record<string, string>) =>
	(await searchAffiliate({ keyword, ...more }, headers)).results.map(({ id }) => id);

describe("worker: key of the affiliate search", () => {
	it.each([
		["missing", {}],
		["unknown", { PublisherKey: "publisher-key-nobody" }],
		["an access key", { PublisherKey: "access-key-acme" }],
		["beside an AccessKey", { ...PUBLISHER_HEADERS, AccessKey: "access-key-acme" }],
		["beside a blank AccessKey", { ...PUBLISHER_HEADERS, AccessKey: "" }],
	])("%s: 401, also before the keyword is looked at", async (_name, headers) => {
		for (const query of ["keyword=shoes", ""]) {
			const response = await getSearch("products", query, headers as Record<string, string>);
			expect(response.status).toBe(401);
			expect(await response.json()).toEqual({ error: "Unauthorized" });
		}
	});
});

describe("worker: keyword of the affiliate search", () => {
	it.each(["", "keyword=", "keyword=%20%20", "kw=shoes"])("missing or blank (%s): 422", async (query) => {
		const response = await getSearch("products", query);
		expect(response.status).toBe(422);
		expect(await response.json()).toEqual({ error: "Validation failed", messages: { keyword: ["The keyword field is required."] } });
	});

	it("has at most 255 characters, however many bytes each has", async () => {
		expect((await getSearch("products", { keyword: "é".repeat(255) })).status).toBe(200);
		expect((await getSearch("products", { keyword: "😀".repeat(255) })).status).toBe(200);
		const response = await getSearch("products", { keyword: "s".repeat(256) });
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ error: "Validation failed", messages: { keyword: [expect.any(String)] } });
	});

	it.each([" Trail  SHOES ", "TRAIL Schuh-Größe", "Xyzzy  ÄÖ", "%2B+&"])("comes back as it was sent: %j", async (keyword) => {
		expect((await searchAffiliate({ keyword })).keyword).toBe(keyword);
	});

	it.each(["!!! ... ---", "😀👍", '"" () * ^ :', "\u0000", "%"])("without a word (%j): no result, with a message", async (keyword) => {
		expect(await searchAffiliate({ keyword })).toEqual({ keyword, results: [], message: expect.stringMatching(/no result/i) });
	});

	it.each([
		'"shoes',
		"shoes OR hat",
		"shoes AND",
		"NOT shoes",
		"NEAR(shoes hat)",
		"name:shoes",
		"shoes*",
		"^shoes",
		"sho\u0000es",
		"{name}:shoes",
		"-shoes",
		"d73686F65732E6578616D706C650",
	])("is never syntax: %j", async (keyword) => {
		expect((await getSearch("products", { keyword })).status).toBe(200);
	});
});

describe("worker: an affiliate result", () => {
	it("has every field of the interface, in its type", async () => {
		const answer = await searchAffiliate({ keyword: "trail shoes" });
		expect(answer).toEqual({
			keyword: "trail shoes",
			results: [
				{
					id: "S-1",
					name: "Trail running shoes, blue",
					image_url: "https://cdn.shoes.example/1.jpg",
					currency: "USD",
					regular_price: 120,
					final_price: 89.9,
					on_sale: true,
					availability: "InStock",
					merchant: { name: "Shoes & Co" },
					redirect_url: expect.stringMatching(/^http:\/\/localhost:8787\/click\?encyp=/),
				},
			],
		});
	});

	it("is not on sale at its list price, and without one has its price for it", async () => {
		const [torch] = (await searchAffiliate({ keyword: "torch" })).results;
		expect(torch).toMatchObject({ currency: "EUR", regular_price: 5, final_price: 5, on_sale: false, image_url: null });
		const [bucket] = (await searchAffiliate({ keyword: "bucket" })).results;
		expect(bucket).toMatchObject({ regular_price: 10, final_price: 10, on_sale: false });
	});

	it("links to the product's page by a click URL of the publisher's", async () => {
		const [shoes] = (await searchAffiliate({ keyword: "trail shoes" })).results;
		const { at, parameters, token } = await openLink(shoes?.redirect_url ?? "");
		expect(at).toBe("http://localhost:8787/click");
		expect(parameters).toEqual({ cc: "US", dl: "https://shoes.example/p/S-1" });
		expect(token).toMatchObject({ kind: "link", publisher: "acme_rtb", domain: "shoes.example", campaignId: 1 });
	});

	it("carries the publisher's tag where the brand is a marketplace, if there is one", async () => {
		const [mug] = (await searchAffiliate({ keyword: "mug" })).results;
		expect((await openLink(mug?.redirect_url ?? "")).parameters).toEqual({
			cc: "US",
			dl: "https://market.example/dp/1?a=b&c=d",
			atag: "acme-20",
		});
		const [same] = (await searchAffiliate({ keyword: "mug" }, { PublisherKey: "publisher-key-rival" })).results;
		expect((await openLink(same?.redirect_url ?? "")).parameters).not.toHaveProperty("atag");
	});

	it("is honoured by the click tracker, which records the tag and what the publisher appends", async () => {
		const [mug] = (await searchAffiliate({ keyword: "mug" })).results;
		const response = await follow(`${mug?.redirect_url}&clickid=pub-7&subid1=card`);
		const location = response.headers.get("location") ?? "";
		const [, hash = ""] = /^https:\/\/track\.example\/d\?sub=([0-9a-f]{32})&u=(.*)$/.exec(location) ?? [];
		expect([response.status, location.split("&u=")[1]]).toEqual([302, encodeURIComponent("https://market.example/dp/1?a=b&c=d")]);
		const [row] = await clickRows({ hash });
		expect(row).toMatchObject({
			kind: "link",
			publisher_id: "acme",
			campaign_id: 6,
			atag: "acme-20",
			publisher_click_id: "pub-7",
			subid1: "card",
			reason: null,
		});
	});

	it("goes by a campaign with deeplinks, of the US if there is one, that takes clicks, with the lowest id", async () => {
		const [manifold] = (await searchAffiliate({ keyword: "manifold" })).results;
		expect((await openLink(manifold?.redirect_url ?? "")).token).toMatchObject({ campaignId: 23 });
		const [apple] = (await searchAffiliate({ keyword: "apple" })).results;
		expect(await openLink(apple?.redirect_url ?? "")).toMatchObject({ parameters: { cc: "CA" }, token: { campaignId: 8 } });
	});
});

describe("worker: which products are found", () => {
	it("at most twenty", async () => {
		expect(await idsOf("kettle")).toHaveLength(20);
	});

	it("only in stock, in whatever spelling", async () => {
		expect(await idsOf("slippers")).toEqual([]);
		expect(await idsOf("torch")).toEqual(["S-2"]);
		expect(await idsOf("bus")).toEqual(["S-4"]);
	});

	it("only of brands that are active, have an active campaign and are not blocked", async () => {
		expect(await idsOf("straw")).toEqual(["H-1"]);
		expect((await idsOf("straw", {}, { PublisherKey: "publisher-key-rival" })).toSorted()).toEqual(["B-1", "H-1"]);
	});

	it("of a brand that is blocked in a country, by a campaign of another country alone", async () => {
		expect(await idsOf("straw", { domain: "barred.example" })).toEqual([]);
		const [kite] = (await searchAffiliate({ keyword: "kite" })).results;
		expect(await openLink(kite?.redirect_url ?? "")).toMatchObject({ parameters: { cc: "CA" }, token: { campaignId: 32 } });
	});

	it("also where many better ones are of brands that may not be promoted", async () => {
		expect(await idsOf("quilt")).toEqual(["Q-own"]);
	});

	it("also where more of brands that may not be promoted match than are ranked", async () => {
		await env.PRODUCTS.prepare(
			`INSERT INTO products (id, domain, name, url, currency, final_price_micros, availability)
				SELECT 'W-' || value, CASE value % 2 WHEN 1 THEN 'asleep.example' ELSE 'gone.example' END, 'Wallet', 'https://gone.example/w', 'USD', 1, 'InStock'
				FROM json_each(?)`,
		)
			.bind(JSON.stringify(Array.from({ length: MAX_CANDIDATES }, (_, at) => at + 1)))
			.run();
		await importExactly({ products: [productEntry("W-own", "Wallet"), productEntry("W-more", "Wallet with a strap")] });
		expect(await idsOf("wallet")).toEqual(["W-own", "W-more"]);
		await env.PRODUCTS.prepare("DELETE FROM products WHERE name LIKE 'Wallet%'").run();
	});

	it.each([
		["shoe", "S-1"],
		["SHOES", "S-1"],
		["blue trails", "S-1"],
		["creme brulee", "S-2"],
		["CRÈME", "S-2"],
		["trail runn", "S-1"],
		["trail runni", "S-1"],
		["example sport", "S-1"],
		["footwear", "S-1"],
		["rough", "S-1"],
		["shoes unheardof", "S-1"],
		["buse", "S-4"],
	])("%j finds by plural, accent, letter case, beginning, other fields and any word at last", async (keyword, id) => {
		expect(await idsOf(keyword)).toContain(id);
	});

	it("`ß` is `ss`, whichever the product or the search has", async () => {
		await importExactly({ products: [productEntry("G-1", "Fußsack, Größe L"), productEntry("G-2", "Fusssack, Grösse M")] });
		for (const keyword of ["FUSSSACK GRÖSSE", "fußsack größe", "fusss", "Fuß"]) expect(await idsOf(keyword)).toEqual(["G-1", "G-2"]);
		await env.PRODUCTS.prepare("DELETE FROM products WHERE id LIKE 'G-%'").run();
	});

	it("every word must match while anything matches all of them", async () => {
		expect(await idsOf("trail shoes bucket")).toEqual(expect.arrayContaining(["S-1", "S-5"]));
		expect(await idsOf("kettle 7")).toEqual(["K-7"]);
	});

	it("a match in the name comes before one in the description", async () => {
		expect(await idsOf("zebra bag")).toEqual(["S-7", "S-6"]);
	});

	it("a title of just the keyword comes first, however long its description is beside those of what goes with it", async () => {
		const colours = Array.from({ length: 70 }, (_, at) => `colour${at}`);
		await importFile({
			products: [
				...colours.map((colour) => productEntry(`L-${colour}`, `Lid ${colour} for Zephyr Deluxe 2000, 2000 S`)),
				productEntry("Z-0", "Zephyr Deluxe 2000", { description: "It boils. ".repeat(300) }),
				productEntry("Z-9", "Zephyr Deluxe 2000 in a box with a lid", { description: "It boils. ".repeat(300) }),
			],
		});
		for (const keyword of ["zephyr deluxe 2000", "Zéphyr Deluxe-2000", "ZEPHYR DELUXE 2000!"]) {
			const ids = await idsOf(keyword);
			expect([ids[0], ids.length, ids.includes("Z-9")]).toEqual(["Z-0", 20, false]);
		}
		expect((await idsOf("zephyr deluxe 2000", { domain: "shoes.example" }))[0]).toBe("Z-0");
		expect(await idsOf("zephyr deluxe 2000", { domain: "hats.example" })).toEqual([]);
	});

	it.each([
		["wh1000xm5", "C-1"],
		["WH 1000XM5 headphones", "C-1"],
		["cocacola mug", "C-2"],
		["loreal", "C-3"],
		["wi-fi extender", "C-4"],
		["tshirt", "C-5"],
	])("one word may be two, and two one: %s", async (keyword, id) => {
		await importFile({
			products: [
				productEntry("C-1", "Sony WH-1000XM5 Headphones"),
				productEntry("C-2", "Coca-Cola Mug"),
				productEntry("C-3", "L'Oréal Cream"),
				productEntry("C-4", "WiFi extender"),
				productEntry("C-5", "T-Shirt"),
				productEntry("C-6", "Cola"),
			],
		});
		expect(await idsOf(keyword)).toEqual([id]);
	});

	it("a word such as `for` need not be there, while another one is; it still counts", async () => {
		await importFile({
			products: [
				productEntry("G-1", "Gown, women, summer"),
				productEntry("G-2", "Hanger for a women's gown"),
				productEntry("G-3", "Gown by On, women"),
				productEntry("G-4", "Pillow for the sofa"),
			],
		});
		expect((await idsOf("gown for women")).toSorted()).toEqual(["G-1", "G-2", "G-3"]);
		expect((await idsOf("the gown for")).toSorted()).toEqual(["G-1", "G-2", "G-3"]);
		expect((await idsOf("on gown"))[0]).toBe("G-3");
		expect(await idsOf("gown for nobody")).not.toContain("G-4");
		expect(await idsOf("for the")).toEqual(["G-4"]);
		expect((await idsOf("the gow")).toSorted()).toEqual(["G-1", "G-2", "G-3"]);
	});

	it("such a word at the end may be the beginning of another, which comes first", async () => {
		const others = Array.from({ length: 30 }, (_, n) => productEntry(`H-${n}`, `Hair item${n}`));
		await importFile({ products: [...others, productEntry("C-1", "Moisturising conditioner for long hair")] });
		expect((await idsOf("hair con"))[0]).toBe("C-1");
	});

	it("`'s` is no word of its own", async () => {
		await importFile({
			products: [productEntry("W-1", "Womens leggings"), productEntry("W-2", "Levi's 501"), productEntry("W-3", "Boss's desk")],
		});
		for (const keyword of ["women's leggings", "WOMEN’S leggings", "womens leggings"]) expect(await idsOf(keyword)).toEqual(["W-1"]);
		for (const keyword of ["levi's 501", "levis 501", "501 levi’s"]) expect(await idsOf(keyword)).toEqual(["W-2"]);
		for (const keyword of ["boss's desk", "desk boss's"]) expect(await idsOf(keyword)).toEqual(["W-3"]);
	});

	it("only of the brand that domain names, by domain, address, alias or subdomain", async () => {
		for (const domain of ["shoes.example", "WWW.Shoes.example", "https://shoes.example/sale", "shoes-outlet.example", "us.shoes.example"]) {
			expect(await idsOf("kettle", { domain })).toHaveLength(20);
		}
		expect(await idsOf("kettle", { domain: "hats.example" })).toEqual([]);
		expect(await idsOf("kettle", { domain: " " })).toHaveLength(20);
	});

	it.each(["blocked.example", "asleep.example", "idle.example", "unknown.example", "nonsense", "http://", "-"])(
		"none, with a message, where domain is no brand that the account may promote: %s",
		async (domain) => {
			expect(await searchAffiliate({ keyword: "straw", domain })).toEqual({ keyword: "straw", results: [], message: expect.any(String) });
		},
	);
});

describe("worker: the index follows what is stored", () => {
	const change = (fields: object) => importExactly({ products: [productEntry("Z-1", "Xylophone", fields)] });

	it("with the first import, a new name, sold out, in stock again, and removal", async () => {
		await change({});
		expect(await idsOf("xylophone")).toEqual(["Z-1"]);
		await change({ final_price: "7.00" });
		expect((await searchAffiliate({ keyword: "xylophone" })).results).toMatchObject([{ final_price: 7 }]);
		await change({ name: "Glockenspiel" });
		expect([await idsOf("xylophone"), await idsOf("glockenspiel")]).toEqual([[], ["Z-1"]]);
		await change({ name: "Glockenspiel", availability: "0" });
		expect(await idsOf("glockenspiel")).toEqual([]);
		await change({ name: "Glockenspiel", domain: "hats.example" });
		expect(await idsOf("glockenspiel", { domain: "hats.example" })).toEqual(["Z-1"]);
		await env.PRODUCTS.prepare("DELETE FROM products WHERE id = 'Z-1'").run();
		expect(await idsOf("glockenspiel")).toEqual([]);
	});
});

describe("worker: what an isolate keeps of the network for searches", () => {
	const rename = (table: string, name: string) =>
		env.DB.prepare(`UPDATE ${table} SET name = ? WHERE ${table === "brands" ? "domain = 'hats.example'" : "id = 'rival'"}`)
			.bind(name)
			.run();

	it("brands and publishers: fifteen seconds long, and no longer", async () => {
		let now = Date.parse("2026-11-18T15:00:00Z");
		const network = new KeptNetwork({ db: openDatabase(env.DB), now: () => now });
		const names = async () => [(await network.brands(["hats.example"]))[0]?.name, (await network.publisher("rival"))?.name];
		expect(await names()).toEqual(["hats.example", "Acme"]);
		await rename("brands", "New hats");
		await rename("publishers", "New rival");
		now += 14_999;
		expect(await names()).toEqual(["hats.example", "Acme"]);
		now += 1;
		expect(await names()).toEqual(["New hats", "New rival"]);
	});

	it("whose a host is: a search of one brand asks the network no more often", async () => {
		let now = Date.parse("2026-11-18T15:00:00Z");
		const network = new KeptNetwork({ db: openDatabase(env.DB), now: () => now });
		const owners = () => Promise.all(["us.many.example", "nobody.example"].map((host) => network.domainOf(host)));
		expect(await owners()).toEqual(["many.example", null]);
		await env.DB.prepare("UPDATE brands SET domain = CASE domain WHEN 'many.example' THEN 'nobody.example' ELSE domain END").run();
		now += 14_999;
		expect(await owners()).toEqual(["many.example", null]);
		now += 1;
		expect(await owners()).toEqual([null, "nobody.example"]);
		await env.DB.prepare("UPDATE brands SET domain = 'many.example' WHERE domain = 'nobody.example'").run();
	});
});

describe("worker: the products database fails", () => {
	afterEach(async () => {
		await env.PRODUCTS.prepare("ALTER TABLE products_away RENAME TO products").run();
	});

	it("500 with `Search failed.` and a message that says nothing of the inside", async () => {
		await env.PRODUCTS.prepare("ALTER TABLE products RENAME TO products_away").run();
		const response = await getSearch("products", { keyword: "shoes" });
		expect(response.status).toBe(500);
		expect(await response.json()).toEqual({ error: "Search failed.", message: expect.not.stringMatching(/sql|table/i) });
	});
});
