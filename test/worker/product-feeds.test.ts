/** POST /operator/products and /operator/seller-products on real D1. */
import { env } from "cloudflare:workers";
import type { SQL } from "drizzle-orm";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { feedReportSchema } from "../../src/operator/feeds/feed-answer.ts";
import { feedWriter, removeOthers } from "../../src/operator/feeds/write-feed.ts";
import { csv, jsonLines, postFeed, sendFeed, utf16 } from "../support/feeds.ts";
import { gzip } from "../support/gzip.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { productEntry, searchAffiliate, searchMarketplace, sellerEntry } from "../support/product-search.ts";

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: [
			brandEntry("shoes.example", 1, { aliases: ["shoes-outlet.example"] }),
			brandEntry("hats.example", 2),
			brandEntry("marketplace.example", 3, { marketplace: true }),
		],
	});
});

beforeEach(async () => {
	await env.PRODUCTS.batch([env.PRODUCTS.prepare("DELETE FROM products"), env.PRODUCTS.prepare("DELETE FROM seller_products")]);
});

type Row = Record<string, string | number | null>;
const stored = async (table: "products" | "seller_products") =>
	(await env.PRODUCTS.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all<Row>()).results.map(({ feed_id: _, fed_at: __, ...row }) => row);
const idsStored = async () => (await stored("products")).map(({ id }) => id);

const shoes = (id: string, fields: object = {}) => productEntry(id, `Shoes ${id}`, fields);

describe("worker: who may send a feed", () => {
	it.each([{}, { OperatorKey: "wrong" }, { PublisherKey: "publisher-key-acme" }])("without the operator key (%j): 401", async (headers) => {
		for (const kind of ["products", "seller-products"] as const) {
			const response = await postFeed(kind, jsonLines([shoes("1")]), {}, headers as Record<string, string>);
			expect(response.status).toBe(401);
		}
		expect(await idsStored()).toEqual([]);
	});
});

describe("worker: a feed of products", () => {
	const full = shoes("S-1", {
		description: "Two\nlines, and a comma",
		brand: "Example",
		category: "Footwear",
		image_url: "https://cdn.shoes.example/1.jpg",
		currency: "EUR",
		regular_price: "120.00",
		final_price: "89.90",
		availability: "InStock",
	});

	it("has names as people read them, where a feed was made from XML; addresses and descriptions stay", async () => {
		const escaped = { name: "Men&#39;s shoes &amp; socks", brand: "A&amp;B", description: "<p>5 &lt; 6</p>" };
		const url = "https://shoes.example/p?a=1&amp;b=2";
		await sendFeed("products", jsonLines([shoes("1", { ...escaped, url })]));
		expect(await stored("products")).toMatchObject([{ name: "Men's shoes & socks", brand: "A&B", description: "<p>5 &lt; 6</p>", url }]);
		expect(await searchAffiliate({ keyword: "men's socks" })).toMatchObject({ results: [{ name: "Men's shoes & socks" }] });
		expect(await searchAffiliate({ keyword: "amp" })).toMatchObject({ results: [] });
	});

	it("stores the same by lines of JSON, CSV, gzip, and the network file, and is searched at once", async () => {
		await importFile({ products: [full] });
		const expected = await stored("products");
		const names = Object.keys(full);
		const cells = csv(names, [Object.values(full)]);
		const bodies = [
			jsonLines([full]),
			cells,
			await gzip(cells),
			await gzip(jsonLines([full])),
			csv(names, [Object.values(full)], "\t"),
			csv(names, [Object.values(full)], ";"),
			utf16(cells, true),
			await gzip(utf16(cells, false)),
		];
		for (const body of bodies) {
			await env.PRODUCTS.prepare("DELETE FROM products").run();
			expect(await sendFeed("products", body)).toEqual({
				feed: "",
				accepted: 1,
				rejected: 0,
				rejected_lines: [],
				unknown_domains: [],
				removed: null,
				dry_run: false,
			});
			expect(await stored("products")).toEqual(expected);
			expect((await searchAffiliate({ keyword: "shoes" })).results.map(({ id }) => id)).toEqual(["S-1"]);
		}
	});

	it("is told, and nothing of it written or removed, by a dry run", async () => {
		await sendFeed("products", jsonLines([shoes("1"), shoes("old")]));
		const before = [await stored("products"), await env.DB.prepare("SELECT count(*) AS n FROM audit").first("n")];
		const body = `{}\n${jsonLines([shoes("1", { final_price: "1.00" }), shoes("2"), shoes("3", { domain: "nobody.example", url: "https://nobody.example/3" })])}`;
		expect(await sendFeed("products", body, { dry_run: "1", replace: "domains" })).toMatchObject({
			...{ accepted: 3, rejected: 1, rejected_lines: [{ line: 1 }], unknown_domains: ["nobody.example"], removed: null, dry_run: true },
		});
		expect([await stored("products"), await env.DB.prepare("SELECT count(*) AS n FROM audit").first("n")]).toEqual(before);
		expect((await postFeed("products", body, { dry_run: "yes" })).status).toBe(422);
		expect((await postFeed("products", body, { dryrun: "1" })).status).toBe(422);
		expect(await sendFeed("products", body, { dry_run: "0" })).toMatchObject({ accepted: 3, dry_run: false });
		expect(await idsStored()).toEqual(["1", "2", "3", "old"]);
	});

	it("is an upsert by id: sent again it changes nothing, and a later feed wins", async () => {
		const feed = jsonLines([shoes("1"), shoes("2"), shoes("2", { name: "Boots", final_price: 12.5 })]);
		expect((await sendFeed("products", feed)).accepted).toBe(3);
		const before = await stored("products");
		expect(before).toMatchObject([{ id: "1" }, { id: "2", name: "Boots", final_price_micros: 12_500_000 }]);
		await sendFeed("products", feed);
		expect(await stored("products")).toEqual(before);
		await sendFeed("products", jsonLines([shoes("1", { name: "Sandals" })]));
		expect((await searchAffiliate({ keyword: "sandals" })).results).toHaveLength(1);
		expect((await searchAffiliate({ keyword: "boots" })).results).toHaveLength(1);
	});

	it("any product comes back as it was, by CSV and by JSON", async () => {
		const text = fc
			.string({ unit: fc.constantFrom("a", "é", "日", "😀", '"', ",", "\n", "\t", ";", "<b>", "'"), minLength: 1, maxLength: 12 })
			.filter((value) => value.trim() !== "");
		const price = fc.integer({ min: 1, max: 99_999_999 }).map((cents) => (cents / 100).toFixed(2));
		const entry = fc.record({ name: text, description: text, brand: text, category: text, regular_price: price, final_price: price });
		await fc.assert(
			fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 5 }), async (entries) => {
				const rows = entries.map((fields, at) => ({ ...shoes(`R-${at}`), ...fields }));
				const names = ["id", "domain", "url", "name", "description", "brand", "category", "regular_price", "final_price"] as const;
				const expected = rows.map(({ name, description, brand, category, regular_price, final_price }) => ({
					name: name.trim(),
					description: description.trim(),
					brand: brand.trim(),
					category: category.trim(),
					regular_price_micros: Math.round(Number(regular_price) * 1e6),
					final_price_micros: Math.round(Number(final_price) * 1e6),
				}));
				for (const body of [
					jsonLines(rows),
					csv(
						names,
						rows.map((row) => names.map((name) => row[name])),
					),
				]) {
					await env.PRODUCTS.prepare("DELETE FROM products").run();
					expect((await sendFeed("products", body)).accepted).toBe(rows.length);
					expect(await stored("products")).toMatchObject(expected);
				}
			}),
			{ numRuns: 40 },
		);
	});
});

