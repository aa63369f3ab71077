/** OpenRTB bid requests for tests: each call gives a fresh object that may be changed. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The least that bids: an id, an impression, a domain. */
export function leastRequest(): JsonObject {
	return { id: "auction-1", imp: [{ id: "imp-1" }], site: { domain: "shoes.example" } };
}

/** Every field of the interface's request table. */
export function fullRequest(): JsonObject {
	return {
		id: "auction-1",
		imp: [
			{
				id: "imp-1",
				tagid: "placement-9",
				bidfloor: 0.1,
				bidfloorcur: "USD",
				native: { ext: { url: "https://shoes.example/native", alt: 1 } },
				ext: { deeplink: "https://shoes.example/imp" },
			},
		],
		site: {
			domain: "shoes.example",
			page: "https://news.example/article",
			search: "running shoes",
			ref: "https://search.example/",
			publisher: { id: "click-7" },
			ext: { deeplink: "https://shoes.example/site" },
		},
		app: { domain: "app.example", ext: { deeplink: "https://shoes.example/app" } },
		device: { ua: "Mozilla/5.0", ip: "203.0.113.7", ipv6: "2001:db8::1", geo: { country: "USA" } },
		user: { id: "user-3", buyeruid: "buyer-4", keywords: "boots", geo: { country: "CAN" } },
		ext: { deeplink: "https://shoes.example/request" },
		test: 0,
		tmax: 120,
		cur: ["USD"],
		badv: ["rival.example"],
		wseat: ["acme-seat"],
		bseat: ["other-seat"],
	};
}

/** The same as OpenRTB 2.6 has it, with what publishers may have read beyond the interface. */
export function laterRequest(): JsonObject {
	const chain = { ver: "1.0", complete: 1, nodes: [{ asi: "exchange.example", sid: "1", hp: 1 }] };
	const request = fullRequest();
	return {
		...request,
		imp: [{ ...(request.imp as [JsonObject])[0], exp: 300, secure: 1, pmp: { private_auction: 0, deals: [{ id: "d" }] } }],
		site: { domain: "shoes.example", publisher: { id: "click-7" }, keywords: "boots,hats", kwarray: ["running shoes"] },
		user: { id: "user-3", keywords: "hats, socks", kwarray: ["boots"], eids: [{ source: "id.example", uids: [{ id: "e" }] }] },
		device: { ua: "Mozilla/5.0", ip: "203.0.113.7", geo: { country: "USA" }, sua: { mobile: 0 } },
		bcat: ["IAB25"],
		acat: ["IAB22", "IAB18"],
		cattax: 1,
		source: { tid: "t", schain: chain, ext: { schain: chain } },
	};
}

/** A copy of `base` with the value at a dotted path set, or taken away where it is undefined: `set(r, "imp.0.bidfloor", 1)`. */
export function set(base: JsonObject, path: string, value: Json | undefined): JsonObject {
	const copy = structuredClone(base);
	const steps = path.split(".");
	const last = steps.pop();
	if (last === undefined) throw new Error("an empty path");
	let at: Json = copy;
	for (const step of steps) at = enter(at, step);
	if (typeof at !== "object" || at === null) throw new Error(`${path}: nothing to set it on`);
	const holder = at as JsonObject;
	if (value === undefined) delete holder[last];
	else holder[last] = value;
	return copy;
}

function enter(at: Json, step: string): Json {
	if (typeof at !== "object" || at === null) throw new Error(`${step}: not inside an object or a list`);
	const holder = at as JsonObject;
	holder[step] ??= {};
	return holder[step];
}
