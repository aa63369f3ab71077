/** Which request headers bids and clicks read: those that docs/operations/deploying.md tells to leave where a rule strips others. */
import { describe, expect, test } from "vitest";
import operations from "../../docs/operations/deploying.md?raw";
import { routeBid } from "../../src/bidding/routes.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { RecentVisits } from "../../src/clicks/recent-visits.ts";
import { routeClick } from "../../src/clicks/redirect-route.ts";
import { memoryBook } from "../support/memory-book.ts";

const SHOP = { i: 1, d: "shop.example", c: [{ i: 1, o: "US", p: 7, h: "https://t.example/{click_id}", e: 400_000 }] };
const TOKEN_KEY = "test-token-key-0000000000000000000";
const shared = {
	book: new CampaignBook(memoryBook({ "d shop.example": [SHOP] }), { snapshotTtlMs: 60_000 }),
	tokens: new ClickTokens([TOKEN_KEY]),
	now: () => Date.now(),
	measure: undefined,
};
const bidding = { ...shared, clickUrl: "https://click.example", clickTtlMs: 86_400_000 };
const redirect = {
	...shared,
	clickTtlMs: 86_400_000,
	secureUrl: "https://click.example",
	store: {
		sender: { send: () => Promise.resolve() },
		connectionKey: TOKEN_KEY,
		limits: { address: undefined, token: undefined, stripped: undefined },
		visits: new RecentVisits(),
	},
};

/** A request that notes the headers that are looked at. */
function watch(request: Request): { request: Request; read: Set<string> } {
	const read = new Set<string>();
	const noting = new Proxy(request.headers, {
		get(headers, name) {
			if (name !== "get" && name !== "has") throw new Error(`headers.${String(name)} would read them all`);
			return (header: string) => {
				read.add(header.toLowerCase());
				return headers[name](header);
			};
		},
	});
	const watched = new Proxy(request, {
		get(target, name) {
			if (name === "headers") return noting;
			const value: unknown = Reflect.get(target, name);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
	return { request: watched, read };
}

async function answer(sent: Request): Promise<{ response: Response; read: string[] }> {
	const { request, read } = watch(sent);
	const background: Promise<unknown>[] = [];
	const wait = (promise: Promise<unknown>) => void background.push(promise);
	const { url } = sent;
	const response = await (routeBid(bidding, request, url, wait) ?? routeClick(redirect, request, url, wait));
	await Promise.all(background);
	if (response === null) throw new Error("the path is no endpoint's");
	return { response, read: [...read].sort() };
}

const openRtb = () =>
	new Request("http://rtb.example/openrtb/acme_rtb", {
		method: "POST",
		body: JSON.stringify({
			id: "a",
			imp: [{ id: "1", bidfloor: 0.01 }],
			site: { domain: "shop.example" },
			device: { geo: { country: "USA" } },
		}),
		headers: { "cf-connecting-ip": "198.51.100.7" },
	});
/** A test that gets no bid: whose it is may be told why. */
const testOfNobody = () =>
	new Request("http://rtb.example/openrtb/acme_rtb", {
		method: "POST",
		body: JSON.stringify({ id: "a", imp: [{ id: "1" }], site: { domain: "nobody.example" }, test: 1 }),
		headers: { accesskey: "ak_of_nobody" },
	});
const servingEngine = () => new Request("http://rtb.example/serving-engine?pubi=1001&bd=shop.example&cc=US");

/** What a section of the page names as headers that must stay. */
function namedBy(sentence: string): string[] {
	const [, rest = ""] = operations.replaceAll(/\s+/g, " ").split(sentence);
	const [list = ""] = rest.split(".");
	return [...list.matchAll(/`([\w-]+)`/g)].map(([, name = ""]) => name).sort();
}

describe("worker: the headers that are read", () => {
	test("of bids", async () => {
		const filled = await answer(openRtb());
		expect(filled.response.status).toBe(200);
		const queried = await answer(servingEngine());
		expect(await queried.response.json()).toMatchObject({ status: 1 });
		const tested = await answer(testOfNobody());
		expect(tested.response.status).toBe(204);
		expect([...new Set([...filled.read, ...queried.read, ...tested.read])].sort()).toEqual(namedBy("Bids read"));
	});

	test("of clicks", async () => {
		const { response } = await answer(servingEngine());
		const { redirect_url: url } = (await response.json()) as { redirect_url: string };
		const clicked = await answer(new Request(url));
		expect(clicked.response.status).toBe(302);
		const inClear = await answer(new Request(url.replace("https:", "http:")));
		expect([...new Set([...clicked.read, ...inClear.read])].sort()).toEqual(namedBy("Clicks read"));
	});
});
