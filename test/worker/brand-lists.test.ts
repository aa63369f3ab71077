/** GET /api/brands-list and /api/brands-list-by-traffic-type on real D1: records, selection, permissions, errors. */
import { env, exports } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { listOf } from "../../src/catalogue/read-pages.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { offerIdOf } from "../../src/lib/md5-ids.ts";
import { ON_D1 } from "../support/engine.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";

type BrandRecord = Record<string, unknown> & {
	domain: string;
	campaign_id: number;
	country_code: string;
	click_url_homepage?: string;
	click_url_deeplink?: string;
};
type List = { success: boolean; data: BrandRecord[] };

const CASHBACK = {
	...ACME,
	id: "cash",
	publisher_id: "2002",
	publisher_identity: "cash_rtb",
	access_key: "access-key-cash",
	publisher_key: "publisher-key-cash",
	cashback_enabled: true,
};
const BLOCKED = {
	...ACME,
	id: "blocked",
	publisher_id: "2003",
	publisher_identity: "blocked_rtb",
	access_key: "access-key-blocked",
	publisher_key: "publisher-key-blocked",
	blocked_brands: [{ domain: "shoes.example" }, { domain: "global.example", country: "US" }, { domain: "us-only.example", country: "US" }],
};
const campaign = (campaignId: number, fields: object = {}) => ({ ...brandEntry("x.example", campaignId).campaigns[0], ...fields });

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME, CASHBACK, BLOCKED],
		brands: [
			{
				domain: "shoes.example",
				name: 'Shoes "& more"\u2028 é',
				category: "Footwear",
				new_deal: true,
				last_updated_date: "2026-10-01",
				restricted_traffic: ["Coupons", "TM Bidding"],
				traffic_types: ["Search", "Content"],
				campaigns: [
					campaign(12, { commission_rate: "9% CPS" }),
					campaign(11, {
						merchant_id: 77,
						deeplink_url: "https://track.example/d?s={click_id}&u={deeplink}",
						deeplink_verified: true,
						commission_rate: "8% CPS",
						rate_type: "CPA",
						rate_basis: "percentage",
						max_rate: "8",
					}),
					campaign(10, { active: false }),
				],
			},
			{
				domain: "global.example",
				name: "Global",
				traffic_types: ["All"],
				campaigns: [
					campaign(22, { country: "US" }),
					campaign(21, { country: "GB" }),
					campaign(23, { country: "CA" }),
					campaign(24, { country: "US" }),
					campaign(25, { country: "DE", active: false }),
				],
			},
			{
				domain: "flat.example",
				name: "Flat",
				traffic_types: ["Cashback"],
				campaigns: [campaign(31, { flat_fee: "12.50", commission_rate: "5% CPS" })],
			},
			{ domain: "flat-only.example", name: "Flat only", traffic_types: ["Cashback"], campaigns: [campaign(32, { flat_fee: "0.1" })] },
			{ domain: "unmapped.example", name: "Unmapped", campaigns: [campaign(41)] },
			{ domain: "capped.example", name: "Capped", traffic_types: ["Title"], campaigns: [campaign(51, { daily_click_cap: 0 })] },
			{ domain: "closed.example", name: "Closed", active: false, traffic_types: ["All"], campaigns: [campaign(61)] },
			{ domain: "stopped.example", name: "Stopped", traffic_types: ["All"], campaigns: [campaign(62, { active: false })] },
			{ domain: "empty.example", name: "Empty", traffic_types: ["All"], campaigns: [] },
			{ domain: "us-only.example", name: "US only", traffic_types: ["All"], campaigns: [campaign(71)] },
			{
				domain: "abroad.example",
				name: "Abroad",
				traffic_types: ["All"],
				blocked_countries: ["US"],
				campaigns: [campaign(72, { country: "US" }), campaign(73, { country: "GB" })],
			},
			{ domain: "nowhere.example", name: "Nowhere", traffic_types: ["All"], blocked_countries: ["US"], campaigns: [campaign(74)] },
			{
				domain: "unverified.example",
				name: "Unverified",
				traffic_types: ["Email"],
				campaigns: [campaign(81, { homepage_url: null, deeplink_url: "https://track.example/d?u={deeplink}" })],
			},
		],
	});
});

