/** From a bid to a recorded click, through the real queue into the real database. */
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { BROWSER, clickRows, clickUrlFor, follow } from "../support/clicks.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: [
			brandEntry(
				"shoes.example",
				5001,
				{ aliases: ["shoes-outlet.example"] },
				{ deeplink_url: "https://track.example/d?sub={click_id}&url={deeplink}", deeplink_verified: true },
			),
		],
	});
});

describe("worker: from a bid to a recorded click", () => {
	it("redirects to the platform's link with the click hash, and records the click with all it carries", async () => {
		const url = await clickUrlFor("shoes.example", { clickId: "pub-click-1", tagId: "placement 9", buyerUid: "buyer-4" });
		const response = await follow(`${url}&subid1=one&subid2=%7Bsubid2%7D&psorc=news&pcat=sports`, {
			"cf-connecting-ip": "203.0.113.7",
		});
		expect(response.status).toBe(302);
		const [, hash] = /^https:\/\/track\.example\/c\?sub=([0-9a-f]{32})$/.exec(response.headers.get("location") ?? "") ?? [];
		expect(hash).toBeDefined();
		expect(response.headers.get("cache-control")).toBe("no-store");
		expect(response.headers.get("referrer-policy")).toBe("strict-origin-when-cross-origin");
		const [row] = await clickRows({ hash });
		expect(row).toMatchObject({
			click_hash: hash,
			kind: "openrtb",
			reason: null,
			publisher_id: "acme",
			campaign_id: 5001,
			platform: "northwind",
			publisher_click_id: "pub-click-1",
			source_id: "placement 9",
			subi: "placement 9",
			psorc: "news",
			pcat: "sports",
			subid1: "one",
			subid2: null,
			uid: "buyer-4",
			bid_micros: 200_000,
			revenue_micros: 0,
			pricing_model: "CPA",
			country: "US",
			ip_prefix: "203.0.113.0/24",
		});
		expect(row?.user_agent_hash).toMatch(/^[0-9a-f]{16}$/);
		expect(JSON.stringify(row)).not.toContain("203.0.113.7");
		expect(JSON.stringify(row)).not.toContain(BROWSER.slice(0, 20));
	});

	it("refuses a token that does not open: 404, no redirect", async () => {
		const response = await exports.default.fetch("http://click.example/click?encyp=abc", { redirect: "manual" });
		expect(response.status).toBe(404);
		expect(response.headers.get("location")).toBeNull();
	});
});
