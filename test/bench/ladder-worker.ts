/**
 * Bench-only Worker: an OpenRTB bid that ends after so many stages with the fixed answer of the baseline. What one rung costs more
 * than the one before it is what its last stage costs inside a real request.
 *
 * POST /{rung}: `none` does nothing with the request; each of the RUNGS after it does all that the ones before it do.
 */
import type { BiddingDeps } from "../../src/bidding/deps.ts";
import { holdAuction } from "../../src/bidding/hold-auction.ts";
import { mintClickUrl } from "../../src/bidding/mint-click-url.ts";
import { toAuction } from "../../src/bidding/to-auction.ts";
import { findByOpenRtbIdentity } from "../../src/campaign-book/load.ts";
import { openBook } from "../../src/campaign-book/open-book.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { type Env, readConfig } from "../../src/config.ts";
import type { WaitUntil } from "../../src/lib/async.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { priceToUsd } from "../../src/lib/money.ts";
import { readBidRequest } from "../../src/openrtb/read-request.ts";
import { writeFill } from "../../src/openrtb/write-response.ts";
import { readBody } from "../support/read-body.ts";
import { fixedAnswer } from "./fixed-answer.ts";

const RUNGS = ["none", "read_body", "parse_json", "read_request", "hold_auction", "click_url", "write"] as const;
const IDENTITY = "acme_rtb";
const HEADERS = { "content-type": "application/json" };

type LadderEnv = Env & { ANSWER_BYTES: string };

let parts: { deps: BiddingDeps; fixed: string } | undefined;
/** Where results go, so that nothing is optimised away. */
let sink: unknown;

export default {
	async fetch(request, env, ctx) {
		parts ??= openParts(env);
		const { url } = request;
		const rung = (RUNGS as readonly string[]).indexOf(url.slice(url.lastIndexOf("/") + 1));
		const climbed = await climb(parts.deps, request, rung, (promise) => ctx.waitUntil(promise));
		if (climbed instanceof Response) return climbed;
		sink = climbed;
		return new Response(sink === parts ? "" : parts.fixed, { headers: HEADERS });
	},
} satisfies ExportedHandler<LadderEnv>;

function openParts(env: LadderEnv) {
	const config = readConfig(env);
	const { TOKEN_KEYS, TOKEN_VERSION, CLICK_URL } = config;
	const book = openBook(env.BOOK, config, true);
	const deps = {
		book,
		tokens: new ClickTokens(TOKEN_KEYS, TOKEN_VERSION),
		clickUrl: CLICK_URL,
		clickTtlMs: 86_400_000,
		now: () => Date.now(),
	};
	return { deps, fixed: fixedAnswer(Number(env.ANSWER_BYTES)) };
}

/** The stages of handleOpenRtb in its order, up to the rung. Returns what the last one made. */
async function climb(deps: BiddingDeps, request: Request, rung: number, waitUntil: WaitUntil): Promise<unknown> {
	if (rung === 0) return null;
	const body = await readBody(request);
	if (!body.ok) throw new Error(body.reason);
	if (rung === 1) return body;
	const json: unknown = JSON.parse(body.text);
	if (rung === 2) return json;
	const read = readBidRequest(json);
	const auction = read === null ? null : toAuction(read);
	if (read === null || auction === null) throw new Error("a request that cannot bid");
	if (rung === 3) return auction;
	const now = deps.now();
	const bid = await holdAuction(
		{ book: deps.book, waitUntil, now },
		auction,
		(of) => findByOpenRtbIdentity(of, IDENTITY, now),
		read.tmaxMs,
	);
	if (bid.outcome !== "bid") throw new Error(`a request that does not bid: ${bid.reason}`);
	if (rung === 4) return bid;
	const { clickId, buyerUid, tagId: sourceId, ip, ipv6, userAgent } = read;
	const device = { ip, ipv6, userAgent, keyword: null, asker: null, lifeSeconds: null };
	const details = {
		kind: "openrtb",
		clickId,
		isUserClickId: false,
		buyerUid,
		sourceId,
		...device,
		deeplink: null,
		country: "US",
		test: false,
	} as const;
	const clickUrl = await mintClickUrl(deps, bid, details, now, (url) => url);
	if (rung === 5) return clickUrl;
	const { brand, price } = bid;
	return writeFill({
		requestId: read.id,
		bidId: newUuid(),
		seat: "acme-seat",
		impId: read.impId,
		price: priceToUsd(price),
		clickUrl,
		advertiserDomain: brand.domain,
		advertiserId: brand.brandId,
		finalUrl: read.page ?? "",
		altered: false,
	});
}
