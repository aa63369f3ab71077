/** POST /operator/network on real D1 and KV: upsert by natural key, all or nothing, keys hashed and shown once. */
import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { HttpError } from "../../src/lib/http.ts";
import { DAY_MS, utcDay } from "../../src/lib/time.ts";
import { importNetwork } from "../../src/operator/network/import-network.ts";
import worker from "../../src/worker.ts";
import { MOST_D1_TAKES, measureValues } from "../support/longest-value.ts";
import {
	ACME,
	brandEntry,
	faultsOf,
	importFile,
	NORTHWIND,
	OPERATOR_HEADERS,
	PLAIN_IMPORT,
	postNetwork,
	priceFor,
} from "../support/network-import.ts";
import { storedBrand } from "../support/stored-book.ts";

const countAll = (...tables: string[]) =>
	env.DB.prepare(`SELECT ${tables.map((table) => `(SELECT COUNT(*) FROM ${table}) AS ${table}`).join(", ")}`).first<
		Record<string, number>
	>();
const count = async (table: string) => (await countAll(table))?.[table] ?? -1;

/** What an import is given, and how long the longest value is that it gives the database. */
function measured() {
	const { client, longest } = measureValues(env.DB);
	const deps = {
		db: openDatabase(client),
		products: openDatabase(env.PRODUCTS),
		publish: async () => ({ version: 0, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null }),
		now: Date.now,
		allowInsecureCallbacks: false,
	};
	return { deps, longest };
}

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 1)] });
});

describe("worker: operator key", () => {
	it.each([
		["missing", {}],
		["wrong", { OperatorKey: "wrong" }],
		["blank", { OperatorKey: "" }],
		["in another header", { AccessKey: env.OPERATOR_KEY }],
	])("%s: 401 and nothing is read", async (_name, headers) => {
		const response = await postNetwork("not json", headers as Record<string, string>);
		expect(response.status).toBe(401);
		expect(await response.json()).toEqual({ error: "Unauthorized" });
	});
});

