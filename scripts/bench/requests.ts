/** Requests as SSPs and search partners send them: about 1 KB of OpenRTB, or a full query. */
import type { Target } from "./load-protocol.ts";

const USER_AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36";

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
				native: { ver: "1.2", request: '{"ver":"1.2","assets":[{"id":1,"required":1,"title":{"len":90}}]}' },
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
		user: { id: `user-${7_000_000 + at}`, buyeruid: `buyer-${at % 9_973}` },
		source: { fd: 0, tid: `tid-${at}` },
		regs: { coppa: 0, ext: { gdpr: 0 } },
	};
	return { method: "POST", path: `/openrtb/${identity}`, body: JSON.stringify(request) };
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
