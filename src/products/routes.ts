/** The two product searches, for the holder of a Publisher Key. */
import { type Context, Hono } from "hono";
import type { Publisher } from "../keys/key-owners.ts";
import { isAwayError } from "../lib/away.ts";
import { HttpError, jsonResponse, methodNotAllowed, unauthorized } from "../lib/http.ts";
import { logError } from "../lib/log.ts";
import { logErrorOnce } from "../lib/log-limit.ts";
import { Query } from "../lib/query.ts";
import type { ProductsDeps } from "./deps.ts";
import { readAffiliateQuery, readMarketplaceQuery } from "./read-query.ts";
import { searchAffiliateProducts } from "./search-affiliate.ts";
import { searchSellerProducts } from "./search-marketplace.ts";

const AFFILIATE_PATH = "/api/products/search";
const MARKETPLACE_PATH = "/api/marketplace-seller-products/search";

/** Each answer is one publisher's own, with links in its name. */
const HEADERS = { "cache-control": "no-store", vary: "PublisherKey, AccessKey" } as const;

/** Any failure within, such as of a database, is the interface's 500; what is wrong with the request is answered before. */
const SEARCH_FAILED = { error: "Search failed.", message: "The search could not be completed. Try again later." };

export function productRoutes(deps: ProductsDeps): Hono {
	const app = new Hono();
	app.get(AFFILIATE_PATH, (c) =>
		answer(deps, c, "affiliate", async (publisher, query) => searchAffiliateProducts(deps, { publisher, ...readAffiliateQuery(query) })),
	);
	app.get(MARKETPLACE_PATH, (c) =>
		answer(deps, c, "marketplace", async (publisher, query) => searchSellerProducts(deps, { publisher, ...readMarketplaceQuery(query) })),
	);
	for (const path of [AFFILIATE_PATH, MARKETPLACE_PATH]) app.all(path, () => methodNotAllowed("GET, HEAD"));
	return app;
}

async function answer(
	deps: ProductsDeps,
	c: Context,
	search: "affiliate" | "marketplace",
	run: (publisher: Publisher, query: Query) => Promise<unknown>,
): Promise<Response> {
	try {
		// The affiliate search is not to be sent an Access Key: what carries one is not taken for the publisher's.
		if (search === "affiliate" && c.req.header("AccessKey") !== undefined) return unauthorized(HEADERS);
		const id = await deps.keys.find("publisher_key", c.req.header("PublisherKey"), (promise) => c.executionCtx.waitUntil(promise));
		const publisher = id === null ? null : await deps.network.publisher(id);
		if (publisher === null || publisher.status === "suspended") return unauthorized(HEADERS);
		return jsonResponse(await run(publisher, new Query(new URL(c.req.url).search.slice(1))), 200, HEADERS);
	} catch (error) {
		if (error instanceof HttpError) return jsonResponse(error.body, error.status, HEADERS);
		if (isAwayError(error)) logErrorOnce("search.failed", error, Date.now(), { search });
		else logError("search.failed", error, { search });
		return jsonResponse(SEARCH_FAILED, 500, HEADERS);
	}
}
