/** Blocks that stop most of what publishers are bid for: an import of them asks first. */
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS, postNetwork, priceFor, publisherCalled } from "../support/network-import.ts";

const DOMAINS = ["shoes.example", "hats.example", "socks.example", "gloves.example"];
const blocks = (...domains: string[]) => domains.map((domain) => ({ domain }));

function patch(id: string, fields: object, query = ""): Promise<Response> {
	const init = { method: "PATCH", headers: OPERATOR_HEADERS, body: JSON.stringify(fields) };
	return exports.default.fetch(`https://base.example/operator/publishers/${id}${query}`, init);
}

async function blockFor(lists: Record<string, object[]>, query = "") {
	const publishers = Object.entries(lists).map(([id, blocked_brands]) => ({ id, blocked_brands }));
	const response = await postNetwork(JSON.stringify({ publishers }), OPERATOR_HEADERS, query);
	return { status: response.status, body: await response.json() };
}

/** Two publishers, and four campaigns that bid for both: eight pairs. What bids for nobody counts nowhere. */
beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [publisherCalled("one"), publisherCalled("two"), { ...publisherCalled("gone"), status: "suspended" }],
		brands: [
			...DOMAINS.map((domain, at) => brandEntry(domain, at + 1)),
			brandEntry("paused.example", 20, { active: false }),
			brandEntry("abroad.example", 21, {}, { country: "GB", active: false }),
		],
	});
});

describe("worker: blocks that stop most of what publishers are bid for", () => {
	it("asks where more than half of the pairs of a publisher and a campaign would be blocked, and changes nothing", async () => {
		const [shoes, hats, socks] = DOMAINS as [string, string, string];
		const lists = { one: blocks(shoes, hats, socks), two: blocks(shoes, hats), gone: blocks(...DOMAINS) };
		const { status, body } = await blockFor(lists);
		expect([status, body]).toMatchObject([
			409,
			{
				error: "Confirmation needed",
				stops: 0,
				publishers: { stops: 0, of: 2 },
				blocked: { stops: 5, of: 8 },
				message: expect.stringMatching(/^5 of 8 pairs of a publisher and a campaign that bids for it would be blocked: .*yes=1/),
				difference: { bids: { stops: 0, blocked: 5, publishers: { stops: 0 } } },
			},
		]);
		expect(await priceFor(shoes, "one")).toBe(0.2);
		const looked = await blockFor(lists, "?dry_run=1");
		expect(looked).toMatchObject({ status: 200, body: { needs_confirmation: true, difference: { bids: { blocked: 5 } } } });
		expect(await blockFor(lists, "?yes=1")).toMatchObject({ status: 200, body: { difference: { bids: { blocked: 5 } } } });
		expect(await priceFor(shoes, "one")).toBeNull();
		// Of the three pairs that are left, two.
		expect(await blockFor({ two: blocks(...DOMAINS) })).toMatchObject({ status: 409, body: { blocked: { stops: 2, of: 3 } } });
		expect(await blockFor({ two: blocks(...DOMAINS.slice(0, 3)) })).toMatchObject({
			status: 200,
			body: { difference: { bids: { blocked: 1 } } },
		});
		expect(await blockFor({ one: [], two: [], gone: [] })).toMatchObject({ status: 200, body: { difference: { bids: { blocked: 0 } } } });
	});

	it("asks nothing where it is half, as all of one of two publishers, and counts what bids and was not blocked alone", async () => {
		expect(await blockFor({ one: blocks(...DOMAINS) })).toMatchObject({ status: 200, body: { difference: { bids: { blocked: 4 } } } });
		const again = { one: blocks(...DOMAINS, "paused.example", "abroad.example", "nobody.example") };
		expect(await blockFor(again)).toMatchObject({ status: 200, body: { difference: { bids: { blocked: 0 } } } });
		// A block of one country within a block of all stops nothing, and one of another country neither.
		const countries = DOMAINS.flatMap((domain) => [{ domain, country: "US" }, { domain, country: "GB" }, { domain }]);
		expect(await blockFor({ one: countries })).toMatchObject({ status: 200, body: { difference: { bids: { blocked: 0 } } } });
		const abroad = DOMAINS.map((domain) => ({ domain, country: "GB" }));
		expect(await blockFor({ one: abroad, two: abroad })).toMatchObject({ status: 200, body: { difference: { bids: { blocked: 0 } } } });
		const atHome = DOMAINS.map((domain) => ({ domain, country: "US" }));
		expect(await blockFor({ one: atHome, two: atHome }, "?dry_run=1")).toMatchObject({
			status: 200,
			body: { needs_confirmation: true, difference: { bids: { blocked: 8 } } },
		});
	});

	it("asks of the only publisher's most campaigns, by a PATCH as by an import, but of one campaign never", async () => {
		expect((await patch("two", { status: "suspended" })).status).toBe(200);
		const most = await patch("one", { blocked_brands: blocks(...DOMAINS.slice(0, 3)) });
		expect([most.status, await most.json()]).toMatchObject([409, { blocked: { stops: 3, of: 4 } }]);
		expect((await patch("one", { blocked_brands: blocks(...DOMAINS.slice(0, 3)) }, "?yes=1")).status).toBe(200);
		const last = await patch("one", { blocked_brands: blocks(...DOMAINS) });
		expect([last.status, await last.json()]).toMatchObject([200, { needs_confirmation: false, difference: { bids: { blocked: 1 } } }]);
	});
});

describe("worker: the United Kingdom as many write it", () => {
	it("is blocked by UK as by GB, has campaigns of either, and is asked for by either", async () => {
		const brands = [
			brandEntry("tea.example", 31, {}, { country: "uk" }),
			brandEntry("milk.example", 32, { blocked_countries: ["UK"] }, { country: "GB" }),
			brandEntry("rain.example", 33, {}, { country: "GB" }),
		];
		await importFile({ publishers: [publisherCalled("three")], brands });
		const ask = async (domain: string, cc: string) => {
			const query = new URLSearchParams({ pubi: "three", bd: domain, cc });
			return (await exports.default.fetch(`https://rtb.example/serving-engine?${query}`)).json<{ status: number }>();
		};
		const statuses = () =>
			Promise.all(
				["tea.example", "milk.example", "rain.example"].map(async (domain) => [
					(await ask(domain, "GB")).status,
					(await ask(domain, "UK")).status,
				]),
			);
		expect(await statuses()).toEqual([
			[1, 1],
			[0, 0],
			[1, 1],
		]);
		await importFile({ publishers: [{ id: "three", blocked_brands: [{ domain: "rain.example", country: "UK" }] }] }, "?yes=1");
		expect(await statuses()).toEqual([
			[1, 1],
			[0, 0],
			[0, 0],
		]);
		const headers = { AccessKey: "access-key-three" };
		const list = await exports.default.fetch("https://base.example/api/brands?country=UK", { headers });
		expect(await list.json()).toMatchObject({ data: [{ domain: "tea.example", offers: [{ country: "GB" }] }] });
		const links = JSON.stringify({ urls: ["https://tea.example/", "https://rain.example/"], country: "UK" });
		const linked = await exports.default.fetch("https://base.example/api/links", { method: "POST", headers, body: links });
		expect(await linked.json()).toMatchObject({ data: [{ brand: "tea.example" }, { reason: "blocked" }] });
	});
});