const get = (path: string, headers: Record<string, string> = { AccessKey: ACME.access_key }, method = "GET") =>
	exports.default.fetch(`https://base.example${path}`, { method, headers });

async function listFor(key: string, trafficType?: string): Promise<BrandRecord[]> {
	const path =
		trafficType === undefined ? "/api/brands-list" : `/api/brands-list-by-traffic-type?traffic_type=${encodeURIComponent(trafficType)}`;
	const response = await get(path, { AccessKey: key });
	expect(response.status).toBe(200);
	expect(response.headers.get("content-type")).toBe("application/json");
	const { success, data } = await response.json<List>();
	expect(success).toBe(true);
	return data;
}

const find = (records: BrandRecord[], domain: string) => records.find((record) => record.domain === domain);
const pairs = (records: BrandRecord[]) => records.map(({ domain, country_code }) => `${domain} ${country_code}`).sort();

describe("worker: a record of Brand List", () => {
	it("has every field, of the active campaign with the lowest id", async () => {
		const { click_url_homepage, click_url_deeplink, ...record } = find(await listFor(ACME.access_key), "shoes.example") ?? {};
		expect(record).toEqual({
			merchant_id: 77,
			offer_id: offerIdOf("shoes.example"),
			campaign_id: 11,
			domain: "shoes.example",
			brand_name: 'Shoes "& more"\u2028 é',
			merchant_category: "Footwear",
			verification_status: "verified",
			country_code: "US",
			// Misspelt, as the interface has it: with an "a" before "ted".
			restricated_traffic: ["Coupons", "TM Bidding"],
			new_deal: 1,
			last_updated_date: "2026-10-01",
			commission_rate: "8% CPS",
		});
		expect(click_url_homepage).toBeTypeOf("string");
		expect(click_url_deeplink).toBeTypeOf("string");
	});

	it("has null where there is no category, date or rate, an empty list without restrictions, and 0 for an existing deal", async () => {
		expect(find(await listFor(ACME.access_key), "unmapped.example")).toMatchObject({
			merchant_category: null,
			last_updated_date: null,
			commission_rate: null,
			restricated_traffic: [],
			new_deal: 0,
		});
	});

	it("stands once a domain, with its countries joined by commas, sorted", async () => {
		const records = await listFor(ACME.access_key);
		expect(new Set(records.map(({ domain }) => domain)).size).toBe(records.length);
		expect(find(records, "global.example")).toMatchObject({ country_code: "CA,GB,US", campaign_id: 21 });
	});

	it("its links carry an opaque token that opens to publisher, brand and campaign, the country, and every placeholder", async () => {
		const record = find(await listFor(ACME.access_key), "shoes.example");
		const placeholders = ["clickid", "subi", "psorc", "pcat", "subid1", "subid2", "subid3", "subid4", "subid5"];
		for (const [link, expected] of [
			[record?.click_url_homepage, placeholders],
			[record?.click_url_deeplink, ["dl", ...placeholders]],
		] as const) {
			const url = new URL(link ?? "");
			expect(`${url.origin}${url.pathname}`).toBe("http://localhost:8787/click");
			const { encyp, cc, ...rest } = Object.fromEntries(url.searchParams);
			expect(cc).toBe("US");
			expect(rest).toEqual(Object.fromEntries(expected.map((name) => [name, `{${name}}`])));
			expect(await new ClickTokens(env.TOKEN_KEYS.split(",")).open(encyp ?? "")).toMatchObject({
				kind: "link",
				publisher: "acme_rtb",
				domain: "shoes.example",
				campaignId: 11,
				bidMicros: 0,
			});
		}
	});

	it("its links are the same at every call, and each publisher's own", async () => {
		const [once, again, other] = [await listFor(ACME.access_key), await listFor(ACME.access_key), await listFor(CASHBACK.access_key)];
		expect(again).toEqual(once);
		expect(find(other, "shoes.example")?.click_url_homepage).not.toBe(find(once, "shoes.example")?.click_url_homepage);
	});

	it("a link that the campaign does not have, or a deeplink that is not verified, is absent", async () => {
		const records = await listFor(ACME.access_key);
		expect(find(records, "global.example")).toHaveProperty("click_url_homepage");
		expect(find(records, "global.example")).not.toHaveProperty("click_url_deeplink");
		expect(find(records, "unverified.example")).toBeDefined();
		expect(find(records, "unverified.example")).not.toHaveProperty("click_url_homepage");
		expect(find(records, "unverified.example")).not.toHaveProperty("click_url_deeplink");
	});
});