describe("worker: columns of feeds", () => {
	const one = async (body: string, query: Record<string, string> = {}) => {
		const answer = await sendFeed("products", body, query);
		expect(answer.rejected_lines).toEqual([]);
		return (await stored("products"))[0];
	};

	it("Google Merchant Center", async () => {
		const names = [
			"g:id",
			"title",
			"description",
			"link",
			"image_link",
			"price",
			"sale price",
			"availability",
			"brand",
			"google_product_category",
			"product_type",
		];
		const cells = [
			"G1",
			"Boots",
			"Warm",
			"https://www.shoes.example/g1",
			"https://cdn.shoes.example/g1.jpg",
			"120.00 USD",
			"89.90 USD",
			"in_stock",
			"Acme",
			"187",
			"Footwear > Boots",
		];
		expect(await one(csv(names, [cells], "\t"))).toEqual({
			id: "G1",
			domain: "shoes.example",
			name: "Boots",
			description: "Warm",
			brand: "Acme",
			category: "Footwear > Boots",
			url: "https://www.shoes.example/g1",
			image_url: "https://cdn.shoes.example/g1.jpg",
			currency: "USD",
			regular_price_micros: 120_000_000,
			final_price_micros: 89_900_000,
			availability: "InStock",
		});
	});

	it("Google Merchant Center: a sale only in its time", async () => {
		const sale = (period: string) =>
			one(
				csv(
					["id", "title", "link", "price", "sale_price", "sale_price_effective_date"],
					[["G1", "Boots", "https://shoes.example/1", "10 USD", "8 USD", period]],
				),
			);
		expect(await sale("2000-01-01T00:00Z/2099-01-01T00:00Z")).toMatchObject({ final_price_micros: 8_000_000 });
		expect(await sale("2000-01-01T00:00Z/2001-01-01T00:00Z")).toMatchObject({ final_price_micros: 10_000_000 });
		expect(await sale("2098-01-01/2099-01-01")).toMatchObject({ final_price_micros: 10_000_000 });
	});

	it("Awin", async () => {
		const names = [
			"aw_deep_link",
			"product_name",
			"aw_product_id",
			"merchant_product_id",
			"merchant_image_url",
			"description",
			"merchant_category",
			"search_price",
			"merchant_name",
			"currency",
			"store_price",
			"rrp_price",
			"in_stock",
			"merchant_deep_link",
			"brand_name",
			"merchant_domain",
		];
		const cells = [
			"https://www.awin1.example/pclick.php?p=1",
			"Boots",
			"2001",
			"B-7",
			"https://cdn.shoes.example/b7.jpg",
			"Warm",
			"Footwear",
			"89.90",
			"Shoes",
			"GBP",
			"",
			"120.00",
			"1",
			"https://shoes.example/b7",
			"Acme",
			"www.shoes.example",
		];
		expect(await one(csv(names, [cells]))).toMatchObject({
			id: "2001",
			domain: "shoes.example",
			url: "https://shoes.example/b7",
			currency: "GBP",
			regular_price_micros: 120_000_000,
			final_price_micros: 89_900_000,
			availability: "InStock",
			brand: "Acme",
			category: "Footwear",
		});
	});

	it("CJ, Impact and Rakuten", async () => {
		const cj = csv(
			[
				"SKU",
				"NAME",
				"BUYURL",
				"IMAGEURL",
				"PRICE",
				"RETAILPRICE",
				"SALEPRICE",
				"CURRENCY",
				"INSTOCK",
				"MANUFACTURER",
				"ADVERTISERCATEGORY",
			],
			[
				[
					"C1",
					"Boots",
					"https://shoes.example/c1",
					"https://cdn.shoes.example/c1.jpg",
					"100.00",
					"120.00",
					"0.00",
					"USD",
					"yes",
					"Acme",
					"Footwear",
				],
			],
		);
		expect(await one(cj)).toMatchObject({
			id: "C1",
			regular_price_micros: 120_000_000,
			final_price_micros: 100_000_000,
			availability: "InStock",
			brand: "Acme",
			category: "Footwear",
		});
		await env.PRODUCTS.prepare("DELETE FROM products").run();
		const impact = csv(
			[
				"Unique Merchant SKU",
				"Product Name",
				"Product URL",
				"Image URL",
				"Current Price",
				"Original Price",
				"Stock Availability",
				"Manufacturer",
				"Currency",
			],
			[["I1", "Boots", "https://shoes.example/i1", "https://cdn.shoes.example/i1.jpg", "80", "100", "InStock", "Acme", "USD"]],
		);
		expect(await one(impact)).toMatchObject({
			id: "I1",
			regular_price_micros: 100_000_000,
			final_price_micros: 80_000_000,
			image_url: "https://cdn.shoes.example/i1.jpg",
		});
		await env.PRODUCTS.prepare("DELETE FROM products").run();
		const rakuten = csv(
			[
				"product_id",
				"product_name",
				"sku_number",
				"primary_category",
				"product_url",
				"product_image_url",
				"sale_price",
				"retail_price",
				"availability",
				"currency",
			],
			[
				[
					"R1",
					"Boots",
					"77",
					"Footwear",
					"https://shoes.example/r1",
					"https://cdn.shoes.example/r1.jpg",
					"80.00",
					"100.00",
					"in stock",
					"USD",
				],
			],
			"|",
		);
		expect(await one(rakuten)).toMatchObject({
			id: "R1",
			regular_price_micros: 100_000_000,
			final_price_micros: 80_000_000,
			category: "Footwear",
		});
	});

	it("others by a mapping, and constants that hold whatever the columns say", async () => {
		const names = ["Artikelnummer", "Bezeichnung", "Seite", "Preis", "domain"];
		const mapping = JSON.stringify({ artikelnummer: "id", Bezeichnung: "name", SEITE: "url", Preis: "final_price" });
		const row = await one(csv(names, [["7", "Stiefel", "https://shoes-outlet.example/7", "12,50", "else.example"]]), {
			mapping,
			domain: "shoes.example",
			currency: "EUR",
			id_prefix: "de-",
		});
		expect(row).toMatchObject({
			id: "de-7",
			name: "Stiefel",
			domain: "shoes.example",
			currency: "EUR",
			final_price_micros: 12_500_000,
			url: "https://shoes-outlet.example/7",
		});
	});

	it("a mapped column fills no other field", async () => {
		const body = csv(["id", "title", "link", "price", "cost"], [["1", "Boots", "https://shoes.example/1", "99", "50"]]);
		expect(await one(body, { mapping: '{"price":"regular_price","cost":"final_price"}' })).toMatchObject({
			regular_price_micros: 99_000_000,
			final_price_micros: 50_000_000,
		});
	});
});

