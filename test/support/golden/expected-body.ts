/** Builds the whole expected body of a case from what the case says of it. */
import type { AdExpectation, FillExpectation, GoldenCase } from "./case.ts";

/** What a click URL must hold: each parameter after encyp and rtuli, and the content of its token. */
export type ClickExpectation = {
	click_url: Record<string, string>;
	token: { kind: string; publisher: string; domain: string; campaign_id: number; bid: string; test: boolean };
};

/** The body a case expects; undefined where it says nothing of it, null for an empty one. */
export function expectedBody(golden: GoldenCase): unknown {
	const { fill, ad } = golden.expect;
	if (fill !== undefined) return fillBody(fill, golden);
	if (ad !== undefined) return adBody(ad);
	return golden.expect.status === 204 ? null : golden.expect.body;
}

function fillBody(fill: FillExpectation, golden: GoldenCase): unknown {
	const { price, domain, campaign_id, click_url, by_keyword: byKeyword, test } = fill;
	const publisher = fill.publisher ?? golden.path.split("/").at(-1) ?? "";
	const click: ClickExpectation = {
		click_url,
		token: { kind: "openrtb", publisher, domain, campaign_id, bid: (test ? 0 : price).toFixed(4), test },
	};
	return {
		id: fill.id,
		bidid: "<uuid:bid>",
		cur: "USD",
		seatbid: [
			{
				seat: fill.seat,
				bid: [
					{
						id: "<uuid:bid>",
						impid: fill.impid,
						price: test ? 0 : price,
						adm: click,
						adomain: byKeyword ? [] : [domain],
						ext: {
							final_url: fill.final_url ?? `https://${domain}/`,
							altered: fill.altered,
							advertiser_name: byKeyword ? "" : domain,
							advertiser_id: "<advertiser-id>",
						},
					},
				],
			},
		],
	};
}

function adBody(ad: AdExpectation): unknown {
	const { bid_amount, domain, campaign_id, click_url, is_deeplink, publisher } = ad;
	const click: ClickExpectation = {
		click_url,
		token: { kind: "serving-engine", publisher, domain, campaign_id, bid: bid_amount, test: false },
	};
	return { status: 1, bid_amount, redirect_url: click, is_deeplink };
}
