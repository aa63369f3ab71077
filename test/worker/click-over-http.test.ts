/** Clicks that are called by http: browsers say to secure addresses alone whether a page embeds the link. */
import { describe, expect, test } from "vitest";
import { routeBid } from "../../src/bidding/routes.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { RecentVisits } from "../../src/clicks/recent-visits.ts";
import { routeClick } from "../../src/clicks/redirect-route.ts";
import { BROWSER } from "../support/clicks.ts";
import { memoryBook } from "../support/memory-book.ts";

const SHOP = { i: 1, d: "shop.example", c: [{ i: 1, o: "US", p: 7, h: "https://t.example/{click_id}", e: 400_000 }] };
const TOKEN_KEY = "test-token-key-0000000000000000000";
const shared = {
	book: new CampaignBook(memoryBook({ "d shop.example": [SHOP] }), { snapshotTtlMs: 60_000 }),
	tokens: new ClickTokens([TOKEN_KEY]),
	now: () => Date.now(),
	measure: undefined,
	clickTtlMs: 86_400_000,
};
const CLICK_URL = "https://click.example";
const bidding = { ...shared, clickUrl: CLICK_URL };
const IN_CLEAR = '{"scheme":"http"}';

async function clickUrl(): Promise<string> {
	const asked = new Request("https://rtb.example/serving-engine?pubi=1001&bd=shop.example&cc=US");
	const response = await routeBid(bidding, asked, asked.url, () => {});
	const answer = (await response?.json()) as { redirect_url?: string } | undefined;
	if (answer?.redirect_url === undefined) throw new Error("no bid");
	return answer.redirect_url;
}

/** Calls an address as a frame does where nothing tells of it. */
async function call(
	url: string,
	visitor: string | null,
	secureUrl: string | undefined,
): Promise<{ location: string; recorded: ClickMessage[] }> {
	const recorded: ClickMessage[] = [];
	const pending: Promise<unknown>[] = [];
	const store = {
		sender: { send: async (click: ClickMessage) => void recorded.push(click) },
		connectionKey: TOKEN_KEY,
		limits: { address: undefined, token: undefined, stripped: undefined },
		visits: new RecentVisits(),
	};
	const headers = new Headers({ "user-agent": BROWSER, accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
	if (visitor !== null) headers.set("cf-visitor", visitor);
	const request = new Request(url, { headers });
	const response = await routeClick({ ...shared, store, secureUrl }, request, url, (promise) => void pending.push(promise));
	await Promise.all(pending);
	expect(response?.status).toBe(302);
	expect(response?.headers.get("cache-control")).toBe("no-store");
	return { location: response?.headers.get("location") ?? "", recorded };
}

describe("worker: clicks by http", () => {
	test("are led to the same link by https, and not recorded before", async () => {
		const secure = await clickUrl();
		for (const host of ["http://click.example", "http://click.example:8080", "http://rtb.example"]) {
			const { location, recorded } = await call(secure.replace(CLICK_URL, host), IN_CLEAR, CLICK_URL);
			expect(location).toBe(secure);
			expect(recorded).toEqual([]);
		}
		const { location, recorded } = await call(secure, '{"scheme":"https"}', CLICK_URL);
		expect(location).toMatch(/^https:\/\/t\.example\//);
		expect(recorded).toHaveLength(1);
	});

	test("are answered where links are of http, and where something before us may have taken the encryption off", async () => {
		const plain = (await clickUrl()).replace("https:", "http:");
		for (const [visitor, secureUrl] of [
			[IN_CLEAR, undefined],
			[null, CLICK_URL],
			['{"scheme":"https"}', CLICK_URL],
		] as const) {
			const { location, recorded } = await call(plain, visitor, secureUrl);
			expect(location).toMatch(/^https:\/\/t\.example\//);
			expect(recorded).toHaveLength(1);
		}
	});
});
