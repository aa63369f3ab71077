/** Composition root of the edge Worker: bidding and click redirects. KV and the click queue only; nothing here reaches D1. */
import { DecisionCounts } from "./bidding/count-decisions.ts";
import { routeNotice } from "./bidding/notice-route.ts";
import { routeBid } from "./bidding/routes.ts";
import type { CampaignBook } from "./campaign-book/load.ts";
import { openBook } from "./campaign-book/open-book.ts";
import { ClickTokens } from "./click-token/token.ts";
import { ClickBatches } from "./clicks/click-batches.ts";
import { RecentVisits } from "./clicks/recent-visits.ts";
import { routeClick } from "./clicks/redirect-route.ts";
import { CLICKS_UNBOUND, ClickSender } from "./clicks/send-click.ts";
import { type Env, readConfig } from "./config.ts";
import { type Readiness, routeHealth } from "./health.ts";
import { within } from "./lib/async.ts";
import { notFound } from "./lib/http.ts";
import { logError } from "./lib/log.ts";
import { measureTo } from "./lib/measure.ts";
import { HOUR_MS, SECOND_MS } from "./lib/time.ts";
import { writeError } from "./openrtb/write-response.ts";

export type Edge = {
	book: CampaignBook;
	/** What `/ready` says: whether there is a book. */
	isReady: (ctx: ExecutionContext) => Promise<Readiness>;
	/** Answers bids and clicks, which are recognised by their path; null where the request is neither. */
	answer: (request: Request, ctx: ExecutionContext) => Response | Promise<Response> | null;
};

/** How long `/ready` waits for the book: whoever asks would else take no answer for one. */
const READY_TIMEOUT_MS = 2 * SECOND_MS;

const built = new WeakMap<Env, Edge>();

/** The edge's parts, built once an isolate. @throws Error where the configuration is not sound */
export function edgeOf(env: Env): Edge {
	const known = built.get(env);
	if (known !== undefined) return known;
	const config = readConfig(env);
	const book = openBook(env.BOOK, config, true);
	const shared = {
		book,
		tokens: new ClickTokens(config.TOKEN_KEYS, config.TOKEN_VERSION),
		now: () => Date.now(),
		measure: measureTo(env.EVENTS),
		vendorId: config.GVL_VENDOR_ID,
	};
	const pause = (milliseconds: number) => scheduler.wait(milliseconds);
	const counts = env.CLICKS === undefined ? undefined : new DecisionCounts({ queue: env.CLICKS, now: shared.now, pause });
	const clickTtlMs = config.CLICK_TTL_HOURS * HOUR_MS;
	const bidding = { ...shared, clickUrl: config.CLICK_URL, clickTtlMs, counts };
	const redirect = {
		...shared,
		store: {
			sender: new ClickSender({ queue: env.CLICKS ?? CLICKS_UNBOUND, batches: new ClickBatches(env.BOOK, pause), pause }),
			connectionKey: config.TOKEN_KEYS[0] ?? "",
			limits: {
				address: env.CLICK_ADDRESSES,
				token: env.CLICK_TOKENS,
				stripped: env.CLICK_STRIPPED,
				strippedNetwork: env.CLICK_STRIPPED_NETWORKS,
			},
			visits: new RecentVisits(),
		},
		clickTtlMs,
		secureUrl: config.CLICK_URL.startsWith("https:") ? config.CLICK_URL : undefined,
	};
	const edge: Edge = {
		book,
		async isReady(ctx) {
			const now = Date.now();
			const reading = Promise.resolve(book.snapshot(now, (promise) => ctx.waitUntil(promise)));
			const snapshot = await within(reading, READY_TIMEOUT_MS, null);
			if (snapshot === null) return [503, { status: "no book" }];
			const { version, publishedAt } = snapshot.manifest;
			return [200, { status: "ready", book_version: version, book_age_seconds: Math.floor((now - publishedAt) / SECOND_MS) }];
		},
		answer(request, ctx) {
			const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise);
			// Once: each look at it makes a text again.
			const { url } = request;
			return (
				routeBid(bidding, request, url, waitUntil) ??
				routeClick(redirect, request, url, waitUntil) ??
				routeNotice(bidding, request, url, waitUntil)
			);
		},
	};
	built.set(env, edge);
	return edge;
}

/**
 * Answers with the parts that `open` gives. A configuration that is not sound is an error inside, said exactly in the log, and a plain 500
 * outside.
 */
export function serve<Parts>(open: () => Parts, answer: (parts: Parts) => Response | Promise<Response>): Response | Promise<Response> {
	let parts: Parts;
	try {
		parts = open();
	} catch (error) {
		logError("configuration.invalid", error);
		return writeError(500, "Internal error");
	}
	return answer(parts);
}

export default {
	fetch: (request, env, ctx) =>
		serve(
			() => edgeOf(env),
			(edge) => edge.answer(request, ctx) ?? routeHealth(request, () => edge.isReady(ctx)) ?? notFound(),
		),
} satisfies ExportedHandler<Env>;
