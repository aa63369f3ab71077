/** POST /api/links says what the redirect does: each link leads where it says and is paid what it says, and where there is none no click is paid. */
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { BOOK_FORMAT } from "../../src/campaign-book/format.ts";
import { LEARNED_KEY } from "../../src/campaign-book/learned.ts";
import { LinkTokens } from "../../src/click-token/link-token.ts";
import { hashSource } from "../../src/lib/hash.ts";
import { parseMicros } from "../../src/lib/money.ts";
import { type Links, linksSchema } from "../../src/publisher-api/links-answer.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

const KEY = ACME.access_key;
const DOMAINS = ["shoes.example", "hats.example", "pans.example"];
const USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64)";

function post(body: unknown, key = KEY): Promise<Response> {
	return exports.default.fetch("https://base.example/api/links", {
		method: "POST",
		headers: { AccessKey: key },
		body: typeof body === "string" ? body : JSON.stringify(body),
	});
}

async function linksFor(body: object): Promise<Links["data"]> {
	const response = await post(body);
	expect(response.status).toBe(200);
	return v.parse(linksSchema, await response.json()).data;
}

/** Where a link leads, and what became of the click. */
async function follow(link: string) {
	const response = await exports.default.fetch(link, { redirect: "manual", headers: { "user-agent": USER_AGENT } });
	const location = response.headers.get("location") ?? "";
	if (response.status !== 302) return { location, click: null };
	return { location, click: await rowOf(new URL(location).searchParams.get("sub") ?? "") };
}

type ClickRow = Record<"click_hash" | "reason" | "bid_micros" | "publisher_click_id" | "source_id", string | number | null>;

const awaited = new Map<string, PromiseWithResolvers<Omit<ClickRow, "click_hash">>>();

/** A click once it is written. All that are waited for are asked for together: each question costs the same. */
function rowOf(hash: string): Promise<Omit<ClickRow, "click_hash">> {
	const row = Promise.withResolvers<Omit<ClickRow, "click_hash">>();
	awaited.set(hash, row);
	if (awaited.size === 1) lookForRows(Date.now() + 20_000).catch(giveUp);
	return row.promise;
}

function giveUp(reason: unknown): void {
	for (const { reject } of awaited.values()) reject(reason);
	awaited.clear();
}

async function lookForRows(until: number): Promise<void> {
	const { results } = await env.DB.prepare(
		`SELECT click_hash, reason, bid_micros, publisher_click_id, source_id FROM clicks
		WHERE click_hash IN (SELECT atom FROM json_each(?))`,
	)
		.bind(JSON.stringify([...awaited.keys()]))
		.all<ClickRow>();
	for (const { click_hash, ...row } of results) {
		awaited.get(String(click_hash))?.resolve(row);
		awaited.delete(String(click_hash));
	}
	if (awaited.size === 0) return;
	if (Date.now() > until) throw new Error("the click is not written");
	await scheduler.wait(50);
	return lookForRows(until);
}

const campaign = fc.record({
	active: fc.boolean(),
	country: fc.constantFrom("US", "CA"),
	links: fc.constantFrom(
		{ homepage_url: "https://track.example/h?sub={click_id}", deeplink_url: null, deeplink_verified: false },
		...[true, false].map((deeplink_verified) => ({
			homepage_url: "https://track.example/h?sub={click_id}",
			deeplink_url: "https://track.example/d?sub={click_id}&to={deeplink}",
			deeplink_verified,
		})),
		{ homepage_url: null, deeplink_url: "https://track.example/d?sub={click_id}&to={deeplink}", deeplink_verified: true },
	),
	epc: fc.constantFrom("0.4000", "0.3000", "0.0001"),
	daily_click_cap: fc.constantFrom(1_000, 1_000, 0),
});
const brand = fc.record({
	active: fc.constantFrom(true, true, true, false),
	blocked_countries: fc.constantFrom([], [], ["CA"], ["US", "CA"]),
	campaigns: fc.tuple(campaign, campaign),
});
const network = fc.record({
	brands: fc.tuple(brand, brand, brand),
	blocked_brands: fc.constantFrom([], [], [{ domain: "hats.example" }], [{ domain: "hats.example", country: "US" }]),
});
type Network = typeof network extends fc.Arbitrary<infer Of> ? Of : never;

