/**
 * Bench-only Worker: runs one stage of the bid path many times per HTTP request, because clocks stand still inside one. The
 * benchmark takes the time from outside and subtracts the empty loop.
 *
 * POST /{stage}?times=N with a JSON array of bid request bodies, taken in turn.
 */
import { runAuction } from "../../src/bidding/auction.ts";
import type { BiddingDeps } from "../../src/bidding/deps.ts";
import { holdAuction } from "../../src/bidding/hold-auction.ts";
import { type ClickDetails, mintClickUrl } from "../../src/bidding/mint-click-url.ts";
import { handleOpenRtb } from "../../src/bidding/openrtb-route.ts";
import { toAuction } from "../../src/bidding/to-auction.ts";
import type { BookBrand } from "../../src/campaign-book/book.ts";
import { domainKey } from "../../src/campaign-book/format.ts";
import { type BookSnapshot, type CampaignBook, findByOpenRtbIdentity } from "../../src/campaign-book/load.ts";
import { openBook } from "../../src/campaign-book/open-book.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import type { ClickToken } from "../../src/click-token/token-content.ts";
import { type Env, readConfig } from "../../src/config.ts";
import edge from "../../src/edge.ts";
import { canonicalHost, hostAndParents } from "../../src/lib/host.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { priceToMicros, priceToUsd } from "../../src/lib/money.ts";
import { readBidRequest } from "../../src/openrtb/read-request.ts";
import { type Fill, writeFill } from "../../src/openrtb/write-response.ts";
import { readBody } from "../support/read-body.ts";

const IDENTITY = "acme_rtb";
const PATH = `/openrtb/${IDENTITY}`;
/** The book is not read anew while a stage is measured. */
const SNAPSHOT_TTL_SECONDS = 3_600;

/** Runs a stage once, for the request of that number. */
type Step = (at: number) => unknown;

/** Where results go, so that nothing is optimised away. */
let sink: unknown;
let deps: BiddingDeps | undefined;

export default {
	async fetch(request, env, ctx) {
		const url = new URL(request.url);
		const bodies = await request.json<string[]>();
		deps ??= openDeps(env);
		const steps = await prepareSteps(deps, bodies, env, ctx);
		const step = steps[url.pathname.slice(1)];
		if (step === undefined) return new Response("no such stage", { status: 404 });
		const times = Number(url.searchParams.get("times"));
		for (let at = 0; at < times; at++) {
			const result = step(at % bodies.length);
			sink = result instanceof Promise ? await result : result;
		}
		return new Response(String(sink === null));
	},
} satisfies ExportedHandler<Env>;

function openDeps(env: Env): BiddingDeps {
	const config = readConfig(env);
	const { TOKEN_KEYS, TOKEN_VERSION, CLICK_URL } = config;
	const book = openBook(env.BOOK, { ...config, SNAPSHOT_TTL_SECONDS }, true);
	return { book, tokens: new ClickTokens(TOKEN_KEYS, TOKEN_VERSION), clickUrl: CLICK_URL, clickTtlMs: 86_400_000, now: () => Date.now() };
}

