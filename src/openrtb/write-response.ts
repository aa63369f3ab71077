/** Strict writer of OpenRTB 2.5 bid responses: exactly the fields of the interface, one seat, one bid. */

const OPENRTB_VERSION = "2.5";
const OPENRTB_HEADERS = { "x-openrtb-version": OPENRTB_VERSION } as const;
const JSON_HEADERS = { "content-type": "application/json", ...OPENRTB_HEADERS } as const;
const FILL_HEADERS = new Headers(JSON_HEADERS);

export type Fill = {
	/** Id of the bid request. */
	requestId: string;
	/** Fresh UUID: `bidid` and the bid's id. */
	bidId: string;
	seat: string;
	impId: string;
	/** USD earnings per click. */
	price: number;
	clickUrl: string;
	/** Advertiser host; null where the advertiser was chosen by keyword. */
	advertiserDomain: string | null;
	advertiserId: string;
	finalUrl: string;
	altered: boolean;
};

/** HTTP 200 with one BidResponse. */
export function writeFill(fill: Fill): Response {
	const { requestId, bidId, seat, impId, price, clickUrl, advertiserDomain, advertiserId, finalUrl, altered } = fill;
	const bid = {
		id: bidId,
		impid: impId,
		price,
		adm: JSON.stringify({ native: { link: { url: clickUrl } } }),
		adomain: advertiserDomain === null ? [] : [advertiserDomain],
		ext: { final_url: finalUrl, altered, advertiser_name: advertiserDomain ?? "", advertiser_id: advertiserId },
	};
	const body = JSON.stringify({ id: requestId, bidid: bidId, cur: "USD", seatbid: [{ seat, bid: [bid] }] });
	return new Response(body, { headers: FILL_HEADERS });
}

/** HTTP 204: an empty body and no Content-Type, whatever the reason. */
export function writeNoBid(): Response {
	return new Response(null, { status: 204, headers: OPENRTB_HEADERS });
}

/** An error answer of an OpenRTB path. */
export function writeError(status: 400 | 405 | 413 | 500, error: string, headers: Record<string, string> = {}): Response {
	return new Response(JSON.stringify({ error }), { status, headers: { ...JSON_HEADERS, ...headers } });
}