const PATHS = ["", "/", "/boots?size=4", "/wide%20boots/ä"];
const URLS = [
	...DOMAINS.flatMap((domain) => PATHS.map((path) => `https://${domain}${path}`)),
	"http://WWW.Shoes.example/boots",
	"shoes.example/boots",
	"https://de.shoes.example/",
	"https://alias-of-shoes.example/boots",
];

/** Everything is said of every brand and campaign, so that nothing stays of the run before. */
async function importAs({ brands, blocked_brands }: Network): Promise<void> {
	const file = {
		publishers: [{ ...ACME, blocked_brands }],
		brands: brands.map(({ campaigns, ...fields }, at) => ({
			...brandEntry(DOMAINS[at] ?? "", 0, { ...fields, aliases: at === 0 ? ["alias-of-shoes.example"] : [] }),
			campaigns: campaigns.map(({ links, ...one }, which) => ({
				...brandEntry("", 10 * at + which, {}, { ...one, ...links }).campaigns[0],
			})),
		})),
	};
	await importFile(file, "?yes=1");
}

beforeAll(async () => {
	// One visitor clicks on everything here.
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [], traffic: { repeat: "off", velocity: "off" } });
});

describe("worker: POST /api/links", () => {
	it("agrees with the redirect, whatever brands and campaigns are like", async () => {
		await fc.assert(
			fc.asyncProperty(network, fc.constantFrom(undefined, "US", "CA"), async (stored, country) => {
				await importAs(stored);
				const links = await linksFor({ urls: URLS, clickid: "click 1", subi: "sub&1", ...(country !== undefined && { country }) });
				expect(links.map(({ url }) => url)).toEqual(URLS);
				await Promise.all(links.map((one) => ("link" in one ? checkLink(one, country) : checkReason(one, stored))));
			}),
			{ numRuns: Number(env.PROPERTY_RUNS || 8) },
		);
	}, 600_000);

	async function checkLink({ url, link, price }: Extract<Links["data"][number], { link: string }>, country: string | undefined) {
		if (country !== undefined) expect(new URL(link).searchParams.get("cc")).toBe(country);
		const { location, click } = await follow(link);
		expect([url, click]).toEqual([
			url,
			{ reason: null, bid_micros: parseMicros(price), publisher_click_id: "click 1", source_id: "sub&1" },
		]);
		if (DOMAINS.some((domain) => url === `https://${domain}` || url === `https://${domain}/`)) return;
		const page = new URL(location).searchParams.get("to") ?? "";
		expect([url, URL.parse(page)?.href]).toEqual([url, new URL(url.startsWith("http") ? url : `https://${url}`).href]);
	}

	/** A link of any campaign of that brand is not paid, or leads elsewhere. */
	async function checkReason({ url, reason }: { url: string; reason: string }, { brands, blocked_brands }: Network) {
		expect(["blocked", "stopped", "not_in_country", "no_deeplinks", "not_available_now"]).toContain(reason);
		if (reason === "not_in_country" || reason === "no_deeplinks") return;
		const at = DOMAINS.findIndex((domain) => url.toLowerCase().includes(domain.replace(".example", "")));
		const row = await env.DB.prepare("SELECT id FROM brands WHERE domain = ?").bind(DOMAINS[at]).first<{ id: number }>();
		const checkCampaign = async (which: number) => {
			// Others may be open in another country, or lead elsewhere.
			const one = brands[at]?.campaigns[which];
			if (reason === "not_available_now" && (one?.daily_click_cap !== 0 || !one.active)) return;
			const token = await new LinkTokens(env.TOKEN_KEYS.split(",")).mint({
				publisher: ACME.publisher_identity,
				advertiserId: row?.id ?? 0,
				domain: DOMAINS[at] ?? "",
				campaignId: 10 * at + which,
			});
			const own = blocked_brands.filter(({ domain }) => domain === DOMAINS[at]);
			const isBlocked =
				own.some((block) => !("country" in block) || block.country === one?.country) ||
				brands[at]?.blocked_countries.some((country) => country === one?.country) === true;
			if (reason === "blocked" && !isBlocked) return;
			const { click } = await follow(`https://click.example/click?encyp=${token}&dl=${encodeURIComponent(url)}`);
			expect([url, reason, click?.reason ?? null]).not.toEqual([url, reason, null]);
		};
		// Side by side: each waits for the queue.
		await Promise.all([...(brands[at]?.campaigns.keys() ?? [])].map(checkCampaign));
	}

	it("says of each address why it has no link, and chooses the best campaign", async () => {
		const open = { deeplink_url: "https://track.example/d?sub={click_id}&to={deeplink}", deeplink_verified: true };
		const network = {
			publishers: [{ ...ACME, blocked_brands: [{ domain: "hats.example" }] }],
			brands: [
				{
					...brandEntry("shoes.example", 0, { active: true, blocked_countries: [] }),
					campaigns: [
						...brandEntry("", 0, {}, { ...open, active: true, epc: "0.3000", country: "US", daily_click_cap: 1_000 }).campaigns,
						...brandEntry("", 1, {}, { ...open, active: true, epc: "0.4000", country: "CA", daily_click_cap: 1_000 }).campaigns,
					],
				},
				brandEntry("hats.example", 10, { active: true }, open),
				brandEntry("plates.example", 30),
				brandEntry("forks.example", 40, { active: false }),
				brandEntry("spoons.example", 50, {}, { ...open, daily_click_cap: 0 }),
				{
					...brandEntry("knives.example", 0),
					campaigns: [
						...brandEntry("", 60, {}, { deeplink_url: null, deeplink_verified: false, epc: "0.9000", daily_click_cap: 0 }).campaigns,
						...brandEntry("", 61, {}, { ...open, homepage_url: null }).campaigns,
					],
				},
			],
		};
		// Whatever the last of the random networks was, it may stop all that bid in it.
		await importFile(network, "?yes=1");
		const urls = [
			"https://shoes.example/boots",
			"https://hats.example/",
			"https://plates.example/p",
			"https://plates.example/",
			"https://forks.example/",
			"https://spoons.example/",
			"https://knives.example/",
			"https://unknown.example/",
			"https://user:secret@shoes.example/",
			"https://shoes.example\\@elsewhere.example/",
			"javascript:alert(1)",
			"",
			`https://shoes.example/${"a".repeat(3_000)}`,
			"https://127.0.0.1/",
		];
		const told = (await linksFor({ urls })).map((one) => ("reason" in one ? one.reason : [one.brand, one.price]));
		expect(told).toEqual([
			["shoes.example", "0.2000"],
			"blocked",
			"no_deeplinks",
			["plates.example", "0.2000"],
			"stopped",
			"not_available_now",
			["knives.example", "0.2000"],
			"unknown_brand",
			...Array.from({ length: 6 }, () => "invalid_address"),
		]);
		const [inUs, notInUs] = await linksFor({ urls: ["https://shoes.example/boots", "https://plates.example/"], country: "us" });
		expect(inUs).toMatchObject({ price: "0.1500" });
		expect(notInUs).toMatchObject({ price: "0.2000" });
		const [inGb] = await linksFor({ urls: ["https://shoes.example/"], country: "GB" });
		expect(inGb).toMatchObject({ reason: "not_in_country" });
		const [placeholder] = await linksFor({ urls: ["https://shoes.example/"] });
		// As libraries write what there is none of.
		expect(await linksFor({ urls: ["https://shoes.example/"], country: null, clickid: null, subi: null })).toEqual([placeholder]);
		expect("link" in (placeholder ?? {}) && placeholder).toMatchObject({ link: expect.stringMatching(/&cc=CA&clickid=\{clickid\}$/) });
	});

	it("tells, and chooses by, the prices that were learned, and so does GET /api/brands", async () => {
		const links = { deeplink_url: "https://track.example/d?sub={click_id}&to={deeplink}", deeplink_verified: true };
		const open = { ...links, homepage_url: "https://track.example/h?sub={click_id}", active: true, country: "US", daily_click_cap: 1_000 };
		const learned = {
			format: BOOK_FORMAT,
			links: { deeplink: 1.5 },
			publishers: { acme: { f: 0.9, s: { [hashSource("sub&1")]: 0.5, [hashSource("")]: 1.2 }, c: { "120": 2 } } },
		};
		await env.BOOK.put(LEARNED_KEY, JSON.stringify(learned));
		await importFile({ epc_learning: { mode: "automatic" } });
		await env.DB.prepare(
			"INSERT INTO learning_factors (level, campaign_id, publisher_id, name, published, target, moving) VALUES ('price', 101, '', '', ?, '0.5', 0)",
		)
			.bind(JSON.stringify({ factor: 0.5, at: 1, before: [] }))
			.run();
		const file = (learning: object) => ({
			epc_learning: learning,
			publishers: [{ ...ACME, pricing_model: "CPC", blocked_brands: [] }],
			brands: [
				{
					...brandEntry("gates.example", 100, { active: true, blocked_countries: [] }),
					campaigns: [
						...brandEntry("", 100, {}, { ...open, epc: "0.3000" }).campaigns,
						...brandEntry("", 101, {}, { ...open, epc: "0.4000" }).campaigns,
					],
				},
				brandEntry("doors.example", 110, { active: true, blocked_countries: [] }, { ...open, epc: "0.4000", epc_learning: { pin: true } }),
				brandEntry("walls.example", 120, { active: true, blocked_countries: [] }, { ...open, homepage_url: null, epc: "0.4000" }),
			],
		});
		const offered = async (query = "") => {
			const response = await exports.default.fetch(`https://base.example/api/brands?${query}`, { headers: { AccessKey: KEY } });
			const { data } = await response.json<{ data: { domain: string; offers: { campaign_id: number; price: string }[] }[] }>();
			return Object.fromEntries(data.map(({ domain, offers }) => [domain, [offers[0]?.campaign_id, offers[0]?.price]]));
		};
		await importFile(file({ mode: "automatic" }), "?yes=1");
		const urls = ["gates.example", "doors.example", "walls.example"].flatMap((domain) => [`https://${domain}/`, `https://${domain}/boots`]);
		const prices = new Map<string, string>();
		for (const subi of [undefined, "sub&1"]) {
			const links = await linksFor({ urls, ...(subi !== undefined && { subi }) });
			await Promise.all(
				links.map(async (one) => {
					if (!("link" in one)) throw new Error(`${one.url}: ${one.reason}`);
					const { click } = await follow(one.link);
					expect([one.url, subi, click?.reason, click?.bid_micros]).toEqual([one.url, subi, null, parseMicros(one.price)]);
					prices.set(`${one.url} ${subi}`, one.price);
				}),
			);
		}
		// 0.30 × 0.9 × 1.2 × half the share × caution; the other campaign's 0.40 is believed to be worth 0.20.
		expect(prices.get("https://gates.example/ undefined")).toBe("0.1152");
		expect(prices.get("https://gates.example/boots undefined")).toBe("0.1728");
		expect(prices.get("https://gates.example/ sub&1")).toBe("0.0480");
		expect(prices.get("https://doors.example/ sub&1")).toBe("0.2000");
		expect(await offered()).toMatchObject({
			"gates.example": [100, "0.1152"],
			"doors.example": [110, "0.2000"],
			"walls.example": [120, prices.get("https://walls.example/boots undefined")],
		});
		expect(Object.keys(await offered("min_price=0.13"))).toEqual(expect.not.arrayContaining(["gates.example"]));
		// What was learned may still be kept where it is not to count.
		const unlearned = { "gates.example": [101, "0.2000"] };
		const { publishers, ...rest } = file({ mode: "automatic" });
		await importFile({ ...rest, publishers: publishers.map((one) => ({ ...one, epc_learning: { mode: "off" } })) }, "?yes=1");
		expect(await offered()).toMatchObject(unlearned);
		await importFile(file({ mode: "off" }), "?yes=1");
		expect(await offered()).toMatchObject(unlearned);
		await env.DB.prepare("DELETE FROM learning_factors").run();
		await env.BOOK.delete(LEARNED_KEY);
		expect(await offered()).toMatchObject(unlearned);
	});

	it.each([
		["no address", { urls: [] }, "urls"],
		["too many", { urls: Array.from({ length: 501 }, () => "shoes.example") }, "urls"],
		["what is no text", { urls: [1] }, "urls[0]"],
		["a mistyped field", { urls: ["shoes.example"], contry: "US" }, "contry"],
		["a country that is none", { urls: ["shoes.example"], country: "USA" }, "country"],
		["a placeholder as click id", { urls: ["shoes.example"], clickid: "{clickid}" }, "clickid"],
		["no JSON", "{", ""],
	])("refuses %s", async (_, body, path) => {
		const response = await post(body);
		const { faults } = await response.json<{ faults: { path: string }[] }>();
		expect([response.status, faults[0]?.path]).toEqual([422, path]);
	});
});