/** The stages, each with the inputs that the ones before it would have given. */
async function prepareSteps(deps: BiddingDeps, bodies: readonly string[], env: Env, ctx: ExecutionContext): Promise<Record<string, Step>> {
	const { book, tokens } = deps;
	const now = deps.now();
	const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise);
	const snapshot = await book.snapshot(now, waitUntil);
	if (snapshot === null) throw new Error("no book");
	const prepared = await Promise.all(bodies.map((body) => prepare(deps, snapshot, body, now)));
	const on =
		(run: (of: Prepared) => unknown): Step =>
		(at) =>
			run(prepared[at] as Prepared);
	return {
		empty: on(({ body }) => body),
		new_request: on(({ body }) => newRequest(body)),
		// What the baseline Worker does instead of the two stages that follow: the runtime reads and parses at once.
		runtime_json: on(({ body }) => newRequest(body).json()),
		read_body: on(({ body }) => readBody(newRequest(body))),
		parse_json: on(({ body }) => JSON.parse(body)),
		read_request: on(({ json }) => readAuction(json)),
		lookup: on(({ domain }) => findBrands(book, snapshot, domain)),
		decide: on(({ auction, brands, publisher }) =>
			runAuction(auction, { publisher, brands, isPaused: (id) => book.isPaused(id), learned: null }, now),
		),
		hold_auction: on(({ auction }) =>
			holdAuction({ book, waitUntil, now }, auction, (of) => findByOpenRtbIdentity(of, IDENTITY, now), null),
		),
		token: on(({ token }) => tokens.mint(token)),
		click_url: on(({ bid, details }) => mintClickUrl(deps, bid, details, now, (url) => url)),
		write: on(({ fill }) => writeFill({ ...fill, bidId: newUuid() })),
		handler: on(({ body }) => handleOpenRtb(deps, newRequest(body), PATH, waitUntil)),
		worker: on(({ body }) => edge.fetch(newRequest(body), env, ctx)),
	};
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(deps: BiddingDeps, snapshot: BookSnapshot, body: string, now: number) {
	const json: unknown = JSON.parse(body);
	const { read, auction } = readAuction(json);
	const publisher = await findByOpenRtbIdentity(snapshot, IDENTITY, now);
	const { domain } = read;
	if (domain === null || publisher === undefined) throw new Error("a request that cannot bid");
	const brands = await findBrands(deps.book, snapshot, domain);
	const bid = runAuction(auction, { publisher, brands, isPaused: (id) => deps.book.isPaused(id), learned: null }, now);
	if (bid.outcome !== "bid") throw new Error(`a request that does not bid: ${bid.reason}`);
	const { brand, campaign, price } = bid;
	const details: ClickDetails = {
		kind: "openrtb",
		clickId: read.clickId,
		isUserClickId: false,
		buyerUid: read.buyerUid,
		sourceId: read.tagId,
		ip: read.ip,
		deeplink: auction.deeplink,
		country: auction.country,
		ipv6: read.ipv6,
		userAgent: read.userAgent,
		keyword: auction.keyword,
		asker: null,
		lifeSeconds: null,
		test: false,
	};
	const token: ClickToken = {
		kind: "openrtb",
		publisher: IDENTITY,
		advertiserId: brand.brandId,
		domain: brand.domain,
		campaignId: campaign.campaignId,
		bidMicros: priceToMicros(price),
		typoId: 0,
		auctionId: newUuid(),
		mintedAt: now,
		test: false,
		device: 0x1234_5678,
		keyword: null,
		pricingModel: "CPC",
		sharePpm: publisher.sharePpm,
		grossMicros: campaign.epcMicros,
		askedFrom: "203.0.113.0/24",
		stripped: false,
		userClickId: false,
		deeplink: false,
		lifeSeconds: null,
		sourceHash: "kT3x0",
	};
	const fill: Fill = {
		requestId: read.id,
		bidId: newUuid(),
		seat: "acme-seat",
		impId: read.impId,
		price: priceToUsd(price),
		clickUrl: await mintClickUrl(deps, bid, details, now, (url) => url),
		advertiserDomain: brand.domain,
		advertiserId: brand.brandId,
		finalUrl: read.page ?? "",
		altered: false,
	};
	return { body, json, auction, publisher, domain, brands, bid, details, token, fill };
}

function readAuction(json: unknown) {
	const read = readBidRequest(json);
	const auction = read === null ? null : toAuction(read);
	if (read === null || auction === null) throw new Error("a request that cannot bid");
	return { read, auction };
}

function newRequest(body: string): Request<unknown, IncomingRequestCfProperties> {
	const headers = { "content-type": "application/json", "content-length": String(body.length) };
	return new Request(`http://rtb.clickbourse.example${PATH}`, { method: "POST", body, headers });
}

function findBrands(book: CampaignBook, snapshot: BookSnapshot, domain: string): readonly BookBrand[] | Promise<readonly BookBrand[]> {
	for (const host of hostAndParents(canonicalHost(domain) ?? "")) {
		const found = book.entry(snapshot, domainKey(host));
		if (found instanceof Promise) return found.then((brands) => brands ?? []);
		if (found !== null) return found;
	}
	return [];
}
