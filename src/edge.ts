/** Composition root of the edge Worker: bidding and click redirects. KV and the click queue only; nothing here reaches D1. */
import { Hono } from "hono";
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
import { within } from "./lib/async.ts";
import { jsonResponse } from "./lib/http.ts";
import { logError } from "./lib/log.ts";
import { measureTo } from "./lib/measure.ts";
import { HOUR_MS, SECOND_MS } from "./lib/time.ts";
import { writeError } from "./openrtb/write-response.ts";
import { completeApp } from "./worker-app.ts";

export type Edge = {
	/** Everything that is answered by a router. */
	app: Hono;
	book: CampaignBook;
	/** What else `/ready` asks, where more than the bid path is in this Worker: why it is not ready, or null. */
	checks: (() => Promise<string | null>)[];
	/** Answers what is recognised by its path, before any router: bids and clicks; null where the request is neither. */
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
			limits: { address: env.CLICK_ADDRESSES, token: env.CLICK_TOKENS, stripped: env.CLICK_STRIPPED },
			visits: new RecentVisits(),
		},
		clickTtlMs,
		secureUrl: config.CLICK_URL.startsWith("https:") ? config.CLICK_URL : undefined,
	};
	const app = new Hono();
	const checks: Edge["checks"] = [];
	app.get("/ready", async (c) => {
		const now = Date.now();
		for (const check of checks) {
			const fault = await check();
			if (fault !== null) return jsonResponse({ status: fault }, 503);
		}
		const reading = Promise.resolve(book.snapshot(now, (promise) => c.executionCtx.waitUntil(promise)));
		const snapshot = await within(reading, READY_TIMEOUT_MS, null);
		if (snapshot === null) return jsonResponse({ status: "no book" }, 503);
		const { version, publishedAt } = snapshot.manifest;
		return jsonResponse({ status: "ready", book_version: version, book_age_seconds: Math.floor((now - publishedAt) / SECOND_MS) });
	});
	completeApp(app);
	const edge: Edge = {
		app,
		book,
		checks,
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
 * Answers a request with the parts that `build` gives. A configuration that is not sound is an error inside, said exactly in the
 * log, and a plain 500 outside.
 */
export function serve(request: Request, env: Env, ctx: ExecutionContext, build: (env: Env) => Edge): Response | Promise<Response> {
	let edge: Edge;
	try {
		edge = build(env);
	} catch (error) {
		logError("configuration.invalid", error);
		return writeError(500, "Internal error");
	}
	return edge.answer(request, ctx) ?? edge.app.fetch(request, env, ctx);
}

export default {
	fetch: (request, env, ctx) => serve(request, env, ctx, edgeOf),
} satisfies ExportedHandler<Env>;