describe("worker: a sound network file", () => {
	it("answers with counts and the book's version, and is bid on at once", async () => {
		const answer = await importFile({ brands: [brandEntry("hats.example", 2), brandEntry("gloves.example", 3)] });
		expect(answer.counts).toMatchObject({ platforms: 0, publishers: 0, brands: 2, campaigns: 2 });
		expect(answer.book.complete).toBe(true);
		expect(await priceFor("hats.example")).toBe(0.2);
	});

	it("updates by natural key, and removes campaigns that a complete list does not name", async () => {
		const [{ id } = { id: -1 }] = (await env.DB.prepare("SELECT id FROM brands WHERE domain = 'hats.example'").all<{ id: number }>())
			.results;
		await importFile({ brands: [brandEntry("HATS.example.", 22, { campaigns_complete: true }, { epc: "0.6000" })] });
		const { results } = await env.DB.prepare("SELECT campaign_id, brand_id FROM campaigns WHERE brand_id = ?").bind(id).all();
		expect(results).toEqual([{ campaign_id: 22, brand_id: id }]);
		expect(await priceFor("hats.example")).toBe(0.3);
	});

	it("leaves absent sections and absent brands untouched", async () => {
		const before = await countAll("platforms", "publishers", "brands", "access_keys");
		await importFile({ exchange_rates: [{ currency: "EUR", date: "2026-11-01", usd: "1.0800" }] });
		expect(await countAll("platforms", "publishers", "brands", "access_keys")).toEqual(before);
		expect(await priceFor("shoes.example")).toBe(0.2);
	});

	it("is idempotent: the same file again rewrites no shard", async () => {
		const file = { platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("socks.example", 4)] };
		await importFile(file);
		const again = await importFile(file);
		expect(again.book.shards_written).toBe(0);
		expect(again.issued).toEqual([]);
	});

	it("rewrites the entries of campaigns whose platform's number changed", async () => {
		await importFile({ platforms: [{ ...NORTHWIND, platform_id: 8 }] });
		expect((await storedBrand("shoes.example"))?.campaigns).toMatchObject([{ platformId: 8 }]);
		await importFile({ platforms: [NORTHWIND] });
	});

	it("without products needs no database of products; with some it is refused while that is away, and nothing changes", async () => {
		const away = new Proxy(env.PRODUCTS, {
			get: () => () => {
				throw new Error("PRODUCTS is away");
			},
		});
		const importWithout = (file: object) =>
			worker.fetch(
				new Request("https://base.example/operator/network", {
					method: "POST",
					headers: OPERATOR_HEADERS,
					body: JSON.stringify(file),
				}) as unknown as Parameters<typeof worker.fetch>[0],
				{ ...env, PRODUCTS: away },
				createExecutionContext(),
			);
		const stored = () => env.DB.prepare("SELECT epc_micros FROM campaigns WHERE campaign_id = 22").first("epc_micros");
		expect((await importWithout({ brands: [brandEntry("hats.example", 22, {}, { epc: "0.5000" })] })).status).toBe(200);
		expect(await stored()).toBe(500_000);
		const product = { id: "SKU-2", domain: "shoes.example", name: "Shoe", url: "https://shoes.example/2", final_price: "89.90" };
		const refused = await importWithout({ brands: [brandEntry("hats.example", 22, {}, { epc: "0.9000" })], products: [product] });
		expect(refused.status).toBe(500);
		expect(await stored()).toBe(500_000);
	});

	it("stores products in their own database", async () => {
		await importFile({
			products: [{ id: "SKU-1", domain: "shoes.example", name: "Shoe", url: "https://shoes.example/1", final_price: "89.90" }],
			seller_products: [
				{
					asin: "B1",
					domain: "market.example",
					seller_id: "S1",
					name: "Bottle",
					url: "https://market.example/B1",
					current_price: "19.9900",
				},
			],
		});
		const product = await env.PRODUCTS.prepare("SELECT final_price_micros, availability FROM products WHERE id = 'SKU-1'").first();
		expect(product).toEqual({ final_price_micros: 89_900_000, availability: "InStock" });
		expect(await env.PRODUCTS.prepare("SELECT current_price_micros FROM seller_products").first("current_price_micros")).toBe(19_990_000);
	});

	it("exports products, where asked for, as they were imported: every one of them once, however many", async () => {
		// More than are read at once.
		const MANY = 2_002;
		const many = { domain: "many.example", name: "Many", url: "https://many.example/" };
		await importFile({
			products: Array.from({ length: MANY }, (_, at) => ({ ...many, id: `many-${at}`, final_price: "1" })),
			// A page ends between the two sellers of one.
			seller_products: Array.from({ length: MANY }, (_, at) => ({
				...many,
				asin: `many-${at >> 1}`,
				seller_id: `S${at & 1}`,
				current_price: "1",
			})),
		});
		const response = await exports.default.fetch("https://base.example/operator/network?sections=products,seller_products", {
			headers: OPERATOR_HEADERS,
		});
		type File = { products: { id: string }[]; seller_products: { asin: string; seller_id: string }[] };
		const { products, seller_products: sellers, ...others } = await response.json<File>();
		expect(Object.keys(others)).toEqual(["$schema"]);
		expect(new Set(products.map(({ id }) => id)).size).toBe(products.length);
		expect(new Set(sellers.map((one) => `${one.asin} ${one.seller_id}`)).size).toBe(sellers.length);
		expect([products.length, sellers.length]).toEqual([MANY + 1, MANY + 1]);
		expect(products.find(({ id }) => id === "SKU-1")).toMatchObject({ name: "Shoe", final_price: "89.9000" });
		expect(sellers.find(({ asin }) => asin === "B1")).toMatchObject({ seller_id: "S1", current_price: "19.9900" });
		await env.PRODUCTS.batch(
			["products", "seller_products"].map((table) => env.PRODUCTS.prepare(`DELETE FROM ${table} WHERE domain = 'many.example'`)),
		);
	});

	it("leaves no staged rows behind", async () => {
		expect(await count("import_rows")).toBe(0);
		expect(await env.PRODUCTS.prepare("SELECT COUNT(*) AS n FROM import_rows").first("n")).toBe(0);
	});
});

describe("worker: what payouts and their changes mean", () => {
	it("is what the file says, and the default where it says null", async () => {
		const stored = async () => [
			await env.DB.prepare("SELECT negative_payout FROM platforms WHERE id = ?").bind(NORTHWIND.id).first("negative_payout"),
			await env.DB.prepare("SELECT amendments FROM publishers WHERE id = ?").bind(ACME.id).first("amendments"),
		];
		await importFile({ platforms: [{ ...NORTHWIND, negative_payout: "adjust" }], publishers: [{ ...ACME, amendments: "pair" }] });
		expect(await stored()).toEqual(["adjust", "pair"]);
		expect(
			await faultsOf({
				platforms: [{ ...NORTHWIND, negative_payout: "debit" }],
				publishers: [{ ...ACME, amendments: true, privacy: "keep" }],
			}),
		).toMatchObject({
			faults: [
				{ path: "platforms[0].negative_payout", message: "must be cancel or adjust" },
				{ path: "publishers[0].amendments", message: "must be none or pair" },
				{ path: "publishers[0].privacy", message: "must be as_sent, strip or no_bid" },
			],
		});
		await importFile({ platforms: [{ ...NORTHWIND, negative_payout: null }], publishers: [{ ...ACME, amendments: null }] });
		expect(await stored()).toEqual(["cancel", "none"]);
	});
});