describe("worker: what a feed gets wrong", () => {
	it("records at fault are rejected alone, with their line and the reason", async () => {
		const names = ["id", "title", "link", "price", "currency"];
		const rows = [
			["1", "Boots", "https://shoes.example/1", "10", "USD"],
			["", "Boots", "https://shoes.example/2", "10", "USD"],
			["3", "Two\nlines", "https://shoes.example/3", "dear", "USD"],
			["4", "Boots", "https://elsewhere.example/4", "10", "USD"],
			["5", "Boots", "javascript:alert(1)", "10", "USD"],
			["6", "Boots", "https://shoes.example/6", "10 EUR", "USD"],
			["7", "Boots", "https://shoes.example/7", "-5", "USD"],
			["8", "Boots", "https://shoes.example/8", "10", "dollars"],
			["9", "Boots", "https://shoes.example/9", "10", "USD"],
			["10", "Boots", "https://shoes.example\\@elsewhere.example/10", "10", "USD"],
			["11", "Boots", "https://shoes.example/a\tb", "10", "USD"],
		];
		const answer = await sendFeed("products", csv(names, rows), { domain: "shoes.example" });
		expect(answer).toMatchObject({ accepted: 2, rejected: 9 });
		expect(answer.rejected_lines).toEqual([
			{ line: 3, reason: "id is required" },
			{ line: 4, reason: "final_price must be a price such as 12.00 or 12.00 USD" },
			{ line: 6, reason: "url is on elsewhere.example, which is no host of shoes.example" },
			{ line: 7, reason: "url must be an http(s) address" },
			{ line: 8, reason: expect.stringContaining("USD, EUR") },
			{ line: 9, reason: "final_price must be a price such as 12.00 or 12.00 USD" },
			{ line: 10, reason: "currency must be a three-letter currency code such as USD" },
			{ line: 12, reason: "url must be an http(s) address" },
			{ line: 13, reason: "url must be an http(s) address" },
		]);
		expect(await idsStored()).toEqual(["1", "9"]);
	});

	it("the sign of yen is that of yuan, where a column says so", async () => {
		const price = (id: string, fields: object) => shoes(id, { final_price: undefined, currency: undefined, ...fields });
		const rows = [
			price("1", { price: "¥129.00", sale_price: "99.00 ¥", currency: "cny" }),
			price("2", { price: "¥129", currency: "JPY" }),
			price("3", { price: "¥129" }),
			price("4", { price: "¥129", currency: "USD" }),
			price("5", { price: "129 JPY", currency: "CNY" }),
			price("6", { price: "¥129.00", sale_price: "99.00 CNY" }),
			price("7", { price: "¥129.00 CNY" }),
			price("8", { price: "CNY 129.00 ¥" }),
			price("9", { price: "¥129.00 USD" }),
		];
		expect((await sendFeed("products", jsonLines(rows))).rejected_lines.map(({ line }) => line)).toEqual([4, 5]);
		expect((await stored("products")).map(({ id, currency }) => [id, currency])).toEqual([
			["1", "CNY"],
			["2", "JPY"],
			["3", "JPY"],
			["6", "CNY"],
			["7", "CNY"],
			["8", "CNY"],
			["9", "USD"],
		]);
	});

	it("a number with more digits than are read is no id: two products would be one", async () => {
		const lines = ["9007199254740991", "12345678901234567", "12345678901234568", '"12345678901234567"'].map((id) =>
			JSON.stringify(shoes("X")).replace('"X"', id),
		);
		expect(await sendFeed("products", lines.join("\n"))).toMatchObject({
			accepted: 2,
			rejected_lines: [2, 3].map((line) => ({ line, reason: "id has too many digits for a number: write a text" })),
		});
		expect(await idsStored()).toEqual(["12345678901234567", "9007199254740991"]);
	});

	it("at most a hundred rejected records are listed, all are counted", async () => {
		const answer = await sendFeed("products", "{}\n".repeat(250));
		expect(answer).toMatchObject({ accepted: 0, rejected: 250 });
		expect(answer.rejected_lines).toHaveLength(100);
	});

	it("bytes that are no UTF-8 are kept as U+FFFD, and told of", async () => {
		const text = csv(
			["id", "title", "link", "price"],
			["Shoes", "Caf\u00e9", "Cr\u00e8me"].map((name) => [name, name, "https://shoes.example/1", "1"]),
		);
		const latin = Uint8Array.from(text, (character) => character.charCodeAt(0));
		expect(await sendFeed("products", latin)).toMatchObject({ accepted: 3, unread_characters: { products: 2, line: 3 } });
		expect(await sendFeed("products", text)).not.toHaveProperty("unread_characters");
	});

	it.each([
		["windows-1252", [0x43, 0x61, 0x66, 0xe9, 0x20, 0x80], "Caf\u00e9 \u20ac"],
		["ISO-8859-2", [0xa3, 0xf3, 0x64, 0xbc], "\u0141\u00f3d\u017a"],
		["shift_jis", [0x8c, 0x43, 0x83, 0x5c], "\u9774\u30bd"],
	])("a feed in %s is read where that is named", async (encoding, name, read) => {
		const text = csv(["id", "title", "link", "price"], [["1", "?", "https://shoes.example/1", "1"]]);
		const bytes = [...text].flatMap((character) => (character === "?" ? name : [character.charCodeAt(0)]));
		const report = await sendFeed("products", Uint8Array.from(bytes), { encoding });
		expect(report).toMatchObject({ accepted: 1 });
		expect(report).not.toHaveProperty("unread_characters");
		const [stored] = (await env.PRODUCTS.prepare("SELECT name FROM products").all()).results;
		expect(stored).toEqual({ name: read });
	});

	it("what is the name of no encoding is refused before anything is read", async () => {
		const answer = await postFeed("products", "id\n1\n", { encoding: "latin" });
		expect([answer.status, await answer.json()]).toMatchObject([422, { faults: [{ path: "encoding" }] }]);
	});

	it("descriptions however long are taken over, in values that D1 takes", async () => {
		const longest: number[] = [];
		const measured = new Proxy(env.PRODUCTS, {
			get(target, name) {
				if (name !== "prepare") return Reflect.get(target, name).bind(target);
				return (text: string) => {
					const statement = target.prepare(text);
					const bind = (...values: unknown[]) => {
						longest.push(...values.map((value) => new TextEncoder().encode(String(value)).length));
						return statement.bind(...values);
					};
					return { bind };
				};
			},
		});
		const rows = Array.from({ length: 250 }, (_, at) => ({
			...shoes(String(at), { description: "\u20ac".repeat(20_000) }),
			...{ currency: "USD", finalPriceMicros: 1, availability: "InStock" },
		}));
		const write = feedWriter({ products: openDatabase(measured), now: Date.now }, "products", null, false);
		expect(await write(rows)).toEqual([]);
		expect(await idsStored()).toHaveLength(250);
		expect(Math.max(...longest)).toBeLessThan(2_000_000);
	});

	it("products of no brand are taken over, and told of", async () => {
		const rows = [productEntry("1", "Stool", { domain: "new.example", url: "https://new.example/1" })];
		expect(await sendFeed("products", jsonLines(rows))).toMatchObject({ accepted: 1, unknown_domains: ["new.example"] });
	});

	it.each([
		["an empty feed", "", /empty/],
		["a JSON list", "[]", /one JSON object a line/],
		["XML", '<?xml version="1.0"?>\n<rss></rss>', /is XML/],
		["a zip archive", "PK\u0003\u0004\u0014\u0000\n", /zip archive/],
		["no column for a field that is needed", "id,title\n1,Boots\n", /no column for url, final_price.*id, title.*mapping/],
		["broken gzip", new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), /gzip/],
	])("%s: 422 with what to do", async (_name, body, message) => {
		const response = await postFeed("products", body);
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ accepted: 0, removed: null, incomplete: true, message: expect.stringMatching(message) });
	});

	it("a price with one dot and three digits behind it is refused where the currency groups thousands so, and is decimal elsewhere", async () => {
		const rows = [
			["own", "1.299 EUR", "", ""],
			["column", "1.299", "EUR", ""],
			["regular", "999,00", "EUR", "1.299"],
			["symbol", "€12.990", "", ""],
			["dollars", "1.299", "", ""],
			["dinars", "1.299 KWD", "", ""],
			["clear", "1.299,00", "EUR", "0.299"],
			["four", "12.9900", "EUR", ""],
		];
		const head = ["id", "price", "currency", "regular_price", "title", "link"];
		const report = await sendFeed(
			"products",
			csv(
				head,
				rows.map((row) => [...row, "Boots", "https://shoes.example/1"]),
			),
		);
		expect(report).toMatchObject({ accepted: 4, rejected: 4 });
		expect(report.rejected_lines.map(({ reason }) => reason)).toEqual([
			"final_price 1.299 EUR may be 1299 or 1.299 in EUR: write 1299.00 or 1.2990",
			"final_price 1.299 may be 1299 or 1.299 in EUR: write 1299.00 or 1.2990",
			"regular_price 1.299 may be 1299 or 1.299 in EUR: write 1299.00 or 1.2990",
			"final_price €12.990 may be 12990 or 12.990 in EUR: write 12990.00 or 12.9900",
		]);
		const numbers = jsonLines([{ ...shoes("number"), currency: "EUR", final_price: 1.299 }]);
		expect(await sendFeed("products", numbers)).toMatchObject({ accepted: 1 });
		const prices = (await stored("products")).map(({ id, final_price_micros: micros }) => [id, micros]);
		expect(Object.fromEntries(prices)).toEqual({
			...{ dollars: 1_299_000, dinars: 1_299_000, clear: 1_299_000_000, four: 12_990_000, number: 1_299_000 },
		});
	});

	it("gzip that ends too early: what came before stays, nothing is removed, and it is said", async () => {
		await sendFeed("products", jsonLines([shoes("old")]));
		const packed = await gzip(jsonLines(Array.from({ length: 20_000 }, (_, at) => shoes(`${at} ${crypto.randomUUID()}`))));
		const response = await postFeed("products", packed.subarray(0, packed.length - 2_000), { replace: "all" });
		expect(response.status).toBe(422);
		const answer = v.parse(feedReportSchema, await response.json());
		expect(answer).toMatchObject({ removed: null, incomplete: true, message: expect.stringMatching(/gzip/) });
		expect(await idsStored()).toContain("old");
		expect((await stored("products")).length).toBe(answer.accepted + 1);
	});

	it.each([
		[{ replce: "1" }, "replce"],
		[{ replace: "yes" }, "replace"],
		[{ mapping: "{" }, "mapping"],
		[{ mapping: '{"a":"nme"}' }, "mapping"],
		[{ mapping: "[]" }, "mapping"],
		[{ line: "0" }, "line"],
		[{ feed: "a b" }, "feed"],
		[
			[
				["dry_run", "0"],
				["dry_run", "1"],
			],
			"dry_run",
		],
	])("an option at fault (%j): 422 that names it, and nothing is read", async (query, name) => {
		const response = await postFeed("products", jsonLines([shoes("1")]), query as string[][]);
		expect(response.status).toBe(422);
		expect(await response.json()).toEqual({
			error: "Validation failed",
			faults: [{ path: name, message: expect.any(String) }],
			fault_count: 1,
		});
		expect(await idsStored()).toEqual([]);
	});

	it("any bytes: never a 5xx", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.oneof(
					fc.uint8Array({ maxLength: 300 }),
					fc.string({ unit: "binary" }),
					fc
						.array(
							fc.constantFrom("id,title,link,price\n", '"', ",", "\n", "1,a,https://shoes.example/1,2\n", "{", "}", "\r", "\u0000", "\t"),
						)
						.map((parts) => parts.join("")),
				),
				async (body) => {
					const response = await postFeed("products", body);
					expect([200, 422]).toContain(response.status);
					await response.body?.cancel();
				},
			),
			{ numRuns: 200 },
		);
	});
});

