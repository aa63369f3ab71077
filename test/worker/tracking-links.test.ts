/** From a brand list to the platform's link: what a publisher does with a tracking link, now and after things have moved on. */
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

type List = { data: { domain: string; click_url_homepage: string; click_url_deeplink: string }[] };

beforeAll(async () => {
	const links = { deeplink_url: "https://track.example/d?sub={click_id}&to={deeplink}", deeplink_verified: true };
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 1, {}, links)] });
});

async function linksOf(domain: string): Promise<{ homepage: string; deeplink: string }> {
	const response = await exports.default.fetch("https://base.example/api/brands-list", { headers: { AccessKey: ACME.access_key } });
	const record = (await response.json<List>()).data.find((brand) => brand.domain === domain);
	return { homepage: record?.click_url_homepage ?? "", deeplink: record?.click_url_deeplink ?? "" };
}

const follow = (link: string) =>
	exports.default.fetch(link, { redirect: "manual", headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" } });

async function locationOf(link: string): Promise<string> {
	const response = await follow(link);
	expect(response.status).toBe(302);
	return response.headers.get("location") ?? "";
}

describe("worker: a tracking link of a brand list", () => {
	it("leads to the platform's link, with its placeholders filled or left as they are", async () => {
		const { homepage } = await linksOf("shoes.example");
		for (const link of [homepage, homepage.replace("{clickid}", "pub-1").replace("{subi}", "sub-1")]) {
			expect(await locationOf(link)).toMatch(/^https:\/\/track\.example\/c\?sub=[0-9a-f]{32}$/);
		}
	});

	it("leads to the page in dl, of the brand's hosts alone", async () => {
		const { deeplink } = await linksOf("shoes.example");
		const to = (page: string) => deeplink.replace("{dl}", encodeURIComponent(page));
		expect(await locationOf(to("https://shoes.example/boots"))).toMatch(
			/^https:\/\/track\.example\/d\?sub=[0-9a-f]{32}&to=https%3A%2F%2Fshoes\.example%2Fboots$/,
		);
		expect(await locationOf(to("https://elsewhere.example/"))).toMatch(/^https:\/\/track\.example\/c\?/);
		expect(await locationOf(deeplink)).toMatch(/^https:\/\/track\.example\/c\?/);
	});

	it("keeps working on an earlier redirect host, and after the publisher's identity was rotated", async () => {
		const { homepage } = await linksOf("shoes.example");
		const earlier = new URL(homepage);
		earlier.host = "earlier-tracker.example";
		expect(await locationOf(earlier.href)).toMatch(/^https:\/\/track\.example\/c\?/);
		const rotated = await exports.default.fetch("https://base.example/operator/keys/rotate", {
			method: "POST",
			headers: OPERATOR_HEADERS,
			body: JSON.stringify({ kind: "publisher_identity", owner: "acme", overlap_hours: 0 }),
		});
		expect(rotated.status).toBe(200);
		expect((await linksOf("shoes.example")).homepage).not.toBe(homepage);
		expect(await locationOf(homepage)).toMatch(/^https:\/\/track\.example\/c\?/);
	});

	it("altered, it leads nowhere", async () => {
		const { homepage } = await linksOf("shoes.example");
		const url = new URL(homepage);
		const token = url.searchParams.get("encyp") ?? "";
		url.searchParams.set("encyp", `${token.slice(0, -2)}AA`);
		expect((await follow(url.href)).status).toBe(404);
	});
});