describe("worker: credentials of an import", () => {
	it("keeps every word of a platform's status_map, whatever objects inherit", async () => {
		const text = '{"__proto__":"approved","constructor":"cancelled","prototype":"pending"}';
		await importFile({ platforms: [{ ...NORTHWIND, status_map: JSON.parse(text) }] });
		const stored = () => env.DB.prepare("SELECT status_map FROM platforms WHERE name = ?").bind(NORTHWIND.name).first<string>("status_map");
		expect(await stored()).toBe(text);
		await importFile({ platforms: [{ ...NORTHWIND, status_map: null }] });
		expect(await stored()).toBe("{}");
	});

	it("issues what a new publisher or platform lacks, shows it once, and stores only hashes", async () => {
		const file = {
			platforms: [{ id: "p-new", name: "New" }],
			publishers: [{ id: "new", name: "New", revenue_share: 0.7, pricing_model: "CPC" }],
		};
		const { issued } = await importFile(file);
		expect(issued.map(({ owner, kind }) => `${owner}: ${kind}`).sort()).toEqual([
			"platform p-new: platform_key",
			"publisher new: access_key",
			"publisher new: publisher_id",
			"publisher new: publisher_identity",
			"publisher new: publisher_key",
		]);
		expect((await importFile(file)).issued).toEqual([]);
		const everything = JSON.stringify((await env.DB.prepare("SELECT * FROM access_keys").all()).results);
		for (const { kind, value } of issued) if (kind.endsWith("key")) expect(everything).not.toContain(value);
		expect(everything).not.toContain("access-key-acme");
	});

	it("a new key that the file names replaces the owner's earlier one of that kind, which no import makes valid again", async () => {
		const publisher = { id: "rekeyed", name: "Rekeyed", access_key: "access-key-rekeyed", revenue_share: 0.5, pricing_model: "CPA" };
		const valid = async () =>
			(
				await env.DB.prepare(
					"SELECT SUM(CASE WHEN expires_at IS NULL THEN 1 ELSE 0 END) AS valid, COUNT(*) AS n FROM access_keys WHERE owner_id = 'rekeyed' AND kind = 'access_key'",
				).all()
			).results;
		await importFile({ publishers: [publisher] });
		await importFile({ publishers: [{ ...publisher, access_key: "access-key-rekeyed-2" }] });
		expect(await valid()).toEqual([{ valid: 1, n: 2 }]);
		const { warnings } = await importFile({ publishers: [publisher] });
		expect(warnings.map(({ path }) => path)).toEqual(["publishers[0].access_key"]);
		expect(await valid()).toEqual([{ valid: 1, n: 2 }]);
	});
});