describe("worker: which brands are listed", () => {
	it("active ones with an active campaign, capped ones too", async () => {
		const domains = (await listFor(ACME.access_key)).map(({ domain }) => domain).sort();
		expect(domains).toEqual(
			["abroad", "capped", "flat-only", "flat", "global", "shoes", "unmapped", "unverified", "us-only"].map((name) => `${name}.example`),
		);
	});

	it("not in countries where the brand is blocked", async () => {
		const records = await listFor(ACME.access_key);
		expect(find(records, "abroad.example")).toMatchObject({ country_code: "GB", campaign_id: 73 });
		expect(find(records, "nowhere.example")).toBeUndefined();
	});

	it("not those blocked for the publisher: everywhere, or in one country alone", async () => {
		const records = await listFor(BLOCKED.access_key);
		expect(find(records, "shoes.example")).toBeUndefined();
		expect(find(records, "us-only.example")).toBeUndefined();
		expect(find(records, "global.example")).toMatchObject({ country_code: "CA,GB" });
		expect(pairs(await listFor(BLOCKED.access_key, "All")).filter((pair) => pair.startsWith("global"))).toEqual([
			"global.example CA",
			"global.example GB",
		]);
	});
});

describe("worker: flat fees", () => {
	it("a publisher enabled for them sees the fee as a number, and no commission rate beside it", async () => {
		const records = await listFor(CASHBACK.access_key);
		expect(find(records, "flat.example")).toMatchObject({ flat_fee: 12.5, commission_rate: null });
		expect(find(records, "flat-only.example")).toMatchObject({ flat_fee: 0.1, commission_rate: null });
		expect(find(records, "shoes.example")).not.toHaveProperty("flat_fee");
		expect(find(records, "shoes.example")).toMatchObject({ commission_rate: "8% CPS" });
	});

	it("others see the brand without a fee, with the commission rate as it stands", async () => {
		const records = await listFor(ACME.access_key);
		for (const [domain, rate] of [
			["flat.example", "5% CPS"],
			["flat-only.example", null],
		] as const) {
			expect(find(records, domain)).toMatchObject({ commission_rate: rate });
			expect(find(records, domain)).not.toHaveProperty("flat_fee");
		}
	});
});

describe("worker: Brand List by Traffic Type", () => {
	it("All: the brands of Brand List, one record a country, each of its lowest campaign, with its rates", async () => {
		const records = await listFor(ACME.access_key, "All");
		const whole = await listFor(ACME.access_key);
		expect(pairs(records)).toEqual(
			whole.flatMap(({ domain, country_code }) => country_code.split(",").map((country) => `${domain} ${country}`)).sort(),
		);
		const global = records.filter(({ domain }) => domain === "global.example");
		expect(global.map(({ country_code, campaign_id }) => [country_code, campaign_id]).sort()).toEqual([
			["CA", 23],
			["GB", 21],
			["US", 22],
		]);
		for (const record of global) expect(new URL(record.click_url_homepage ?? "").searchParams.get("cc")).toBe(record.country_code);
		expect(find(records, "shoes.example")).toMatchObject({ rate_type: "CPA", rate_basis: "percentage", max_rate: "8" });
		expect(find(records, "unmapped.example")).toMatchObject({ rate_type: null, rate_basis: null, max_rate: null });
	});

	it("the rates are no part of Brand List", async () => {
		const records = await listFor(ACME.access_key);
		expect(records).not.toEqual([]);
		for (const record of records) {
			for (const field of ["rate_type", "rate_basis", "max_rate"]) expect(record).not.toHaveProperty(field);
		}
	});

	it.each([
		[
			"Search",
			["abroad.example GB", "global.example CA", "global.example GB", "global.example US", "shoes.example US", "us-only.example US"],
		],
		[
			"  cashBACK ",
			[
				"abroad.example GB",
				"flat-only.example US",
				"flat.example US",
				"global.example CA",
				"global.example GB",
				"global.example US",
				"us-only.example US",
			],
		],
		["dsp", ["abroad.example GB", "global.example CA", "global.example GB", "global.example US", "us-only.example US"]],
	])("%j: brands of that type and brands of All; none without a type", async (trafficType, expected) => {
		expect(pairs(await listFor(ACME.access_key, trafficType))).toEqual(expected);
	});
});

