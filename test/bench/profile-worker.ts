/**
 * Bench-only Worker: runs one stage of the bid path many times per HTTP request, because clocks stand still inside one. The
 * benchmark takes the time from outside and subtracts the empty loop.
 *
 * POST /{stage}?times=N with a JSON array of bid request bodies, taken in turn.
 */
import { runAuction } from "../../src/bidding/auction.ts";
import type { BiddingDeps } from "../../src/bidding/deps.ts";
import { holdAuction } from "../../src/bidding/hold-auction.ts";
import { mintClickUrl } from "../../src/bidding/mint-click-url.ts";
import { handleOpenRtb, toAuction } from "../../src/bidding/openrtb-route.ts";
import { type BookBrand, domainKey } from "../../src/campaign-book/format.ts";
import { type BookSnapshot, CampaignBook } from "../../src/campaign-book/load.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { type Env, readConfig } from "../../src/config.ts";
import worker from "../../src/edge.ts";
import { canonicalHost, hostAndParents } from "../../src/lib/host.ts";
import { readBody } from "../../src/openrtb/read-body.ts";
import { readBidRequest } from "../../src/openrtb/read-request.ts";
import { writeFill } from "../../src/openrtb/write-response.ts";

const IDENTITY = "acme_rtb";
const URL_OF_BIDS = `http://rtb.clickbourse.example/openrtb/${IDENTITY}`;

/** Runs the stage once, for the request of that number. */
type Step = (at: number) => unknown;

/** Where results go, so that nothing is optimised away. */
let sink: unknown;

let parts: { deps: BiddingDeps; book: CampaignBook } | undefined;

export default {
	async fetch(request, env, ctx) {
		const url = new URL(request.url);
		const times = Number(url.searchParams.get("times"));
		const bodies = await request.json<string[]>();
		parts ??= openParts(env);
		const steps = await prepareSteps(parts, bodies, env, ctx);
		const step = steps[url.pathname.slice(1)];
		if (step === undefined) return new Response("no such stage", { status: 404 });
		for (let at = 0; at < times; at++) {
			const result = step(at % bodies.length);
			sink = result instanceof Promise ? await result : result;
		}
		return new Response(String(sink === null));
	},
} satisfies ExportedHandler<Env>;

function openParts(env: Env) {
	const config = readConfig(env);
	const book = new CampaignBook(env.BOOK, { snapshotTtlMs: 3_600_000 });
	return { book, deps: { book, tokens: new ClickTokens(config.TOKEN_KEYS), clickUrl: config.CLICK_URL, now: () => Date.now() } };
}

/** The stages, each with the inputs that the ones before it would have given. */
async function prepareSteps({ deps, book }: { deps: BiddingDeps; book: CampaignBook }, bodies: readonly string[], env: Env, ctx: ExecutionContext): Promise<Record<string, Step>> {
	const now = deps.now();
	const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise);
	const snapshot = await book.snapshot(now, waitUntil);
	const publisher = snapshot?.byOpenRtbIdentity.get(IDENTITY);
	if (snapshot === null || publisher === undefined) throw new Error("no book");
	const lookUp = (domain: string) => findBrands(book, snapshot, domain);
	const prepared = await Promise.all(
		bodies.map(async (body) => {
			const json: unknown = JSON.parse(body);
			const read = readBidRequest(json);
			const auction = read === null ? null : toAuction(read);
			if (read === null || auction === null || read.domain === null) throw new Error("a request that cannot bid");
			const brands = await lookUp(read.domain);
			const bid = runAuction(auction, { publisher, brands, isPaused: (id) => book.isPaused(id) }, now);
			if (bid.outcome !== "bid") throw new Error(`a request that does not bid: ${bid.reason}`);
			const details = { kind: "openrtb", clickId: read.clickId, buyerUid: read.buyerUid, sourceId: read.tagId, ip: read.ip, deeplink: auction.deeplink, country: "US", test: false } as const;
			const token = { kind: "openrtb", publisher: IDENTITY, advertiserId: bid.brand.brandId, domain: bid.brand.domain, campaignId: bid.campaign.campaignId, bidMicros: bid.price * 100, typoId: 0, auctionId: read.id, mintedAt: now, test: false } as const;
			const fill = { requestId: read.id, bidId: read.id, seat: "seat", impId: read.impId, price: 0.1234, clickUrl: await mintClickUrl(deps, publisher, bid, details, now), advertiserDomain: bid.brand.domain, advertiserId: "1", finalUrl: read.page ?? "", altered: false };
			return { body, json, read, auction, domain: read.domain, brands, bid, details, token, fill };
		}),
	);
	const on = (run: (of: (typeof prepared)[number]) => unknown): Step => (at) => run(prepared[at] as (typeof prepared)[number]);
	const newRequest = (body: string) =>
		new Request(URL_OF_BIDS, { method: "POST", body, headers: { "content-type": "application/json", "content-length": String(body.length) } });
	return {
		empty: on(({ body }) => body),
		empty_async: on(async ({ body }) => body),
		new_request: on(({ body }) => newRequest(body)),
		read_body: on(({ body }) => readBody(newRequest(body))),
		// What the baseline Worker does instead of the two stages: the runtime reads and parses at once.
		runtime_json: on(({ body }) => newRequest(body).json()),
		parse_json: on(({ body }) => JSON.parse(body)),
		read_request: on(({ json }) => {
			const read = readBidRequest(json);
			return read === null ? null : toAuction(read);
		}),
		lookup: on(({ domain }) => lookUp(domain)),
		decide: on(({ auction, brands }) => runAuction(auction, { publisher, brands, isPaused: (id) => book.isPaused(id) }, now)),
		hold_auction: on(({ auction }) => holdAuction({ book, waitUntil, now }, auction, (of) => of.byOpenRtbIdentity.get(IDENTITY), null)),
		token: on(({ token }) => deps.tokens.mint(token)),
		click_url: on(({ bid, details }) => mintClickUrl(deps, publisher, bid, details, now)),
		write: on(({ fill }) => writeFill({ ...fill, bidId: crypto.randomUUID() })),
		handler: on(({ body }) => handleOpenRtb(deps, newRequest(body), waitUntil)),
		worker: on(({ body }) => worker.fetch(newRequest(body) as Request<unknown, IncomingRequestCfProperties>, env, ctx)),
	};
}

function findBrands(book: CampaignBook, snapshot: BookSnapshot, domain: string): readonly BookBrand[] | Promise<readonly BookBrand[]> {
	for (const host of hostAndParents(canonicalHost(domain) ?? "")) {
		const found = book.entry(snapshot, domainKey(host));
		if (found instanceof Promise) return found.then((brands) => brands ?? []);
		if (found !== null) return found;
	}
	return [];
}