describe("worker: a network file with faults changes nothing", () => {
	const cases: [string, object | string, string, RegExp][] = [
		["text that is no JSON", "{", "", /not JSON/],
		["no object", "[]", "", /object of sections/],
		["a section that is no list", { brands: {} }, "brands", /must be a list/],
		["a section that is null", { publishers: null }, "publishers", /must be a list; leave it out/],
		["a missing field", { brands: [{ domain: "a.example" }] }, "brands[0].name", /required/],
		["a NUL in a text", { brands: [{ domain: "a.example", name: "A\0" }] }, "brands[0].name", /without NUL/],
		["half a character in an id", { publishers: [{ ...ACME, id: "\ud800" }] }, "publishers[0].id", /Unicode text/],
		["a domain that is none", { brands: [{ domain: "localhost", name: "A" }] }, "brands[0].domain", /domain/],
		["a number as amount", { brands: [brandEntry("a.example", 90, {}, { epc: 0.4 })] }, "brands[0].campaigns[0].epc", /decimal string/],
		["a negative amount", { brands: [brandEntry("a.example", 90, {}, { epc: "-0.1" })] }, "brands[0].campaigns[0].epc", /negative/],
		[
			"an unknown platform",
			{ brands: [brandEntry("a.example", 90, {}, { platform: "nope" })] },
			"brands[0].campaigns[0].platform",
			/not a platform/,
		],
		[
			"an unknown time zone",
			{ brands: [brandEntry("a.example", 90, {}, { timezone: "Mars/Base" })] },
			"brands[0].campaigns[0].timezone",
			/IANA/,
		],
		[
			"an hour past 23",
			{ brands: [brandEntry("a.example", 90, {}, { allowed_hours: [24] })] },
			"brands[0].campaigns[0].allowed_hours[0]",
			/0 to 23/,
		],
		[
			"a script as link",
			{ brands: [brandEntry("a.example", 90, {}, { homepage_url: "javascript:alert(1)" })] },
			"brands[0].campaigns[0].homepage_url",
			/http/,
		],
		[
			"an unknown traffic type",
			{ brands: [brandEntry("a.example", 90, { traffic_types: ["Carrier pigeon"] })] },
			"brands[0].traffic_types[0]",
			/one of/,
		],
		["a brand twice", { brands: [brandEntry("a.example", 90), brandEntry("www.A.example", 91)] }, "brands[1].domain", /same as/],
		[
			"a campaign twice",
			{ brands: [brandEntry("a.example", 90), brandEntry("b.example", 90)] },
			"brands[1].campaigns[0].campaign_id",
			/same as/,
		],
		[
			"an alias of two brands",
			{ brands: [brandEntry("a.example", 90, { aliases: ["c.example"] }), brandEntry("c.example", 91)] },
			"brands[1].domain",
			/a\.example/,
		],
		[
			"a stored brand's campaign",
			{ brands: [brandEntry("a.example", 1)] },
			"brands[0].campaigns[0].campaign_id",
			/belongs to shoes\.example/,
		],
		[
			"a stored brand's domain as alias",
			{ brands: [brandEntry("a.example", 90, { aliases: ["shoes.example"] })] },
			"brands[0].aliases[0]",
			/belongs to shoes\.example/,
		],
		[
			"another publisher's id",
			{ publishers: [{ ...ACME, id: "b", publisher_identity: "b", access_key: null, publisher_key: null }] },
			"publishers[0].publisher_id",
			/another/,
		],
		[
			"another publisher's key",
			{ publishers: [{ ...ACME, id: "b", publisher_id: "2", publisher_identity: "b" }] },
			"publishers[0].access_key",
			/another/,
		],
		[
			"a rule's mode that is none",
			{ publishers: [{ ...ACME, traffic: { bot: "maybe" } }] },
			"publishers[0].traffic.bot",
			/^must be off, flag or unpaid, or an object/,
		],
		[
			"a threshold that is no number",
			{ publishers: [{ ...ACME, traffic: { repeat: { minutes: "60" } } }] },
			"publishers[0].traffic.repeat.minutes",
			/^must be a whole number$/,
		],
		[
			"a threshold of another name",
			{ publishers: [{ ...ACME, traffic: { velocity: { per_hour: 3 } } }] },
			"publishers[0].traffic.velocity.per_hour",
			/^is not a known field; did you mean `/,
		],
		[
			"a network that is no number",
			{ publishers: [{ ...ACME, traffic: { data_centre: { asns: [64500, "AS1"] } } }] },
			"publishers[0].traffic.data_centre.asns[1]",
			/^must be an AS number$/,
		],
		["a mode of learning that is none", { epc_learning: { mode: "auto" } }, "epc_learning.mode", /^must be one of off, advise, automatic$/],
		[
			"a setting of learning that does not exist",
			{ epc_learning: { modes: "off" } },
			"epc_learning.modes",
			/^must be an object of settings: mode, /,
		],
		[
			"a factor that does not exist",
			{ brands: [brandEntry("a.example", 90, {}, { epc_learning: { kappa: { country: 3 } } })] },
			"brands[0].campaigns[0].epc_learning.kappa.country",
			/^must be an object of numbers: campaign, keyword, campaign_publisher; did you mean `/,
		],
		[
			"a step that the highest rise does not reach",
			{ epc_learning: { rise: 1.05 } },
			"epc_learning",
			/^publishes nothing: rise must be more than 1 \+ publish_step/,
		],
		[
			"what only the network may set",
			{ publishers: [{ ...ACME, epc_learning: { creep: 0.1 } }] },
			"publishers[0].epc_learning.creep",
			/^must be an object of settings: mode; did you mean `mode`\?$/,
		],
		[
			"a delay curve that falls",
			{
				platforms: [
					{
						...NORTHWIND,
						epc_learning: {
							arrivals: [
								{ days: 1, part: 0.5 },
								{ days: 2, part: 0.4 },
							],
						},
					},
				],
			},
			"platforms[0].epc_learning.arrivals",
			/parts of a delay curve must rise/,
		],
		[
			"a delay curve whose days do not rise",
			{
				platforms: [
					{
						...NORTHWIND,
						epc_learning: {
							reversals: [
								{ days: 3, part: 0.1 },
								{ days: 3, part: 0.2 },
							],
						},
					},
				],
			},
			"platforms[0].epc_learning.reversals",
			/days of a delay curve must rise/,
		],
		["a list for the network's traffic rules", { traffic: [] }, "traffic", /^must be an object$/],
		[
			"a list for a publisher's traffic rules",
			{ publishers: [{ ...ACME, traffic: [] }] },
			"publishers[0].traffic",
			/^must be an object of rules: prefetch, /,
		],
		[
			"a list for a campaign's traffic rules",
			{ brands: [brandEntry("a.example", 90, {}, { traffic: [] })] },
			"brands[0].campaigns[0].traffic",
			/^must be an object of rules: /,
		],
		[
			"a list for a rule",
			{ publishers: [{ ...ACME, traffic: { repeat: [] } }] },
			"publishers[0].traffic.repeat",
			/or an object with a mode$/,
		],
		["a list for a plain rule", { traffic: { bot: [] } }, "traffic.bot", /or an object with a mode$/],
		["a list for a map of statuses", { platforms: [{ ...NORTHWIND, status_map: [] }] }, "platforms[0].status_map", /^must be an object$/],
		["a list for an entry", { publishers: [[]] }, "publishers[0]", /^must be an object$/],
		[
			"a list for a campaign",
			{ brands: [{ ...brandEntry("a.example", 90), campaigns: [[]] }] },
			"brands[0].campaigns[0]",
			/^must be an object$/,
		],
		["a list for a block", { publishers: [{ ...ACME, blocked_brands: [[]] }] }, "publishers[0].blocked_brands[0]", /^must be an object$/],
		["a misspelt rule", { traffic: { repeet: "off" } }, "traffic.repeet", /^must be an object of rules: .*; did you mean `repeat`\?$/],
		[
			"a misspelt threshold of a rule",
			{ publishers: [{ ...ACME, traffic: { velocity: { adress_per_hour: 2 } } }] },
			"publishers[0].traffic.velocity.adress_per_hour",
			/; did you mean `address_per_hour`\?$/,
		],
		[
			"a misspelt option",
			{ publishers: [{ ...ACME, openrtb: { keywrds: true } }] },
			"publishers[0].openrtb.keywrds",
			/did you mean `keywords`\?$/,
		],
		["a share above 1", { publishers: [{ ...ACME, revenue_share: 1.2 }] }, "publishers[0].revenue_share", /at most 1/],
		["a day that is none", { exchange_rates: [{ currency: "EUR", date: "2026-02-30", usd: "1" }] }, "exchange_rates[0].date", /calendar/],
		["a rate of zero", { exchange_rates: [{ currency: "EUR", date: "2026-02-03", usd: "0" }] }, "exchange_rates[0].usd", /more than zero/],
		[
			"a product without price",
			{ products: [{ id: "1", domain: "a.example", name: "A", url: "https://a.example/" }] },
			"products[0].final_price",
			/required/,
		],
	];

	it.each(cases)("%s", async (_name, file, path, message) => {
		const tables = ["platforms", "publishers", "brands", "campaigns", "access_keys", "book_dirty_slots", "import_rows"];
		const before = await countAll(...tables);
		expect(before).toMatchObject({ platforms: expect.any(Number) });
		const answer = await faultsOf(file);
		expect(answer.error).toBe("Validation failed");
		expect(answer.faults).toContainEqual({ path, message: expect.stringMatching(message) });
		expect(await countAll(...tables)).toEqual(before);
	});

	it("takes over nothing of a file in which one entry of many is at fault", async () => {
		const brands = Array.from({ length: 3_000 }, (_, at) => brandEntry(`sound-${at}.example`, 5_000 + at));
		const answer = await faultsOf({ brands: [...brands, { domain: "broken.example" }] });
		expect(answer.faults).toEqual([{ path: "brands[3000].name", message: "is required" }]);
		expect(await priceFor("sound-0.example")).toBeNull();
		expect(await count("import_rows")).toBe(0);
	});

	it("counts all faults and lists the first hundred", async () => {
		const answer = await faultsOf({ brands: Array.from({ length: 150 }, (_, at) => ({ domain: `n${at}.example` })) });
		expect(answer.fault_count).toBe(150);
		expect(answer.faults).toHaveLength(100);
	});

	it("never repeats a key in a fault", async () => {
		const secret = "secret key with spaces";
		const response = await postNetwork(JSON.stringify({ publishers: [{ ...ACME, access_key: secret }] }));
		expect(response.status).toBe(422);
		expect(await response.text()).not.toContain(secret);
	});
});