describe("worker: products of the same id", () => {
	const hat = (id: string) => productEntry(id, "Hat", { domain: "hats.example", url: `https://hats.example/${id}` });

	it("take the place of another brand's, which is told, by a dry run too", async () => {
		await sendFeed("products", jsonLines([shoes("1"), shoes("2"), hat("3")]));
		const others = { other_brands: [{ domain: "shoes.example", products: 2 }] };
		const feed = jsonLines([hat("1"), hat("2"), hat("3"), hat("4")]);
		expect(await sendFeed("products", feed, { dry_run: "1" })).toMatchObject({ accepted: 4, ...others });
		expect(await sendFeed("products", feed)).toMatchObject({ accepted: 4, ...others });
		expect(await sendFeed("products", feed)).not.toHaveProperty("other_brands");
		expect(await sendFeed("products", jsonLines([shoes("1")]), { id_prefix: "s-" })).not.toHaveProperty("other_brands");
		expect((await stored("products")).map(({ id, domain }) => `${id} ${domain}`)).toEqual([
			...["1 hats.example", "2 hats.example", "3 hats.example", "4 hats.example", "s-1 shoes.example"],
		]);
	});

	it("and seller, of another marketplace", async () => {
		await sendFeed("seller-products", jsonLines([sellerEntry("B1", "A"), sellerEntry("B2", "A", { seller_id: "S-2" })]));
		const elsewhere = { domain: "hats.example", url: "https://hats.example/1" };
		expect(
			await sendFeed("seller-products", jsonLines([sellerEntry("B1", "A", elsewhere), sellerEntry("B2", "A", elsewhere)])),
		).toMatchObject({
			other_brands: [{ domain: "marketplace.example", products: 1 }],
		});
	});
});

