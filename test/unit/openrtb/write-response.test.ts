import { describe, expect, test } from "vitest";
import { type Fill, writeError, writeFill, writeNoBid } from "../../../src/openrtb/write-response.ts";

const FILL: Fill = {
	requestId: "auction-1",
	bidId: "3f2b6c1e-0000-4000-8000-000000000000",
	seat: "acme-seat",
	impId: "imp-1",
	price: 0.336,
	clickUrl: "https://click.example/click?encyp=a&rtuli=b",
	advertiserDomain: "shoes.example",
	advertiserId: 12,
	finalUrl: "https://shoes.example/",
	altered: false,
};

describe("unit: writeFill", () => {
	test("answers 200 application/json with exactly the fields of the interface: one seat, one bid", async () => {
		const response = writeFill(FILL);
		expect(response.status).toBe(200);
		expect(Object.fromEntries(response.headers)).toEqual({ "content-type": "application/json", "x-openrtb-version": "2.5" });
		expect(await response.json()).toEqual({
			id: "auction-1",
			bidid: FILL.bidId,
			cur: "USD",
			seatbid: [
				{
					seat: "acme-seat",
					bid: [
						{
							id: FILL.bidId,
							impid: "imp-1",
							price: 0.336,
							adm: '{"native":{"link":{"url":"https://click.example/click?encyp=a&rtuli=b"}}}',
							adomain: ["shoes.example"],
							ext: { final_url: "https://shoes.example/", altered: false, advertiser_name: "shoes.example", advertiser_id: "12" },
						},
					],
				},
			],
		});
	});

	test("an advertiser chosen by keyword: adomain is empty and advertiser_name is an empty string", async () => {
		const body = JSON.parse(await writeFill({ ...FILL, advertiserDomain: null, finalUrl: "" }).text());
		expect(body.seatbid[0].bid[0]).toMatchObject({
			adomain: [],
			ext: { final_url: "", altered: false, advertiser_name: "", advertiser_id: "12" },
		});
	});

	test("the price is a number without trailing zeros", async () => {
		expect(await writeFill({ ...FILL, price: 0.5 }).text()).toContain('"price":0.5,');
		expect(await writeFill({ ...FILL, price: 0 }).text()).toContain('"price":0,');
	});

	test.each(['quotes " and \\', "lines\n\u0000\u2028", "\ud83d\ude00", "a lone \ud800", "__proto__"])(
		"any text in ids is echoed as it came: %j",
		async (text) => {
			const body = JSON.parse(await writeFill({ ...FILL, requestId: text, impId: text, altered: true }).text());
			expect(body.id).toBe(text);
			expect(body.seatbid[0].bid[0].impid).toBe(text);
			expect(body.seatbid[0].bid[0].ext.altered).toBe(true);
		},
	);
});

describe("unit: writeNoBid", () => {
	test("answers 204 with an empty body, no Content-Type, and the version", async () => {
		const response = writeNoBid();
		expect(response.status).toBe(204);
		expect(response.body).toBeNull();
		expect(Object.fromEntries(response.headers)).toEqual({ "x-openrtb-version": "2.5" });
	});
});

describe("unit: writeError", () => {
	test("answers with an error in JSON, the version, and headers of its own", async () => {
		const response = writeError(405, "Only POST is accepted", { allow: "POST" });
		expect(response.status).toBe(405);
		expect(Object.fromEntries(response.headers)).toEqual({
			allow: "POST",
			"content-type": "application/json",
			"x-openrtb-version": "2.5",
		});
		expect(await response.json()).toEqual({ error: "Only POST is accepted" });
	});
});
