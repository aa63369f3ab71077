/** Strict writer of OpenRTB 2.5 bid responses: exactly the fields of the interface, one seat, one bid. */

const OPENRTB_VERSION = "2.5";
const OPENRTB_HEADERS = { "x-openrtb-version": OPENRTB_VERSION } as const;
const JSON_HEADERS = { "content-type": "application/json", ...OPENRTB_HEADERS } as const;
const FILL_HEADERS = new Headers(JSON_HEADERS);
const NO_BID_HEADERS = new Headers(OPENRTB_HEADERS);

export type Fill = {
	/** Id of the bid request. */
	requestId: string;
	/** Fresh UUID: `bidid` and the bid's id. Like a host, a number and a click URL it has nothing to escape. */
	bidId: string;
	seat: string;
	impId: string;
	/** USD earnings per click. */
	price: number;
	clickUrl: string;
	/** Canonical host of the advertiser; null where the advertiser was chosen by keyword. */
	advertiserDomain: string | null;
	advertiserId: number;
	finalUrl: string;
	altered: boolean;
};

/** Of a bid, as OpenRTB 2.6 has it. */
export type MoreOfBid = {
	/** Where the exchange tells what became of the bid: it puts its values for the macros. */
	nurl: string;
	burl: string;
	lurl: string;
	campaignId: string;
	creativeId: string;
	/** IAB categories of the advertiser, and of which taxonomy they are. */
	categories: readonly string[];
	taxonomy: number;
	/** For how long a click is paid, seconds. */
	exp: number;
};

/** Markup type of OpenRTB 2.6: native. */
const NATIVE = 4;

/** HTTP 200 with one BidResponse. @param more what it has beyond the interface; null for nothing */
export function writeFill(fill: Fill, more: MoreOfBid | null = null): Response {
	const { requestId, bidId, seat, impId, price, clickUrl, advertiserDomain, advertiserId, finalUrl, altered } = fill;
	const domains = advertiserDomain === null ? "" : `"${advertiserDomain}"`;
	const bid = `{"id":"${bidId}","impid":${quote(impId)},"price":${price},"adm":${quoteNative(clickUrl)},"adomain":[${domains}]${more === null ? "" : writeMore(more)}`;
	const ext = `{"final_url":${quote(finalUrl)},"altered":${altered},"advertiser_name":"${advertiserDomain ?? ""}","advertiser_id":"${advertiserId}"}`;
	const body = `{"id":${quote(requestId)},"bidid":"${bidId}","cur":"USD","seatbid":[{"seat":${quote(seat)},"bid":[${bid},"ext":${ext}}]}]}`;
	return new Response(body, { headers: FILL_HEADERS });
}

function writeMore({ nurl, burl, lurl, campaignId, creativeId, categories, taxonomy, exp }: MoreOfBid): string {
	const cat = categories.length === 0 ? "" : `,"cat":${JSON.stringify(categories)},"cattax":${taxonomy}`;
	const notices = `,"nurl":${quote(nurl)},"burl":${quote(burl)},"lurl":${quote(lurl)}`;
	return `${notices},"cid":${quote(campaignId)},"crid":${quote(creativeId)}${cat},"exp":${exp},"mtype":${NATIVE}`;
}

/** Nearly every text: nothing to escape in it. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text as JSON. A bid is put together of these: JSON.stringify() twice over is more than its auction. */
function quote(text: string): string {
	return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The native markup, a JSON text within the JSON. @param url a click URL: there is nothing to escape in it */
function quoteNative(url: string): string {
	return `"{\\"native\\":{\\"link\\":{\\"url\\":\\"${url}\\"}}}"`;
}

/** HTTP 204: an empty body and no Content-Type, whatever the reason. @param code is told in a header; null for nothing */
export function writeNoBid(code: number | null = null): Response {
	const headers = code === null ? NO_BID_HEADERS : { ...OPENRTB_HEADERS, "x-nbr": String(code) };
	return new Response(null, { status: 204, headers });
}

/** An error answer of an OpenRTB path. */
export function writeError(status: 400 | 405 | 413 | 500, error: string, headers: Record<string, string> = {}): Response {
	return new Response(JSON.stringify({ error }), { status, headers: { ...JSON_HEADERS, ...headers } });
}