describe("worker: replace", () => {
	const hat = (id: string) => productEntry(id, "Hat", { domain: "hats.example", url: `https://hats.example/${id}` });

	beforeEach(async () => {
		await sendFeed("products", jsonLines([shoes("1"), shoes("2"), shoes("3"), hat("h")]));
	});

	it("removes what the feed no longer has of the brands that are in it", async () => {
		expect(await sendFeed("products", jsonLines([shoes("2"), shoes("4")]), { replace: "domains" })).toMatchObject({
			accepted: 2,
			removed: 2,
		});
		expect(await idsStored()).toEqual(["2", "4", "h"]);
		expect((await searchAffiliate({ keyword: "shoes" })).results.map(({ id }) => id).toSorted()).toEqual(["2", "4"]);
	});

	it("all removes of every brand", async () => {
		expect(await sendFeed("products", jsonLines([shoes("2")]), { replace: "all" })).toMatchObject({ removed: 3 });
		expect(await idsStored()).toEqual(["2"]);
	});

	it("keeps the parts of one feed together: the last one replaces", async () => {
		await sendFeed("products", jsonLines([shoes("1")]), { feed: "night-1" });
		await sendFeed("products", jsonLines([shoes("5")]), { feed: "night-1" });
		expect(await sendFeed("products", jsonLines([shoes("6")]), { feed: "night-1", replace: "domains" })).toMatchObject({ removed: 2 });
		expect(await idsStored()).toEqual(["1", "5", "6", "h"]);
	});

	it("removes nothing where most records were rejected, or the feed has none", async () => {
		expect(await sendFeed("products", `{}\n{}\n${jsonLines([shoes("2")])}`, { replace: "domains" })).toMatchObject({
			accepted: 1,
			removed: null,
			message: expect.any(String),
		});
		expect(await sendFeed("products", "id,title,link,price\n", { replace: "all" })).toMatchObject({
			accepted: 0,
			removed: null,
			message: expect.any(String),
		});
		expect(await idsStored()).toEqual(["1", "2", "3", "h"]);
	});

	it("may follow by itself, without a body, once all parts are there", async () => {
		await sendFeed("products", jsonLines([shoes("1")]), { feed: "night-2" });
		expect(await sendFeed("products", "", { feed: "night-2", replace: "domains" })).toMatchObject({ accepted: 0, removed: 2 });
		expect(await sendFeed("products", "", { feed: "night-3", replace: "all" })).toMatchObject({
			removed: null,
			message: expect.any(String),
		});
		expect(await idsStored()).toEqual(["1", "h"]);
	});

	it("leaves what another feed has written since this one began: a feed that is sent twice at once loses nothing", async () => {
		await sendFeed("products", jsonLines([shoes("4")]), { feed: "one" });
		await sendFeed("products", jsonLines([shoes("6")]), { feed: "one" });
		await sendFeed("products", jsonLines([shoes("4"), shoes("5")]), { feed: "other" });
		expect(await sendFeed("products", "", { feed: "one", replace: "domains" })).toMatchObject({ removed: 3 });
		await sendFeed("products", jsonLines([shoes("6")]), { feed: "other" });
		expect(await sendFeed("products", "", { feed: "other", replace: "domains" })).toMatchObject({ removed: 0 });
		expect(await idsStored()).toEqual(["4", "5", "6", "h"]);
	});

	it("asks before it removes more than the feed has, and more than a hundred: it may have broken off", async () => {
		const many = Array.from({ length: 210 }, (_, at) => shoes(`many-${at}`));
		await sendFeed("products", jsonLines(many));
		const { feed, ...report } = await sendFeed("products", jsonLines(many.slice(0, 100)), { replace: "domains" });
		expect(report).toMatchObject({ accepted: 100, removed: null, message: expect.stringContaining("yes=1 (--yes)") });
		expect(await idsStored()).toHaveLength(214);
		expect(await sendFeed("products", jsonLines(many.slice(0, 110)), { replace: "domains" })).toMatchObject({ removed: 103 });
		expect(await sendFeed("products", jsonLines(many.slice(0, 10)), { replace: "domains" })).toMatchObject({ removed: 100 });
		await sendFeed("products", jsonLines(many));
		const shrunk = await sendFeed("products", jsonLines(many.slice(0, 1)), { replace: "all" });
		expect(shrunk.removed).toBeNull();
		expect(await sendFeed("products", "", { feed: shrunk.feed, replace: "all", yes: "1" })).toMatchObject({ removed: 210 });
		expect((await postFeed("products", "", { feed, replace: "all", yes: "y" })).status).toBe(422);
	});

	it("asks so of each brand: one stray product of it does not make a feed all that there is of a brand", async () => {
		const hats = Array.from({ length: 120 }, (_, at) => hat(`hat-${at}`));
		const many = Array.from({ length: 150 }, (_, at) => shoes(`many-${at}`));
		await sendFeed("products", jsonLines(hats));
		for (const replace of ["domains", "all"]) {
			const report = await sendFeed("products", jsonLines([...many, hat("hat-0")]), { replace });
			expect(report).toMatchObject({
				removed: null,
				message: expect.stringMatching(/: 120 products of hats.example would go, and the feed has 1 of it. .*yes=1/),
			});
		}
		expect(await idsStored()).toHaveLength(274);
		expect(await sendFeed("products", jsonLines(many), { replace: "domains" })).toMatchObject({ removed: 3 });
		expect(await sendFeed("products", jsonLines([...many, hat("hat-0")]), { replace: "domains", yes: "1" })).toMatchObject({
			removed: 120,
		});
	});

	it("leaves what another feed writes while it removes", async () => {
		await sendFeed("products", jsonLines([shoes("1")]), { feed: "slow" });
		const db = openDatabase(env.PRODUCTS);
		const all = db.all.bind(db);
		db.all = (async (statement: SQL) => {
			const rows = await all(statement);
			// Between the list of those that go and their removal.
			if (JSON.stringify(rows).includes('"id"')) await sendFeed("products", jsonLines([shoes("2")]), { feed: "quick" });
			return rows;
		}) as typeof db.all;
		const beganAt = Date.now() - 1;
		expect(await removeOthers(db, "products", { id: "slow", beganAt, scope: "domains" }, false)).toBe(1);
		expect(await idsStored()).toEqual(["1", "2", "h"]);
	});

	it.each([
		["JSON lines", (text: string) => text.slice(0, -20)],
		["CSV that ends within a field", (text: string) => text.slice(0, text.lastIndexOf("1299.00") + 2)],
		["CSV that ends within quotes", (text: string) => text.slice(0, text.lastIndexOf('"') - 2)],
	])("removes nothing where the feed ends within a record (%s), unless that is confirmed; the record is rejected", async (name, cut) => {
		const names = ["id", "title", "link", "price", "description"];
		const rows = ["10", "11", "12"].map((id) => [id, "Boots", "https://shoes.example/1", "1299.00", "some, words"]);
		const body = cut(name === "JSON lines" ? jsonLines(["10", "11", "12"].map((id) => shoes(id))) : csv(names, rows));
		const before = await idsStored();
		expect(await sendFeed("products", body, { replace: "domains" })).toMatchObject({
			...{ accepted: 2, rejected: 1, rejected_lines: [{ line: expect.any(Number) }], removed: null, cut_off: true },
			message: expect.stringContaining("ends within a record"),
		});
		expect(await idsStored()).toEqual([...before, "10", "11"].sort());
		expect(await sendFeed("products", body, { replace: "domains", yes: "1" })).toMatchObject({ removed: 3 });
	});

	it("a last line without its end is whole where it has all its fields", async () => {
		for (const body of [
			jsonLines([shoes("10")]),
			csv(["id", "title", "link", "price"], [["10", "Boots", "https://shoes.example/1", "9"]]),
		]) {
			const report = await sendFeed("products", body.trimEnd(), { replace: "domains" });
			expect(report).toMatchObject({ accepted: 1, rejected: 0, removed: expect.any(Number) });
			expect(report).not.toHaveProperty("cut_off");
		}
	});

	it("removes more than one statement does", async () => {
		await sendFeed("products", jsonLines(Array.from({ length: 4_500 }, (_, at) => shoes(`many-${at}`))));
		expect(await sendFeed("products", jsonLines([shoes("1")]), { replace: "domains", yes: "1" })).toMatchObject({ removed: 4_502 });
		expect(await idsStored()).toEqual(["1", "h"]);
	});
});

