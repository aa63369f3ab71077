/**
 * Requests as they arrive at a Worker behind Cloudflare's front: an SSP's native request of about 2 KB, a search partner's full
 * query, a browser's click; each with its sender's headers and those that Cloudflare adds.
 */
import type { Target } from "./load-protocol.ts";

const USER_AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36";

/** A click as a browser sends it from a page of results. */
export function browserHeaders(at: number): Record<string, string> {
	const version = 100 + (at % 40);
	return {
		"user-agent": `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
		accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
		"accept-language": "en-US,en;q=0.9",
		referer: "https://news.example/",
		"sec-ch-ua": `"Chromium";v="${version}", "Not=A?Brand";v="24", "Google Chrome";v="${version}"`,
		"sec-ch-ua-mobile": "?0",
		"sec-ch-ua-platform": '"Windows"',
		"sec-fetch-dest": "document",
		"sec-fetch-mode": "navigate",
		"sec-fetch-site": "cross-site",
		"sec-fetch-user": "?1",
		"upgrade-insecure-requests": "1",
		...cloudflareHeaders(`203.0.113.${at % 250}`, at),
	};
}

/** A postback as an affiliate platform's server sends it. */
export function platformHeaders(at: number): Record<string, string> {
	return { "user-agent": "platform.example postback/1.0", accept: "*/*", ...cloudflareHeaders("198.51.100.23", at) };
}

/** What Cloudflare adds to every request, https://developers.cloudflare.com/fundamentals/reference/http-headers/. */
function cloudflareHeaders(ip: string, at: number): Record<string, string> {
	return {
		"cf-connecting-ip": ip,
		"cf-ipcountry": "US",
		"cf-ray": `8f1c6e0e51d7${String(at).padStart(4, "0")}-EWR`,
		"cf-visitor": '{"scheme":"https"}',
		"x-forwarded-for": ip,
		"x-forwarded-proto": "https",
		"x-real-ip": ip,
		"cdn-loop": "cloudflare; loops=1",
		"accept-encoding": "gzip, br",
	};
}

const NATIVE_REQUEST = JSON.stringify({
	ver: "1.2",
	context: 2,
	contextsubtype: 20,
	plcmttype: 4,
	plcmtcnt: 1,
	assets: [
		{ id: 1, required: 1, title: { len: 90 } },
		{ id: 2, required: 1, img: { type: 3, wmin: 1200, hmin: 627, mimes: ["image/jpeg", "image/png"] } },
		{ id: 3, required: 0, img: { type: 1, wmin: 80, hmin: 80, mimes: ["image/jpeg", "image/png"] } },
		{ id: 4, required: 1, data: { type: 1, len: 25 } },
		{ id: 5, required: 0, data: { type: 2, len: 140 } },
		{ id: 6, required: 0, data: { type: 12, len: 15 } },
	],
	eventtrackers: [{ event: 1, methods: [1, 2] }],
	privacy: 1,
});

/** @param at makes ids and addresses differ from one request to the next */
export function openRtbTarget(identity: string, domain: string, at: number): Target {
	const request = {
		id: `8f1c6e0e-51d7-4b3a-9a56-${String(at).padStart(12, "0")}`,
		at: 1,
		tmax: 120,
		cur: ["USD"],
		test: 0,
		imp: [
			{
				id: "1",
				tagid: `search-results-top-${at % 40}`,
				bidfloor: 0.01,
				bidfloorcur: "USD",
				secure: 1,
				native: { ver: "1.2", request: NATIVE_REQUEST, api: [], battr: [1, 3, 8, 9, 10, 14] },
				ext: { gpid: `/1234567/news/home#slot-${at % 40}` },
			},
		],
		site: {
			id: "site-4471",
			name: "News Example",
			domain,
			page: `https://news.example/articles/2026/11/the-best-of-the-season-${at}`,
			ref: "https://search.example/?q=best+of+the+season",
			cat: ["IAB22"],
			publisher: { id: `click-${1_000_000 + at}`, name: "News Example Ltd" },
		},
		device: {
			ua: USER_AGENT,
			ip: `203.0.113.${at % 250}`,
			ipv6: "2001:db8:85a3::8a2e:370:7334",
			language: "en",
			os: "Windows",
			osv: "10",
			devicetype: 2,
			js: 1,
			dnt: 0,
			geo: { country: "USA", region: "NY", city: "New York", zip: "10001", type: 2 },
		},
		user: {
			id: `user-${7_000_000 + at}`,
			buyeruid: `buyer-${at % 9_973}`,
			ext: {
				eids: [
					{ source: "id.example", uids: [{ id: `ID5*${String(at).padStart(24, "a")}`, atype: 1, ext: { linkType: 2 } }] },
					{ source: "shared.example", uids: [{ id: `01HX${String(at).padStart(22, "0")}`, atype: 3 }] },
				],
			},
		},
		bcat: ["IAB7-39", "IAB8-18", "IAB25", "IAB26"],
		badv: ["competitor-one.example", "competitor-two.example"],
		source: {
			fd: 0,
			tid: `tid-${at}`,
			ext: {
				schain: {
					ver: "1.0",
					complete: 1,
					nodes: [
						{ asi: "publisher-network.example", sid: "4471", hp: 1 },
						{ asi: "ssp.example", sid: "p-109-4471", rid: `tid-${at}`, hp: 1 },
					],
				},
			},
		},
		regs: { coppa: 0, ext: { gdpr: 0, us_privacy: "1YNN" } },
	};
	const headers = {
		"x-openrtb-version": "2.5",
		accept: "application/json",
		"user-agent": "ssp.example bidder/4.2",
		...cloudflareHeaders("198.51.100.7", at),
	};
	return { method: "POST", path: `/openrtb/${identity}`, body: JSON.stringify(request), headers };
}

export function servingEngineTarget(publisherId: string, domain: string, at: number): Target {
	const query = new URLSearchParams({
		pubi: publisherId,
		bd: domain,
		cc: "US",
		ua: USER_AGENT,
		ip: `203.0.113.${at % 250}`,
		clickid: `click-${1_000_000 + at}`,
		subid: `search-results-top-${at % 40}`,
		fbid: "0.0100",
		ref: `https://news.example/articles/2026/11/the-best-of-the-season-${at}`,
	});
	return { method: "GET", path: `/serving-engine?${query}` };
}