describe.runIf(ON_D1)("worker: how a page of the brand lists is read", () => {
	it.each(["domain", "country"] as const)("by %s: its own brands, and their campaigns by an index, whatever else there is", async (by) => {
		const request = by === "domain" ? ({ by } as const) : ({ by, trafficType: "All" } as const);
		const page = listOf({ blockedBrands: "[]" }, request, sql`b.id > ${5}`, 100);
		const read = (await planOf(page)).filter((detail) => /^(SCAN|SEARCH) [bc] /.test(`${detail} `));
		expect(read).toEqual([
			"SEARCH b USING INTEGER PRIMARY KEY (rowid>?)",
			"SCAN b",
			"SEARCH c USING INDEX campaigns_by_brand (brand_id=?)",
			"SCAN b",
			"SEARCH c USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
		]);
	});
});

describe("worker: errors of the brand lists", () => {
	it.each(["/api/brands-list", "/api/brands-list-by-traffic-type?traffic_type=All", "/api/brands-list-by-traffic-type"])(
		"%s: 401 without a valid AccessKey, whatever else is wrong",
		async (path) => {
			for (const headers of [
				{},
				{ AccessKey: "" },
				{ AccessKey: "   " },
				{ AccessKey: "wrong-key-0000" },
				{ AccessKey: ACME.publisher_key },
				{ PublisherKey: ACME.access_key },
				{ AccessKey: `${ACME.access_key}, ${ACME.access_key}` },
				{ Authorization: `Bearer ${ACME.access_key}` },
			]) {
				const response = await get(path, headers as Record<string, string>);
				expect(response.status).toBe(401);
				expect(await response.json()).toEqual({ error: "Unauthorized" });
			}
		},
	);

	it.each([
		["", "traffic_type is required."],
		["?traffic_type=", "traffic_type is required."],
		["?traffic_type=%20%09", "traffic_type is required."],
		["?traffic_type=Everything", "Invalid traffic_type."],
		["?traffic_type=%ff%00", "Invalid traffic_type."],
		["?Traffic_Type=All", "traffic_type is required."],
	])("traffic_type %j: 400", async (query, message) => {
		const response = await get(`/api/brands-list-by-traffic-type${query}`);
		expect(response.status).toBe(400);
		expect(await response.json()).toEqual({ success: false, message });
	});

	it.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s: 405 with Allow", async (method) => {
		for (const path of ["/api/brands-list", "/api/brands-list-by-traffic-type"]) {
			const response = await get(path, undefined, method);
			expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
			await response.body?.cancel();
		}
	});

	it("no brands at all: an empty Brand List, and No active brands found. by traffic type", async () => {
		await env.DB.prepare("UPDATE brands SET active = 0").run();
		await env.DB.prepare("UPDATE catalogue_state SET version = version + 1").run();
		await scheduler.wait(300);
		const response = await get("/api/brands-list");
		expect([response.status, await response.json()]).toEqual([200, { success: true, data: [] }]);
		const typed = await get("/api/brands-list-by-traffic-type?traffic_type=Search");
		expect([typed.status, await typed.json()]).toEqual([200, { success: false, message: "No active brands found." }]);
	});
});