describe("worker: a feed of seller products", () => {
	it("stores the same by lines of JSON, CSV and the network file, and is searched at once", async () => {
		const full = sellerEntry("B1", "Bottle", {
			seller_name: "Example Outfitters",
			description: "Cold",
			manufacturer: "Steel",
			category: "Kitchen",
			catalog_name: "Home",
			current_price: "19.9900",
			image_url: "https://cdn.marketplace.example/b.jpg",
			stock_availability: "InStock",
		});
		await importFile({ seller_products: [full] });
		const expected = await stored("seller_products");
		for (const body of [jsonLines([full]), csv(Object.keys(full), [Object.values(full) as string[]])]) {
			await env.PRODUCTS.prepare("DELETE FROM seller_products").run();
			expect(await sendFeed("seller-products", body)).toMatchObject({ accepted: 1, rejected: 0 });
			expect(await stored("seller_products")).toEqual(expected);
			expect(await searchMarketplace({ q: "bottle", seller: "example outfitters" })).toMatchObject({ total: 1 });
		}
	});

	it("takes common column names and constants; what is not needed may be absent", async () => {
		const body = csv(["ASIN", "Title", "Link", "Price", "Stock"], [["B2", "", "https://marketplace.example/dp/B2", "5.00 USD", "0"]]);
		expect(await sendFeed("seller-products", body, { seller_id: "S-5", seller_name: "Five" })).toMatchObject({ accepted: 1 });
		expect(await stored("seller_products")).toMatchObject([
			{
				asin: "B2",
				seller_id: "S-5",
				seller_name: "Five",
				domain: "marketplace.example",
				name: null,
				current_price_micros: 5_000_000,
				stock_availability: "OutOfStock",
			},
		]);
	});

	it("one ASIN of two sellers is two products, and replace keeps to the feed", async () => {
		await sendFeed("seller-products", jsonLines([sellerEntry("B1", "A"), sellerEntry("B1", "A", { seller_id: "S-2" })]));
		expect(
			await sendFeed("seller-products", jsonLines([sellerEntry("B1", "A", { seller_id: "S-2" })]), { replace: "domains" }),
		).toMatchObject({ removed: 1 });
		expect(await stored("seller_products")).toMatchObject([{ seller_id: "S-2" }]);
	});

	it("needs a seller and USD", async () => {
		const answer = await sendFeed(
			"seller-products",
			jsonLines([
				{ ...sellerEntry("B1", "A"), seller_id: null },
				{ ...sellerEntry("B2", "A"), price: "5 EUR" },
			]),
		);
		expect(answer.rejected_lines).toEqual([
			{ line: 1, reason: "seller_id is required" },
			{ line: 2, reason: "current_price must be in USD, not EUR" },
		]);
	});
});
