/**
 * Bench-only Worker: answers one request many times per HTTP request, because clocks stand still inside one; the time is taken from
 * outside. POST /?times=N with the body of a bid request, `publisher` the identity it is sent to, POST /query?times=N with a HostileQuery as JSON. Answers with the last answer's
 * status, and where it leads. Its book, in memory, has brands that all share one keyword.
 */
import type { BiddingDeps } from "../../src/bidding/deps.ts";
import { handleOpenRtb } from "../../src/bidding/openrtb-route.ts";
import { routeBid } from "../../src/bidding/routes.ts";
import { domainKey, keywordKey } from "../../src/campaign-book/format.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import type { BrandWire, PublisherWire } from "../../src/campaign-book/wire.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import type { RedirectDeps } from "../../src/clicks/deps.ts";
import { RecentVisits } from "../../src/clicks/recent-visits.ts";
import { routeClick } from "../../src/clicks/redirect-route.ts";
import { ACME, memoryBook } from "../support/memory-book.ts";
import { BRANDS, domainOf, KEYWORD } from "./hostile-bodies.ts";
import type { HostileQuery } from "./hostile-queries.ts";

/** The publisher that is asked for where the query names no other. */
const PUBLISHER = "acme_rtb";
/** Has every option, and the answer in full. */
const WITH_OPTIONS: PublisherWire = {
	...{ ...ACME, id: "full", pubi: "1002", rtb: "full_rtb", identity: "full_rtb", f: 1 },
	o: {
		keywords: true,
		bcat: true,
		bot_ua: true,
		exp: true,
		nbr: true,
		schain: { parties: [...Array.from({ length: 199 }, (_, at) => ({ asi: `party-${at}.example` })), { asi: "ssp.example" }] },
	},
};

function brand(at: number): BrandWire {
	const links = { h: "https://t.example/{click_id}", l: "https://t.example/{click_id}/{deeplink}", v: 1 as const };
	const campaign = { i: at, o: "US", p: 7, ...links, e: 400_000, k: { [KEYWORD]: 900_000 - at } };
	return { i: at, d: domainOf(at), a: [`www-${at}.example`], g: ["IAB22-1", "IAB22-2", "IAB18"], c: [campaign] };
}

type Deps = { bidding: BiddingDeps; redirect: RedirectDeps };

function openDeps(): Deps {
	const brands = Array.from({ length: BRANDS }, (_, at) => brand(at));
	const byDomain = Object.fromEntries(brands.map((of) => [domainKey(of.d), [of]]));
	const store = memoryBook({ ...byDomain, [keywordKey(KEYWORD)]: brands }, [ACME, WITH_OPTIONS]);
	const shared = {
		book: new CampaignBook(store, { snapshotTtlMs: 3_600_000 }),
		tokens: new ClickTokens(["benchmark-token-key-0000000000000000"]),
		now: () => Date.now(),
		measure: undefined,
	};
	const clicks: RedirectDeps["store"] = {
		// In production the queue is another machine's work.
		sender: { send: () => Promise.resolve() },
		connectionKey: "benchmark-token-key-0000000000000000",
		limits: { address: undefined, token: undefined, stripped: undefined },
		visits: new RecentVisits(),
	};
	return {
		bidding: { ...shared, clickUrl: "https://click.example", clickTtlMs: 86_400_000 },
		redirect: { ...shared, store: clicks, clickTtlMs: 86_400_000 },
	};
}

let deps: Deps | undefined;

async function repeat(times: number, answer: () => Response | Promise<Response> | null): Promise<Response> {
	let last: Response | null = null;
	for (let at = 0; at < times; at++) last = await answer();
	if (last === null) throw new Error("no answer: the path is no endpoint's");
	const leads = last.headers.get("location") ?? (await last.text());
	return new Response(JSON.stringify({ status: last.status, leads }));
}

export default {
	async fetch(request, _env, ctx) {
		deps ??= openDeps();
		const { bidding, redirect } = deps;
		const { pathname, searchParams } = new URL(request.url);
		const times = Number(searchParams.get("times"));
		const wait = (promise: Promise<unknown>) => ctx.waitUntil(promise);
		if (pathname === "/query") {
			const { path, search, headers } = await request.json<HostileQuery>();
			const sent = new Request(`http://rtb.example${path}?${search}`, { headers });
			return repeat(times, () => routeBid(bidding, sent, sent.url, wait) ?? routeClick(redirect, sent, sent.url, wait));
		}
		const path = `/openrtb/${searchParams.get("publisher") ?? PUBLISHER}`;
		const body = await request.arrayBuffer();
		const headers = { "content-type": "application/json", "content-length": String(body.byteLength) };
		return repeat(times, () =>
			handleOpenRtb(bidding, new Request(`http://rtb.example${path}`, { method: "POST", body, headers }), path, wait),
		);
	},
} satisfies ExportedHandler;
