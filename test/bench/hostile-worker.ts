/**
 * Bench-only Worker: answers one bid request many times per HTTP request, because clocks stand still inside one; the time is taken from
 * outside. POST /?times=N with the body of the bid request. Its book, in memory, has brands that all share one keyword.
 */
import type { BiddingDeps } from "../../src/bidding/deps.ts";
import { handleOpenRtb } from "../../src/bidding/openrtb-route.ts";
import { type BrandWire, domainKey, keywordKey } from "../../src/campaign-book/format.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { memoryBook } from "../support/memory-book.ts";
import { BRANDS, domainOf, KEYWORD } from "./hostile-bodies.ts";

const PATH = "/openrtb/acme_rtb";

function brand(at: number): BrandWire {
	const links = { h: "https://t.example/{click_id}", l: "https://t.example/{click_id}/{deeplink}", v: 1 as const };
	const campaign = { i: at, o: "US", p: 7, ...links, e: 400_000, k: { [KEYWORD]: 900_000 - at } };
	return { i: at, d: domainOf(at), a: [`www-${at}.example`], c: [campaign] };
}

function openDeps(): BiddingDeps {
	const brands = Array.from({ length: BRANDS }, (_, at) => brand(at));
	const byDomain = Object.fromEntries(brands.map((of) => [domainKey(of.d), [of]]));
	const store = memoryBook({ ...byDomain, [keywordKey(KEYWORD)]: brands });
	return {
		book: new CampaignBook(store, { snapshotTtlMs: 3_600_000 }),
		tokens: new ClickTokens(["benchmark-token-key-0000000000000000"]),
		clickUrl: "https://click.example",
		now: () => Date.now(),
	};
}

let deps: BiddingDeps | undefined;

export default {
	async fetch(request, _env, ctx) {
		deps ??= openDeps();
		const body = await request.arrayBuffer();
		const times = Number(new URL(request.url).searchParams.get("times"));
		const headers = { "content-type": "application/json", "content-length": String(body.byteLength) };
		const wait = (promise: Promise<unknown>) => ctx.waitUntil(promise);
		let status = 0;
		for (let at = 0; at < times; at++) {
			const sent = new Request(`http://rtb.example${PATH}`, { method: "POST", body, headers });
			({ status } = await handleOpenRtb(deps, sent, PATH, wait));
		}
		return new Response(String(status));
	},
} satisfies ExportedHandler;