/** A brand that no other test has. */
let brandCount = 0;
function newBrand(fields: object = {}, campaign: object = {}) {
	brandCount++;
	return brandEntry(`w-${brandCount}.example`, 7_000 + brandCount, fields, campaign);
}

describe("worker: what is allowed but suspicious is warned of", () => {
	it.each([
		[
			"Cashback with Incentivized Traffic restricted",
			newBrand({ traffic_types: ["cashback"], restricted_traffic: ["Incentivized Traffic"] }),
			"brands[0]",
		],
		["a bid without a cap", newBrand({}, { daily_click_cap: null }), "brands[0].campaigns[0]"],
		["a link without {click_id}", newBrand({}, { homepage_url: "https://track.example/c" }), "brands[0].campaigns[0].homepage_url"],
		[
			"a deeplink without {deeplink}",
			newBrand({}, { deeplink_url: "https://track.example/{click_id}" }),
			"brands[0].campaigns[0].deeplink_url",
		],
		["a budget without its basis", newBrand({}, { daily_budget: "100.00" }), "brands[0].campaigns[0]"],
		["a field nobody knows", newBrand({}, { epcs: "1" }), "brands[0].campaigns[0].epcs"],
	])("%s", async (_name, brand, path) => {
		const { warnings } = await importFile({ brands: [brand] });
		expect(warnings.map((warning) => warning.path)).toContain(path);
	});

	it.each<[object, string, string]>([
		[{ publishers: [{ ...ACME, trafic: { bot: "off" } }] }, "publishers[0].trafic", "traffic"],
		[
			{ publishers: [{ ...ACME, blocked_brands: [{ domain: "w.example", county: "US" }] }] },
			"publishers[0].blocked_brands[0].county",
			"country",
		],
		[{ platforms: [{ ...NORTHWIND, maxPayout: "5.00" }] }, "platforms[0].maxPayout", "max_payout"],
		[{ brands: [newBrand({ alias: [] })] }, "brands[0].alias", "aliases"],
		[{ brands: [newBrand({}, { EPC: "1" })] }, "brands[0].campaigns[0].EPC", "epc"],
		[{ brands: [newBrand({}, { traffics: {} })] }, "brands[0].campaigns[0].traffics", "traffic"],
	])("of a misspelt field, with the nearest that is known: %#", async (file, path, known) => {
		const { warnings } = await importFile({ platforms: [NORTHWIND], ...file });
		expect(warnings).toContainEqual({
			path,
			message: `is not a field of the network file and was ignored; did you mean \`${known}\`?`,
		});
	});

	it("of an exchange rate that is more than twice the one before it, or less than half, and of one of USD", async () => {
		const rates = (currency: string, ...given: [date: string, usd: string][]) => given.map(([date, usd]) => ({ currency, date, usd }));
		const warningsOf = async (exchange_rates: object[]) => (await importFile({ exchange_rates })).warnings;
		expect(await warningsOf(rates("CHF", ["2026-10-02", "1.2000"], ["2026-10-01", "1.1000"]))).toEqual([]);
		const next = rates("CHF", ["2026-10-05", "118.0000"], ["2026-10-06", "1.1900"], ["2026-10-04", "2.4000"]);
		expect(await warningsOf([...next, ...rates("CHE", ["2026-10-05", "0.1000"]), ...rates("USD", ["2026-10-05", "1.0100"])])).toEqual([
			{ path: "exchange_rates[0].usd", message: "is more than twice the rate before it, 2.4000 on 2026-10-04: see that it is meant" },
			{ path: "exchange_rates[1].usd", message: "is less than half the rate before it, 118.0000 on 2026-10-05: see that it is meant" },
			{ path: "exchange_rates[4].usd", message: "counts nothing: amounts in USD are taken as they are" },
		]);
		// One that is there already was warned of.
		expect(await warningsOf(next)).toEqual([]);
		expect(await warningsOf(rates("CHF", ["2026-10-05", "1.1800"], ["2026-10-07", "0.5900"]))).toEqual([
			{ path: "exchange_rates[0].usd", message: "is less than half the rate before it, 2.4000 on 2026-10-04: see that it is meant" },
			{ path: "exchange_rates[1].usd", message: "is less than half the rate before it, 1.1900 on 2026-10-06: see that it is meant" },
		]);
	});

	it("of an exchange rate by the one before it in the file, however many there are", async () => {
		const start = Date.UTC(2020, 0, 1);
		const rate = (currency: string, at: number, usd = 1.002 ** at) => ({
			...{ currency, usd: usd.toFixed(4) },
			date: utcDay(start + at * DAY_MS),
		});
		const days = Array.from({ length: 2_100 }, (_, at) => at + 1);
		await importFile({ exchange_rates: [rate("CHD", 0)] });
		expect((await importFile({ exchange_rates: days.map((at) => rate("CHD", at)) })).warnings).toEqual([]);
		const mistyped = await importFile({ exchange_rates: days.map((at) => rate("CHX", at, at === 2_001 ? 100 : 1)) });
		expect(mistyped.warnings.map(({ path }) => path)).toEqual(["exchange_rates[2000].usd", "exchange_rates[2001].usd"]);
		// So it is where the newest come first: the one before is in the part behind then, or in none.
		const newestFirst = async (currency: string, given: readonly number[], usdOf: (at: number) => number) => {
			const { warnings } = await importFile({ exchange_rates: given.toReversed().map((at) => rate(currency, at, usdOf(at))) });
			return warnings.map(({ path }) => path);
		};
		await importFile({ exchange_rates: [rate("CHA", 0), rate("CHB", 0)] });
		expect(await newestFirst("CHA", days, (at) => 1.01 ** Math.min(at, 100))).toEqual([]);
		expect(await newestFirst("CHB", days.slice(100), () => 100)).toEqual(["exchange_rates[1999].usd"]);
		expect(await newestFirst("CHC", days, (at) => (at <= 100 ? 100 : 1))).toEqual(["exchange_rates[1999].usd"]);
	});

	it("of an exchange rate of a day over a month ahead: its year may be mistyped", async () => {
		const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
		const rates = [30, 33].map((days) => ({ currency: "NOK", date: dayIn(days), usd: "0.1000" }));
		expect((await importFile({ exchange_rates: rates })).warnings).toEqual([
			{
				path: "exchange_rates[1].usd",
				message: `is of ${dayIn(33)}, over 31 days ahead, and holds for that day alone: see that it is meant`,
			},
		]);
	});

	it("of a misspelt section, with the nearest that is known", async () => {
		const { warnings } = await importFile({ $schema: null, platfroms: [], publisher: null, exchange_rate: [{}], trafic: [{}] });
		expect(warnings).toEqual([
			{ path: "platfroms", message: "is not a section of the network file and was ignored; did you mean `platforms`?" },
			{ path: "publisher", message: "is not a section of the network file and was ignored; did you mean `publishers`?" },
			{ path: "exchange_rate", message: "is not a section of the network file and was ignored; did you mean `exchange_rates`?" },
			{ path: "trafic", message: "is not a section of the network file and was ignored; did you mean `traffic`?" },
		]);
	});

	it("of what is no section, whatever it holds, and takes the rest", async () => {
		const publishers = [{ ...ACME, blocked_brands: [], name: "Beside what is no section" }];
		const others = {
			traficc: { bot: { mode: "off" } },
			comment: "x",
			generated: 5,
			final: true,
			brand: {},
			empty: [],
			deep: [[{ a: [1] }]],
		};
		const { warnings, difference } = await importFile({ ...others, publishers, trailing: { publishers: [{ id: 5 }] } });
		expect(warnings.map(({ path }) => path)).toEqual([...Object.keys(others), "trailing"]);
		expect(warnings[0]?.message).toBe("is not a section of the network file and was ignored; did you mean `traffic`?");
		expect(difference.entries.map(({ section, fields }) => [section, fields?.[0]?.after])).toEqual([["publishers", publishers[0]?.name]]);
		await importFile({ publishers: [ACME] });
	});

	it("of fields of any length and number", async () => {
		const named = (at: number) => `${"x".repeat(at === 0 ? 2_000_000 : 20)}${at}`;
		const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [named(at), at]));
		const { warnings, warning_count } = await importFile({ publishers: [{ ...ACME, blocked_brands: [], ...fields }] });
		expect(warnings[0]?.message).toBe("is not a field of the network file and was ignored");
		expect([warnings.length, warning_count]).toEqual([100, 20_000]);
	});
});

