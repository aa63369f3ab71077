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