describe("worker: what a campaign's budgets count", () => {
	it.each([
		["publisher", { total_budget: "100.00", budget_basis: "publisher" }, "publisher"],
		["gross", { total_budget: "100.00", budget_basis: "gross" }, "gross"],
		["publisher without a budget", {}, "publisher"],
	])("is taken over without a warning: %s", async (_, campaign, basis) => {
		expect((await importFile({ brands: [newBrand({}, campaign)] })).warnings).toEqual([]);
		const { results } = await env.DB.prepare("SELECT budget_basis FROM campaigns ORDER BY campaign_id DESC LIMIT 1").all();
		expect(results).toEqual([{ budget_basis: basis }]);
	});

	it("is warned of where a budget comes without it, also to a campaign that had none", async () => {
		const message = expect.stringContaining("has a budget but no budget_basis");
		const path = "brands[0].campaigns[0]";
		const brand = newBrand();
		const warningsOf = async (fields: object) =>
			(await importFile({ brands: [{ ...brand, campaigns: [{ ...brand.campaigns[0], ...fields }] }] })).warnings;
		expect(await warningsOf({})).toEqual([]);
		expect(await warningsOf({ total_budget: "100.00" })).toEqual([{ path, message }]);
		expect(await warningsOf({ total_budget: null, budget_basis: "gross" })).toEqual([]);
		expect(await warningsOf({ total_budget: "100.00" })).toEqual([]);
	});

	it("is one of two", async () => {
		const { faults } = await faultsOf({ brands: [newBrand({}, { budget_basis: "net" })] });
		expect(faults).toEqual([{ path: "brands[0].campaigns[0].budget_basis", message: "must be publisher or gross" }]);
	});
});

describe("worker: blocks that block nothing, and products that are not found", () => {
	it("a blocked brand that is no brand's domain is warned of, one of this file or of the stored network is not", async () => {
		const blocked_brands = [{ domain: "nobody.example" }, { domain: "shoes.example", country: "US" }, { domain: "fresh.example" }];
		const { warnings } = await importFile({ publishers: [{ ...ACME, blocked_brands }], brands: [brandEntry("fresh.example", 71)] });
		expect(warnings).toEqual([{ path: "publishers[0].blocked_brands[0].domain", message: expect.stringContaining("nobody.example") }]);
		expect(await priceFor("shoes.example")).toBeNull();
		await importFile({ publishers: [{ ...ACME, blocked_brands: [] }] });
		expect(await priceFor("shoes.example")).toBe(0.2);
	});

	it("warns of products of what is no brand's domain, an alias among them, once a domain", async () => {
		const product = (id: string, domain: string) => ({ id, domain, name: "Boots", url: `https://${domain}/`, final_price: "1.00" });
		const { warnings } = await importFile({
			brands: [brandEntry("newest.example", 72, { aliases: ["newest-outlet.example"] })],
			products: [product("w-1", "newest.example"), product("w-2", "newest-outlet.example"), product("w-3", "newest-outlet.example")],
			seller_products: [{ asin: "w-4", seller_id: "s", domain: "unheard.example", url: "https://unheard.example/" }],
		});
		expect(warnings).toEqual([
			{ path: "products[1].domain", message: "newest-outlet.example is no brand's domain: its products are not found until it is one" },
			{ path: "seller_products[0].domain", message: expect.stringContaining("unheard.example") },
		]);
	});

	it("a block everywhere is narrowed by none of a country, before it or behind it", async () => {
		const everywhere = { domain: "shoes.example" };
		const abroad = { domain: "shoes.example", country: "GB" };
		for (const blocked_brands of [
			[everywhere, abroad],
			[abroad, everywhere],
		]) {
			await importFile({ publishers: [{ ...ACME, blocked_brands }] });
			expect(await priceFor("shoes.example")).toBeNull();
		}
		await importFile({ publishers: [{ ...ACME, blocked_brands: [abroad, { domain: "shoes.example", country: "CA" }] }] });
		expect(await priceFor("shoes.example")).toBe(0.2);
		await importFile({ publishers: [{ ...ACME, blocked_brands: [] }] });
	});
});

describe("worker: a large file", () => {
	it("is staged and checked by no more than D1 takes in one value, however large single entries are", async () => {
		const domainOf = (of: number, at: number) => `${"a".repeat(60)}.${"b".repeat(30)}-${of}-${1_000 + at}.example`;
		const publishers = [1, 2, 3].map((of) => ({
			...ACME,
			id: `large-${of}`,
			publisher_id: `large-${of}`,
			publisher_identity: `large-${of}`,
			access_key: `access-key-large-${of}`,
			publisher_key: `publisher-key-large-${of}`,
			blocked_brands: Array.from({ length: 6_200 }, (_, at) => ({ domain: domainOf(of, at) })),
		}));
		const { deps, longest } = measured();
		const file = new Blob([JSON.stringify({ publishers })]).stream();
		const report = await importNetwork(deps, file, { ...PLAIN_IMPORT, isDryRun: true });
		expect(report.warning_count).toBe(18_600);
		expect(longest()).toBeGreaterThan(1_000_000);
		expect(longest()).toBeLessThan(MOST_D1_TAKES);
	});

	it("is refused where an entry, or a change to it, is more than D1 takes in one value, and nothing of it stays", async () => {
		const blocked = (count: number) => ({
			blocked_brands: Array.from({ length: count }, (_, at) => ({ domain: `a-brand-of-a-name-${100_000 + at}.example` })),
		});
		const keys = { publisher_id: "huge", publisher_identity: "huge", access_key: "access-key-huge", publisher_key: "publisher-key-huge" };
		const importBlocks = async (count: number, publisher: object = { id: ACME.id }) => {
			const { deps, longest } = measured();
			const file = new Blob([JSON.stringify({ publishers: [{ ...publisher, ...blocked(count) }] })]).stream();
			try {
				await importNetwork(deps, file, PLAIN_IMPORT);
				return "imported";
			} catch (error) {
				if (!(error instanceof HttpError)) throw error;
				return { status: error.status, ...error.body };
			} finally {
				expect(longest()).toBeLessThan(MOST_D1_TAKES);
			}
		};
		expect(await importBlocks(15_000)).toBe("imported");
		const isTooLarge = (path: string) => ({ status: 422, faults: [{ path, message: expect.stringContaining("is too large") }] });
		expect(await importBlocks(25_000)).toMatchObject(isTooLarge(`publishers ${ACME.id}`));
		expect(await importBlocks(45_000, { ...ACME, ...keys, id: "huge" })).toMatchObject(isTooLarge("publishers huge"));
		expect(await count("import_rows")).toBe(0);
		expect(await importBlocks(0)).toBe("imported");
	});

	it("20,000 brands in one file are imported and bid on", async () => {
		const encoder = new TextEncoder();
		let next = 0;
		const body = new ReadableStream<Uint8Array>({
			pull(controller) {
				if (next === 0) controller.enqueue(encoder.encode('{"brands":['));
				const part = Array.from({ length: 500 }, (_, at) =>
					JSON.stringify(brandEntry(`large-${next + at}.example`, 1_000_000 + next + at)),
				);
				controller.enqueue(encoder.encode((next === 0 ? "" : ",") + part.join(",")));
				next += 500;
				if (next < 20_000) return;
				controller.enqueue(encoder.encode("]}"));
				controller.close();
			},
		});
		const response = await postNetwork(body, OPERATOR_HEADERS);
		expect(response.status).toBe(200);
		const answer = await response.json<{ counts: object; book: { complete: boolean; shards_written: number } }>();
		expect(answer.counts).toMatchObject({ brands: 20_000, campaigns: 20_000 });
		expect(answer.book.complete).toBe(true);
		expect(answer.book.shards_written).toBeGreaterThan(64);
		expect(await priceFor("large-19999.example")).toBe(0.2);
		expect(await priceFor("shoes.example")).toBe(0.2);
	}, 120_000);
});
